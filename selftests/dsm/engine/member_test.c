// SPDX-License-Identifier: GPL-2.0
/*
 * Several deaths, heard of in other orders than others hear of them, and nodes
 * that are born again, as one node sees them.  Called by engine_test.c.
 */
#include "engine_test.h"

/*
 * What a second death waits for: word from all who live, even from those who
 * had heard of the first one before us.
 */
static void two_deaths(void)
{
	begin(&usual);
	says(2, DSM_FLUSH, 1);
	die(0);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	CHECK(!sent(DSM_HOLD_END, NULL));
	says(2, DSM_FLUSH, 1 | 8);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
}

/*
 * Node 2 has heard of both before we hear of the first, and of that one last:
 * what it said is not said again.
 */
static void two_deaths_crosswise(void)
{
	begin(&usual);
	says(2, DSM_FLUSH, 1);
	says(2, DSM_FLUSH, 1 | 8);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	CHECK(!sent(DSM_HOLD_END, NULL));
	die(0);
	CHECK(sent(DSM_HOLD_END, NULL) == 1);
	/* Said in that round, and not in one that is over. */
	says(2, DSM_FLUSH, 1);
	says(2, DSM_HOLD_END, 1);
	CHECK(!sent(DSM_READY, NULL));
	says(2, DSM_FLUSH, 1 | 8);
	says(2, DSM_HOLD_END, 1 | 8);
	CHECK(sent(DSM_READY, NULL) == 1);
}

/*
 * The manager said that page 0 is lost, to us alone, and died: node 2, which
 * has not heard of it, does now.
 */
static void loss_told_again(void)
{
	const struct dsm_action *a = NULL;
	struct dsm_fate f;

	begin(&usual);
	place(3, 3, NOBODY, DSM_MODE_WI);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(3, DSM_GONE, 3, 0, 0, 0);
	CHECK(did(DSM_ACT_LOST, NULL) == 1);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	says(2, DSM_FLUSH, 1 | 8);
	says(2, DSM_HOLD_END, 1 | 8);
	CHECK(sent(DSM_GONE, &a) == 1 && a->to.word[0] == 4);
	CHECK(fates(DSM_GONE, &f) == 2 && f.page == 3);
	/* Ours it was, with page 3 of node 3, and we knew. */
	CHECK(did(DSM_ACT_LOST, &a) == 1 && a->page == 0);
}

static void hear(enum dsm_event_type type, u16 node, u32 life)
{
	struct dsm_event ev = { .type = type, .node = node, .life = life };

	dsm_step(d, &ev, &out);
}

/* Node 0 in its second life, and the others, say so. */
static void all_flush(u32 second)
{
	u32 view[4] = { second };

	for (u16 n = 0; n < 4; n++)
		if (n != 1)
			message((struct dsm_msg){ .type = DSM_FLUSH,
						  .src = n },
				view, sizeof(view));
}

/* It manages its pages again, and owns nothing that it had. */
static void born_again(bool told_of_death)
{
	const struct dsm_action *a = NULL;
	struct dsm_fate f;

	begin(&usual);
	place(0, 1, 0, DSM_MODE_WI);
	if (told_of_death)
		hear(DSM_EV_DOWN, 0, 0);
	hear(DSM_EV_UP, 0, 1);
	CHECK(sent(DSM_FLUSH, &a) == 1 && a->to.word[0] == (1 | 4 | 8));
	CHECK(((u32 *)(out.body + a->body))[0] == 2);
	CHECK(set_empty(dsm_page_copyset(d, 0)));
	all_flush(2);
	CHECK(sent(DSM_HOLD, &a) == 1 && a->to.word[0] == 1);
	CHECK(fates(DSM_HOLD, &f) == 1 && f.page == 0 && f.owner == 1);
	tells(0, DSM_OWNED, 0, 1, 4, 0);
	CHECK(!dsm_statistics(d)->refused);
	/* Neither of these is news. */
	hear(DSM_EV_DOWN, 0, 0);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	hear(DSM_EV_UP, 0, 1);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	hear(DSM_EV_UP, 1, 9);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	hear(DSM_EV_UP, 0, DSM_LIFE_MAX);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	hear(DSM_EV_DOWN, 0, 1);
	CHECK(sent(DSM_FLUSH, &a) == 1 && a->to.word[0] == (4 | 8));
}

/* The other side: nothing is ours, nothing moves until we are told all. */
static void second_life(void)
{
	struct dsm_config c = usual;
	struct dsm_set none = { };
	const struct dsm_action *a = NULL;
	u32 view[4] = { 1, 2, 0, 2 };

	c.life = DSM_LIFE_MAX;
	CHECK(!dsm_size(&c));
	c.life = 1;
	c.nodes = 1;
	c.self = 0;
	CHECK(!dsm_size(&c));
	c = usual;
	c.life = 1;
	begin(&c);
	for (u32 p = 0; p < 4; p++)
		CHECK(dsm_page_state(d, p) == DSM_I);
	CHECK(dsm_place(d, 1, 1, &none, DSM_MODE_WI) == -EINVAL);
	event(DSM_EV_FAULT, 1, DSM_READ);
	hear(DSM_EV_DOWN, 0, 0);
	CHECK(!out.count);
	hear(DSM_EV_UP, 3, 1);
	CHECK(!out.count);
	event(DSM_EV_AGAIN, 0, 0);
	CHECK(!out.count);
	hear(DSM_EV_DOWN, 1, 0);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	hear(DSM_EV_UP, 1, 1);
	CHECK(sent(DSM_FLUSH, &a) == 1 && a->to.word[0] == (4 | 8));
	CHECK(!memcmp(out.body + a->body, view, sizeof(view)));
	hear(DSM_EV_UP, 1, 1);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1);
	for (u16 n = 2; n < 4; n++)
		message((struct dsm_msg){ .type = DSM_FLUSH, .src = n },
			view, sizeof(view));
	/* We are the manager of page 1 again, which node 3 has got. */
	tells(3, DSM_HOLD, 1, 3, 8, 0);
	says(2, DSM_HOLD_END, 0);
	says(3, DSM_HOLD_END, 0);
	CHECK(sent(DSM_OWNED, NULL) == 1 && did(DSM_ACT_LOST, NULL) == 1);
	says(2, DSM_READY, 0);
	says(3, DSM_READY, 0);
	CHECK(sent(DSM_GET_O, &a) == 1 && a->to.word[0] == 8);
}

void member_tests(void)
{
	born_again(true);
	born_again(false);
	second_life();
	two_deaths();
	two_deaths_crosswise();
	loss_told_again();
	free(d);
}
