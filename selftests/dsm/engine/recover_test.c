// SPDX-License-Identifier: GPL-2.0
/*
 * Deaths as one survivor sees them, in orders that take four nodes.  Called
 * by engine_test.c.
 */
#include "engine_test.h"

static void dies_once(void)
{
	begin(&usual);
	die(1);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
	die(0);
	CHECK(sent(DSM_FLUSH, NULL) == 1 && !did(DSM_ACT_FAIL, NULL));
	die(0);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1 && out.count == 1);
}

/*
 * An INV waits for an instruction when somebody dies: it stays owed to a
 * survivor, and must not take away what may be the last copy if its sender
 * is the one who died.
 */
static void inv_and_death(u16 dead)
{
	const struct dsm_action *a = NULL;

	begin(&usual);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1);
	message((struct dsm_msg){ .type = DSM_DATA_S, .node = 1,
				  .tag = a->msg.tag, .flags = DSM_F_DATA },
		NULL, 0);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	message((struct dsm_msg){ .type = DSM_INV, .ver = 1, .src = 2 },
		NULL, 0);
	CHECK(!out.count);
	die(dead);
	event(DSM_EV_RETIRED, 0, 0);
	CHECK(sent(DSM_INV_ACK, NULL) == (dead != 2));
	CHECK(dsm_page_state(d, 0) == (dead == 2 ? DSM_S : DSM_I));
}

/* Who reported and then died is no heir. */
static void heir_dies(void)
{
	struct dsm_fate f;

	begin(&usual);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	says(2, DSM_FLUSH, 1);
	says(3, DSM_FLUSH, 1);
	tells(3, DSM_HOLD, 0, DSM_NOBODY, 0, 0);
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	says(2, DSM_FLUSH, 1 | 8);
	says(2, DSM_HOLD_END, 1 | 8);
	/* Page 0, and page 3, which only node 3 had. */
	CHECK(!sent(DSM_TAKE, NULL) && did(DSM_ACT_LOST, NULL) >= 1);
	CHECK(fates(DSM_GONE, &f) == did(DSM_ACT_LOST, NULL));
}

/* Node 1 with a copy of page 3, as the mode has it; node 0 has died. */
static void copy_and_death(u8 protocol, u8 mode, u8 touch)
{
	struct dsm_config c = usual;

	c.protocol = protocol;
	begin(&c);
	place(3, 3, 1, mode);
	if (touch != DSM_READ)
		event(DSM_EV_FAULT, 3, touch);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
}

/* An heir must hold a copy, and asks only the living to drop theirs. */
static void heir(u16 other)
{
	const struct dsm_action *a = NULL;
	struct dsm_fate fate = { .page = 3, .owner = 1, .ver = 1 };
	u64 others = 1 | 2 | 1 << other;

	copy_and_death(DSM_WI, DSM_MODE_WI, DSM_READ);
	tells(2, DSM_TAKE, 2, 1, 1, others);
	CHECK(dsm_page_state(d, 2) == DSM_I);
	/* Without the holders; for no page; with a piece of another record. */
	message((struct dsm_msg){ .type = DSM_TAKE, .src = 3 }, &fate,
		sizeof(fate));
	message((struct dsm_msg){ .type = DSM_TAKE, .src = 3 }, NULL, 0);
	tells(3, DSM_TAKE, 99, 1, 1, others);
	CHECK(dsm_page_state(d, 3) == DSM_S);
	CHECK(dsm_statistics(d)->refused == 4);
	tells(3, DSM_TAKE, 3, 1, 1, others);
	CHECK(dsm_page_state(d, 3) == DSM_O);
	event(DSM_EV_FAULT, 3, DSM_EXCLUSIVE);
	CHECK(sent(DSM_INV, &a) == 1);
	CHECK(a->to.word[0] == 1u << other);
}

/* Copies under updates may differ after a death: the owner's alone stays. */
static void copy_dropped(u8 mode, u8 touch, enum dsm_state before,
			 enum dsm_state after)
{
	copy_and_death(DSM_WUPLUS, mode, touch);
	CHECK(dsm_page_state(d, 3) == before);
	tells(3, DSM_OWNED, 3, 2, 0, 0);
	CHECK(dsm_page_state(d, 3) == after);
}

static void copies_dropped(void)
{
	copy_dropped(DSM_MODE_MW, DSM_READ, DSM_S, DSM_I);
	copy_dropped(DSM_MODE_MW, DSM_EXCLUSIVE, DSM_SM, DSM_IM);
	copy_dropped(DSM_MODE_MW, DSM_ATOMIC, DSM_SO, DSM_IO);
	/* It may have been MW until a moment ago. */
	copy_dropped(DSM_MODE_WI, DSM_READ, DSM_S, DSM_I);
}

/* More pages to report than one step can. */
static void many_reports(void)
{
	struct dsm_config c = usual;
	int holds = 0, ends = 0, steps = 0;
	struct dsm_fate f;

	c.pages = 3000;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++)
		place(p, 1, NOBODY, DSM_MODE_WI);
	die(0);
	for (u32 n = 2; n < 4; n++)
		says(n, DSM_FLUSH, 1);
	do {
		CHECK(!out.full && !ends);
		holds += fates(DSM_HOLD, &f);
		ends += sent(DSM_HOLD_END, NULL);
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		event(DSM_EV_AGAIN, 0, 0);
	} while (steps++ < 100);
	/* Pages 0 and 1 modulo 4 are ours to manage now. */
	CHECK(steps > 1 && holds == 1500 && ends == 1);
}

/* The same for what the manager decides, and for what is asked again. */
static void many_decisions(void)
{
	struct dsm_config c = usual;
	int owned = 0, ready = 0, asked = 0, steps = 0;
	struct dsm_fate f;

	c.pages = 3000;
	c.requests = 300;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++)
		place(p, p == 2999 ? 3 : 1, NOBODY, DSM_MODE_WI);
	event(DSM_EV_FAULT, 2999, DSM_EXCLUSIVE);
	die(0);
	all_say(DSM_FLUSH);
	for (u32 p = 0; p < 400; p++)
		if (p % 4 < 2)
			message((struct dsm_msg){ .type = DSM_GET_S, .src = 2,
						  .node = 2, .page = p },
				NULL, 0);
	while (did(DSM_ACT_AGAIN, NULL) || !steps++)
		event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_HOLD_END);
	for (steps = 0; steps < 20; steps++) {
		CHECK(!ready);
		owned += fates(DSM_OWNED, &f);
		ready += sent(DSM_READY, NULL);
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		event(DSM_EV_AGAIN, 0, 0);
	}
	CHECK(steps > 1 && owned == 1500 && ready == 1);
	all_say(DSM_READY);
	for (steps = 0; steps < 20; steps++) {
		asked += sent(DSM_GET_X, NULL);
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		event(DSM_EV_AGAIN, 0, 0);
	}
	CHECK(steps > 1 && asked == 1);
}

/* Where no update flies copies stay; and nobody takes a page from its owner. */
static void kept(void)
{
	copy_and_death(DSM_WI, DSM_MODE_WI, DSM_READ);
	tells(3, DSM_OWNED, 3, 2, 0, 0);
	CHECK(dsm_page_state(d, 3) == DSM_S);
	begin(&usual);
	place(3, 1, NOBODY, DSM_MODE_WI);
	die(0);
	all_say(DSM_FLUSH);
	tells(3, DSM_GONE, 3, 0, 0, 0);
	CHECK(dsm_page_state(d, 3) == DSM_M && !did(DSM_ACT_LOST, NULL));
	tells(3, DSM_TAKE, 3, 1, 0, 0);
	CHECK(dsm_page_state(d, 3) == DSM_M);
}

/*
 * Who keeps its page is in a new line, and may give out of it; not if
 * another is said to own it.
 */
static void seated_again(u16 owner, u32 ver)
{
	const struct dsm_action *a = NULL;

	begin(&usual);
	place(3, 1, NOBODY, DSM_MODE_WI);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	all_say(DSM_HOLD_END);
	tells(3, DSM_OWNED, 3, owner, 8, 0);
	all_say(DSM_READY);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 2, .node = 2,
				  .page = 3 }, NULL, 0);
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.ver == ver);
	CHECK(sent(DSM_GAVE, &a) == 1 && set_has(&a->to, 3));
}

/* Node 0 dies, which managed page 0; node 3 owns it, nodes 1 and 2 ask. */
static void death(void)
{
	begin(&usual);
	event(DSM_EV_FAULT, 0, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, NULL) == 1);
	die(0);
	CHECK(sent(DSM_FLUSH, NULL) == 1);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(3, DSM_HOLD, 0, 3, 0, 0);
	all_say(DSM_HOLD_END);
}

/*
 * The dead node's write reached us and not the owner, whose copy we get: it
 * must not hide what others, who never saw it, write with smaller numbers.
 */
static void forgotten_write(void)
{
	struct dsm_write w = { .clock = 40, .mask = 1 };
	const struct dsm_action *a = NULL;
	struct dsm_config c = updating();
	u32 counts[4] = { 0 };

	begin(&c);
	place(0, 3, 1, DSM_MODE_MW);
	message((struct dsm_msg){ .type = DSM_UPD, .src = 0, .tag = 40 },
		&w, sizeof(w));
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(3, DSM_HOLD, 0, 3, 0, 0);
	all_say(DSM_HOLD_END);
	all_say(DSM_READY);
	CHECK(dsm_page_state(d, 0) == DSM_I);
	event(DSM_EV_FAULT, 0, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1 && set_has(&a->to, 3));
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = 3, .node = 1,
				  .tag = a->msg.tag, .mode = DSM_MODE_MW,
				  .flags = DSM_F_DATA },
		counts, sizeof(counts));
	CHECK(dsm_page_state(d, 0) == DSM_S);
	w.clock = 10;
	message((struct dsm_msg){ .type = DSM_UPD, .src = 2, .tag = 20 },
		&w, sizeof(w));
	CHECK(did(DSM_ACT_APPLY, NULL) == 1);
}

/*
 * One survivor is done before another: its request reaches the new manager
 * early, waits, and is then passed on in turn.
 */
static void early_request(bool own)
{
	const struct dsm_action *a = NULL;

	death();
	if (!own) {
		event(DSM_EV_RETIRED, 0, 0);
		CHECK(dsm_page_state(d, 0) == DSM_IM);
	}
	message((struct dsm_msg){ .type = DSM_READY, .src = 2 },
		NULL, 0);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 2, .node = 2,
				  .tag = 77 }, NULL, 0);
	CHECK(!sent(DSM_GET_X, NULL));
	message((struct dsm_msg){ .type = DSM_READY, .src = 3 },
		NULL, 0);
	/* Ours goes to the owner; the other one waits for us. */
	CHECK(sent(DSM_GET_X, &a) == 1 && a->msg.node == 1);
	CHECK(set_has(&a->to, 3));
	message((struct dsm_msg){ .type = DSM_DATA_X, .src = 3, .node = 1,
				  .ver = a->msg.ver, .tag = a->msg.tag,
				  .flags = DSM_F_DATA },
		(u64[1]){ 0 }, 8);
	if (own) {
		CHECK(dsm_page_state(d, 0) == DSM_M);
		event(DSM_EV_RETIRED, 0, 0);
	}
	CHECK(sent(DSM_DATA_X, &a) == 1 && a->msg.tag == 77);
	CHECK(set_has(&a->to, 2) && dsm_page_state(d, 0) == DSM_I);
}

/* The same, but we want nothing: the request goes on to the owner. */
static void early_request_passed(void)
{
	const struct dsm_action *a = NULL;

	begin(&usual);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(3, DSM_HOLD, 0, 3, 0, 0);
	all_say(DSM_HOLD_END);
	message((struct dsm_msg){ .type = DSM_READY, .src = 2 },
		NULL, 0);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 2, .node = 2,
				  .tag = 77 }, NULL, 0);
	message((struct dsm_msg){ .type = DSM_READY, .src = 3 },
		NULL, 0);
	CHECK(sent(DSM_GET_X, &a) == 1 && a->msg.node == 2);
	CHECK(set_has(&a->to, 3) && a->msg.flags & DSM_F_DIRECTED);
}

/* No honest node invalidates now; a page must not be ours without bytes. */
static void copy_taken_away(void)
{
	struct dsm_fate f;

	begin(&usual);
	place(0, 0, 1, DSM_MODE_WI);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	message((struct dsm_msg){ .type = DSM_INV, .src = 3, .ver = 1 },
		NULL, 0);
	CHECK(dsm_page_state(d, 0) == DSM_I);
	all_say(DSM_HOLD_END);
	CHECK(dsm_page_state(d, 0) == DSM_I);
	CHECK(did(DSM_ACT_LOST, NULL) == 1 && fates(DSM_GONE, &f) == 1);
}

/* Named as a page's owner: ourselves, who are not, or the dead. */
static void false_owner(u16 owner)
{
	const struct dsm_action *a = NULL;

	copy_and_death(DSM_WI, DSM_MODE_WI, DSM_READ);
	all_say(DSM_HOLD_END);
	tells(3, DSM_OWNED, 3, owner, 0, 0);
	all_say(DSM_READY);
	event(DSM_EV_FAULT, 3, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 3));
}

/* A request for page 1 that comes while a recovery waits for the others. */
static void ask_in_recovery(u16 src, u16 node)
{
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = src, .node = node,
				  .page = 1 }, NULL, 0);
	all_say(DSM_HOLD_END);
	all_say(DSM_READY);
}

/* A request of ours that comes back in a recovery is asked again anyway. */
static void own_request_back(void)
{
	begin(&usual);
	ask_in_recovery(3, 1);
	CHECK(dsm_page_state(d, 1) == DSM_M && !sent(DSM_DATA_X, NULL));
}

/* What waited in the recovery is in line before what comes then. */
static void line_goes_on(void)
{
	const struct dsm_action *a = NULL;

	begin(&usual);
	event(DSM_EV_PIN, 1, 0);
	ask_in_recovery(2, 2);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 3, .node = 3,
				  .page = 1 }, NULL, 0);
	CHECK(sent(DSM_GET_X, &a) == 1 && set_has(&a->to, 2));
}

/*
 * An instruction that lost page 3 waits for page 2, which we inherit: the end
 * of the recovery lets it go on and asks for page 3 again, both at once, but
 * in one request.
 */
static void asked_once(void)
{
	const struct dsm_action *a = NULL;

	begin(&usual);
	place(3, 1, NOBODY, DSM_MODE_WI);
	place(2, 0, 1, DSM_MODE_WI);
	event(DSM_EV_FAULT, 3, DSM_EXCLUSIVE);
	event(DSM_EV_FAULT, 2, DSM_EXCLUSIVE);
	CHECK(sent(DSM_GET_X, &a) == 1 && a->msg.page == 2);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 3, .node = 3,
				  .page = 3, .ver = 2,
				  .flags = DSM_F_DIRECTED }, NULL, 0);
	CHECK(sent(DSM_DATA_X, NULL) == 1);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	all_say(DSM_HOLD_END);
	tells(2, DSM_TAKE, 2, 1, 2, 0);
	CHECK(dsm_page_state(d, 2) == DSM_O);
	tells(3, DSM_OWNED, 3, 3, 2, 0);
	all_say(DSM_READY);
	CHECK(dsm_page_state(d, 2) == DSM_M);
	CHECK(sent(DSM_GET_X, &a) == 1 && a->msg.page == 3);
}

void recover_tests(void)
{
	dies_once();
	inv_and_death(2);
	inv_and_death(3);
	heir_dies();
	heir(2);
	heir(3);
	copies_dropped();
	many_reports();
	many_decisions();
	kept();
	seated_again(1, 11);
	seated_again(2, 1);
	forgotten_write();
	early_request(true);
	early_request(false);
	early_request_passed();
	copy_taken_away();
	false_owner(0);
	false_owner(1);
	own_request_back();
	line_goes_on();
	asked_once();
	free(d);
}
