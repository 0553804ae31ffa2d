// SPDX-License-Identifier: GPL-2.0
/*
 * The line of those who want a page, as one node in it sees it: pages given
 * away out of line, requests that come too late or back, and what nodes tell
 * each other of owners.  Called by engine_test.c.
 */
#include "engine_test.h"

static const struct dsm_action *a;

static void owned_here(u16 self, u8 probowners)
{
	struct dsm_config c = usual;

	c.self = self;
	c.probowners = probowners;
	begin(&c);
	place(0, self, NOBODY, DSM_MODE_WI);
}

static void request(u8 type, u16 src, u16 node, u8 flags, u64 ver)
{
	message((struct dsm_msg){ .type = type, .src = src, .node = node,
				  .flags = flags, .ver = ver, .tag = 7 },
		NULL, 0);
}

/* An answer to what node 1 has asked. */
static void answer(u8 type, u16 src, u64 ver, u32 tag)
{
	message((struct dsm_msg){ .type = type, .src = src, .node = 1,
				  .ver = ver, .tag = tag,
				  .flags = DSM_F_DATA }, (u64[1]){ 0 },
		type == DSM_DATA_S ? 0 : 8);
}

static u64 refused(void)
{
	return dsm_statistics(d)->refused;
}

/* Node 1 gives page 0 away; who was sent to its seat goes to the heir. */
static void handoff(void)
{
	owned_here(1, 0);
	request(DSM_GET_X, 3, 3, 0, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.ver == 1);
	CHECK(sent(DSM_GAVE, &a) == 1 && set_has(&a->to, 0));
	CHECK(a->msg.node == 3 && a->msg.ver == 1);
	request(DSM_GET_X, 0, 2, DSM_F_DIRECTED, 2);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 3));
	CHECK(a->msg.ver == 2 && a->msg.hops == 1 && a->msg.node == 2);
	/* Even if it is our own: the manager had not heard of the handoff. */
	request(DSM_GET_X, 0, 1, DSM_F_DIRECTED, 2);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 3));
	/* Another seat than ours. */
	request(DSM_GET_X, 0, 2, DSM_F_DIRECTED, 4);
	CHECK(!out.count && refused() == 1);
	request(DSM_GET_X, 0, 1, DSM_F_DIRECTED, 4);
	CHECK(!out.count && refused() == 2);
}

/* Two wait for the instruction to end: one out of line, one in line. */
static void handoff_from_the_queue(void)
{
	owned_here(1, 0);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	request(DSM_GET_X, 3, 3, 0, 0);
	request(DSM_GET_X, 0, 2, DSM_F_DIRECTED, 2);
	request(DSM_GET_S, 0, 2, DSM_F_DIRECTED, 0);
	request(DSM_GET_X, 2, 2, 0, 0);
	CHECK(!out.count);
	event(DSM_EV_RETIRED, 0, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && set_has(&a->to, 3));
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
	/* The last of them goes to the manager. */
	CHECK(sent(DSM_GET_X, &a) == 2 && set_has(&a->to, 0));
	CHECK(!(a->msg.flags & DSM_F_DIRECTED) && !refused());
}

/*
 * More waits behind the handoff than one step can do; we want the page back in
 * the meantime, and who has our old seat still goes to the heir.
 */
static void handoff_from_a_long_queue(void)
{
	struct dsm_config c = usual;
	int passed = 0, steps = 0;

	c.requests = 300;
	begin(&c);
	place(0, 1, NOBODY, DSM_MODE_WI);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	request(DSM_GET_X, 3, 3, 0, 0);
	for (int i = 0; i < 200; i++)
		request(DSM_GET_S, 2, 2, 0, 0);
	request(DSM_GET_X, 0, 2, DSM_F_DIRECTED, 2);
	event(DSM_EV_RETIRED, 0, 0);
	CHECK(did(DSM_ACT_AGAIN, NULL) == 1);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, NULL) == 1 && dsm_page_state(d, 0) == DSM_IM);
	do {
		event(DSM_EV_AGAIN, 0, 0);
		passed += sent(DSM_GET_X, &a);
	} while (did(DSM_ACT_AGAIN, NULL) && steps++ < 10);
	CHECK(passed == 1 && set_has(&a->to, 3) && a->msg.node == 2);
}

/* Got out of line: not to be given out of line before the seat is there. */
static void loose(bool early)
{
	owned_here(1, 0);
	request(DSM_GET_X, 3, 3, 0, 0);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 3));
	if (early)
		message((struct dsm_msg){ .type = DSM_SEAT, .ver = 4 }, NULL,
			0);
	answer(DSM_DATA_X, 3, 3, a->msg.tag);
	CHECK(dsm_page_state(d, 0) == DSM_M);
	event(DSM_EV_RETIRED, 0, 0);
	if (!early) {
		request(DSM_GET_X, 2, 2, 0, 0);
		CHECK(!sent(DSM_DATA_X, NULL) && sent(DSM_GET_X, &a) == 1);
		CHECK(set_has(&a->to, 0) && a->msg.hops == 1);
		/* A seat is for the manager to give, and for this page. */
		message((struct dsm_msg){ .type = DSM_SEAT, .src = 2,
					  .ver = 4 }, NULL, 0);
		CHECK(refused() == 1);
		request(DSM_GET_X, 2, 2, 0, 0);
		CHECK(!sent(DSM_DATA_X, NULL));
		message((struct dsm_msg){ .type = DSM_SEAT, .ver = 4 }, NULL,
			0);
	}
	request(DSM_GET_X, 2, 2, 0, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.ver == 5);
	CHECK(sent(DSM_GAVE, &a) == 1 && a->msg.ver == 5);
}

static void gave(u16 src, u16 node, u64 ver)
{
	message((struct dsm_msg){ .type = DSM_GAVE, .src = src,
				  .node = node, .ver = ver }, NULL, 0);
}

/* The manager makes a handoff a place in line, if nobody was sent there. */
static void seats(void)
{
	struct dsm_config c = usual;

	c.self = 0;
	begin(&c);
	place(0, 1, NOBODY, DSM_MODE_WI);
	gave(1, 0, 1);
	CHECK(!out.count && refused() == 1);
	gave(2, 3, 1);		/* not the last in line */
	CHECK(!out.count);
	gave(1, 3, 3);		/* another seat */
	CHECK(!out.count);
	gave(1, 3, 1);
	CHECK(sent(DSM_SEAT, &a) == 1 && set_has(&a->to, 3));
	CHECK(a->msg.ver == 2);
	request(DSM_GET_X, 2, 2, 0, 0);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 3));
	CHECK(a->msg.ver == 4);
	gave(3, 1, 3);		/* too late: 2 was sent to 3 */
	CHECK(!out.count && refused() == 1);
	message((struct dsm_msg){ .type = DSM_GAVE, .src = 2, .node = 1,
				  .page = 1, .ver = 1 }, NULL, 0);
	CHECK(!out.count && refused() == 2);
	event(DSM_EV_RETIRED, 0, 0);
}

/* A read goes after the page, at last to the manager. */
static void read_follows(void)
{
	owned_here(1, 0);
	request(DSM_GET_X, 3, 3, 0, 0);
	request(DSM_GET_S, 0, 2, DSM_F_DIRECTED, 0);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
	message((struct dsm_msg){ .type = DSM_GET_S, .src = 3, .node = 2,
				  .hops = 2, .flags = DSM_F_DIRECTED },
		NULL, 0);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 0));
	/* Our own comes back. */
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
	request(DSM_GET_S, 0, 1, DSM_F_DIRECTED, 0);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
	CHECK(a->msg.node == 1 && a->msg.hops == 1);
	request(DSM_GET_S, 0, 1, 0, 0);
	CHECK(!out.count && refused() == 1);
}

/* The manager gets the page for a read that did not find it. */
static void manager_fetches(u8 mode)
{
	struct dsm_config c = usual;
	u32 counts[6] = { 0 };
	bool own = mode != DSM_MODE_WI;

	c.self = 0;
	if (own)
		c.protocol = DSM_WU;
	begin(&c);
	place(0, 1, NOBODY, mode);
	if (own) {
		/* Its own read, which came back: it asks in line. */
		event(DSM_EV_FAULT, 0, DSM_READ);
		CHECK(sent(DSM_GET_S, &a) == 1);
		request(DSM_GET_S, 3, 2, DSM_F_DIRECTED, 0);
		CHECK(!out.count);
		request(DSM_GET_S, 3, 0, DSM_F_DIRECTED, 0);
	} else {
		request(DSM_GET_S, 3, 2, DSM_F_DIRECTED, 0);
	}
	CHECK(sent(DSM_GET_O, &a) == 1 && set_has(&a->to, 1));
	message((struct dsm_msg){ .type = DSM_DATA_O, .src = 1, .ver = 2,
				  .mode = mode, .tag = a->msg.tag,
				  .flags = DSM_F_DATA }, counts,
		own ? 24 : 8);
	if (own)
		event(DSM_EV_RETIRED, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && set_has(&a->to, 2));
	CHECK(dsm_page_state(d, 0) == DSM_O && !refused());
}

static const struct dsm_probowner *probowner_in(const struct dsm_action *act)
{
	return (const void *)(out.body + act->body);
}

/* What an answer brings is believed, if it is newer, and told on. */
static void rumours(void)
{
	struct dsm_probowner in[] = { { 3, 9u << 8 | 2 }, { 2, 4u << 8 | 0 },
				 { 0, 9u << 8 | 1 }, { 1, 9u << 8 | 3 } };

	owned_here(1, DSM_PROBOWNER_MAX);
	place(1, 2, NOBODY, DSM_MODE_WI);
	event(DSM_EV_FAULT, 2, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 2));
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 2, .page = 2,
				  .node = 1, .tag = a->msg.tag, .ver = 6,
				  .flags = DSM_F_DATA }, in, sizeof(in));
	event(DSM_EV_RETIRED, 0, 0);
	/* Newer than what we know; ours, and what we manage, we know best. */
	event(DSM_EV_FAULT, 3, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 2));
	request(DSM_GET_S, 3, 3, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && a->len == 16);
	CHECK(probowner_in(a)[0].page == 2 &&
	      probowner_in(a)[0].what == (6u << 8 | 2));
	CHECK(probowner_in(a)[1].page == 3 &&
	      probowner_in(a)[1].what == (9u << 8 | 2));
	/* Told once; and nobody is told of himself. */
	request(DSM_GET_S, 3, 3, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && !a->len);
	request(DSM_GET_S, 2, 2, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && !a->len);
}

/* What node 2 tells of owners comes with page 2, which we have asked for. */
static void answered_with(const struct dsm_probowner *in, u16 len)
{
	event(DSM_EV_FAULT, 2, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 2, .page = 2,
				  .node = 1, .tag = a->msg.tag,
				  .flags = DSM_F_DATA }, in, len);
}

/* What is old says that we own a page: we know better, and tell nobody. */
static void rumour_of_us(void)
{
	struct dsm_probowner in = { 3, 9u << 8 | 1 };

	owned_here(1, DSM_PROBOWNER_MAX);
	answered_with(&in, sizeof(in));
	event(DSM_EV_RETIRED, 0, 0);
	request(DSM_GET_S, 3, 3, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && !a->len);
}

static void rumours_refused(u16 len, u32 page)
{
	struct dsm_probowner in[DSM_PROBOWNER_MAX + 1] = { { page, 9u << 8 | 3 } };

	owned_here(1, DSM_PROBOWNER_MAX);
	answered_with(in, len);
	CHECK(!out.count && refused() == 1);
}

/* The number's low bits pass zero. */
static void rumours_wrap(void)
{
	struct dsm_probowner in[] = { { 3, 0xfffff1u << 8 | 2 } };

	for (int i = 0; i < 2; i++) {
		owned_here(1, 1);
		in[0].what = (i ? 0x7fffffu : 0xfffff1u) << 8 | 2;
		answered_with(in, sizeof(in));
		event(DSM_EV_RETIRED, 0, 0);
		event(DSM_EV_FAULT, 3, DSM_READ);
		/* Behind zero is older than it, half way round is newer. */
		CHECK(sent(DSM_GET_S, &a) == 1);
		CHECK(set_has(&a->to, i ? 2 : 3));
	}
}

/* The dead own nothing, whatever somebody has heard. */
static void rumours_of_the_dead(u16 owner, u16 len)
{
	static const u8 said[] = { DSM_FLUSH, DSM_HOLD_END, DSM_READY };
	struct dsm_probowner in = { 2, 9u << 8 | owner };

	owned_here(1, DSM_PROBOWNER_MAX);
	place(2, 2, NOBODY, DSM_MODE_WI);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	for (int i = 0; i < 3; i++)
		for (u16 n = 0; n < 4; n += 2)
			says(n, said[i], 8);
	answered_with(&in, sizeof(in));
	event(DSM_EV_RETIRED, 0, 0);
	request(DSM_GET_S, 2, 2, 0, 0);
	CHECK(sent(DSM_DATA_S, &a) == 1 && a->len == len);
}

/* Who is set up without probable owners believes none. */
static void rumours_unwanted(void)
{
	struct dsm_probowner in = { 3, 9u << 8 | 2 };

	owned_here(1, 0);
	answered_with(&in, sizeof(in));
	event(DSM_EV_RETIRED, 0, 0);
	event(DSM_EV_FAULT, 3, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
}

/* A handoff of which the manager hears in a recovery, or to the dead. */
static void gifts_and_death(void)
{
	struct dsm_msg gave = { .type = DSM_GAVE, .src = 2, .node = 3,
				.page = 1, .ver = 1 };

	begin(&usual);
	place(1, 2, NOBODY, DSM_MODE_WI);
	die(0);
	message(gave, NULL, 0);
	CHECK(!out.count && !dsm_statistics(d)->refused);
	gave.node = 0;
	message(gave, NULL, 0);
	CHECK(!out.count && dsm_statistics(d)->refused == 1);
}

void line_tests(void)
{
	handoff();
	handoff_from_the_queue();
	handoff_from_a_long_queue();
	loose(false);
	loose(true);
	seats();
	read_follows();
	manager_fetches(DSM_MODE_WI);
	manager_fetches(DSM_MODE_MW);
	rumours();
	rumour_of_us();
	rumours_refused(4, 3);
	rumours_refused(8, 4);
	rumours_refused(8 * DSM_PROBOWNER_MAX + 8, 0);
	rumours_wrap();
	rumours_of_the_dead(0, 8);
	rumours_of_the_dead(3, 0);
	rumours_unwanted();
	gifts_and_death();
	free(d);
}
