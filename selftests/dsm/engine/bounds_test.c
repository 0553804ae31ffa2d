// SPDX-License-Identifier: GPL-2.0
/*
 * What one engine keeps within bounds whatever its peers and CPUs do: the
 * clock, which never wraps and follows nobody too fast, and the requests
 * under way, so that no pool of deferred ones runs out.  Called by
 * engine_test.c.
 */
#include "engine_test.h"

static const struct dsm_action *a;

/* Two nodes, which may be this far apart: a window, half the numbers. */
#define WINDOW	(1u << 20)
#define APART	(WINDOW / 2 + 1)

/* Node 0 writes a word, or tells its clock only; true if it is taken. */
static bool update(u64 clock, u64 record)
{
	struct dsm_write w = { .clock = (u32)record, .mask = 1 };
	u64 before = dsm_statistics(d)->refused;

	message((struct dsm_msg){ .type = DSM_UPD, .tag = (u32)clock },
		&w, record ? sizeof(w) : 0);
	return dsm_statistics(d)->refused == before;
}

static void pair(void)
{
	struct dsm_config c = updating();

	c.nodes = 2;
	c.window = WINDOW;
	begin(&c);
	place(0, 0, 1, DSM_MODE_MW);
}

static void store(u64 clock)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .touch = DSM_WRITE,
				.mask = 1, .tx_idle = true };

	dsm_step(d, &ev, &out);
	CHECK(did(DSM_ACT_APPLY, &a) == 1 && a->mask == 1);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.tag == (u32)clock);
}

/* Behind 2^32 the later write still wins, here and from there. */
static void clock_does_not_wrap(void)
{
	const u64 end = 1ULL << 32;
	u64 clock = 0;

	pair();
	while (clock + APART < end - 3) {
		clock += APART;
		CHECK(update(clock, 0));
		CHECK(sent(DSM_UPD, &a) == 1 && a->msg.tag == (u32)clock);
	}
	CHECK(update(end - 2, end - 3) && did(DSM_ACT_APPLY, NULL) == 1);
	store(end - 1);
	store(end);
	CHECK(update(end - 1, end - 1) && !did(DSM_ACT_APPLY, NULL));
	CHECK(update(end + 2, end + 1) && did(DSM_ACT_APPLY, NULL) == 1);
	store(end + 3);
}

/* The numbers that a peer's update may have; after it we announce ours. */
static void clock_bounds(void)
{
	pair();
	CHECK(!update(APART + DSM_BATCH_MAX + 1, 0) && !out.count);
	CHECK(!update(APART + 1, APART + 1));
	CHECK(update(APART + 1, APART));
	/* Neither again nor backwards, and no write from before. */
	CHECK(!update(APART, 0));
	CHECK(!update(APART + 9, APART + 1));
	CHECK(!update(APART + 9, APART + 10));
	CHECK(update(APART + 9, APART + 9));
	pair();
	CHECK(update(APART + DSM_BATCH_MAX, 0));
}

/* Node src says its clock; without one, time passes. */
static void full(u16 src, u64 clock, bool tx_full)
{
	struct dsm_event ev = { .type = clock ? DSM_EV_MSG : DSM_EV_TICK,
				.msg.type = DSM_UPD, .msg.tag = clock,
				.msg.src = src, .tx_full = tx_full };

	dsm_step(d, &ev, &out);
}

/*
 * A peer runs away while we cannot speak: we follow by one window at a time,
 * so that nobody who listens to us loses us.
 */
static void clock_follows(void)
{
	pair();
	full(0, APART, true);
	full(0, 2 * APART, true);
	full(0, 2 * APART + 7, true);
	CHECK(!out.count && !dsm_statistics(d)->refused);
	full(0, 0, true);
	CHECK(!out.count);
	full(0, 0, false);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.tag == APART);
	full(0, 0, false);
	CHECK(sent(DSM_UPD, &a) == 1 && a->msg.tag == 2 * APART);
	full(0, 0, false);
	CHECK(!out.count);
	store(2 * APART + 8);
}

/* When somebody has died clocks begin anew: no claim is gone after. */
static void claims_die(void)
{
	static const u8 said[] = { DSM_FLUSH, DSM_HOLD_END, DSM_READY };
	struct dsm_config c = updating();

	/* At most 87 apart, so 137 between two UPDs of one node. */
	c.nodes = 3;
	begin(&c);
	full(0, 87, true);
	full(0, 147, true);
	full(2, 87, true);
	full(2, 224, true);
	die(2);
	event(DSM_EV_AGAIN, 0, 0);
	full(0, 0, false);
	CHECK(!out.count);
	for (int i = 0; i < 3; i++)
		says(0, said[i], 4);
	full(0, 0, false);
	CHECK(!out.count && !dsm_statistics(d)->refused);
	place(0, 0, 1, DSM_MODE_MW);
	store(1);
}

/* Write-invalidate has no clock to tell of. */
static void no_clock(void)
{
	struct dsm_config c = usual;

	c.window = 2;
	begin(&c);
	message((struct dsm_msg){ .type = DSM_UPD, .tag = 1 }, NULL, 0);
	CHECK(!out.count && dsm_statistics(d)->refused == 1);
	event(DSM_EV_TICK, 0, 0);
	CHECK(!out.count && !dsm_statistics(d)->announced);
}

static u32 asks(u32 page)
{
	event(DSM_EV_FAULT, page, DSM_READ);
	CHECK(sent(DSM_GET_S, &a) == 1 && a->msg.page == page);
	return a->msg.tag;
}

/* Nor do the numbers of ownerships: a copy from before 2^32 is void behind. */
static void numbers_do_not_wrap(void)
{
	struct dsm_msg copy = { .type = DSM_DATA_S, .node = 1, .ver = 5,
				.flags = DSM_F_DATA };
	struct dsm_msg inv = { .type = DSM_INV, .src = 2,
			       .ver = (1ULL << 32) + 1 };

	begin(&usual);
	copy.tag = asks(0);
	message(inv, NULL, 0);
	CHECK(sent(DSM_INV_ACK, &a) == 1 && a->msg.ver == inv.ver);
	message(copy, NULL, 0);
	CHECK(!did(DSM_ACT_INSTALL, NULL) && sent(DSM_GET_S, &a) == 1);
	copy.tag = a->msg.tag;
	copy.ver = inv.ver;
	message(copy, NULL, 0);
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1);
}

/* After a death they go on above all that a survivor knows of. */
static void numbers_go_on(void)
{
	struct dsm_fate f;

	begin(&usual);
	place(1, 0, 2, DSM_MODE_WI);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	tells(2, DSM_HOLD, 1, DSM_NOBODY, 9, 0);
	tells(3, DSM_HOLD, 1, DSM_NOBODY, 5, 0);
	all_say(DSM_HOLD_END);
	CHECK(fates(DSM_TAKE, &f) == 1 && f.ver == 10);
}

/* Node 1 of four, which may ask for one page at a time. */
static void one_at_a_time(u8 cpus)
{
	struct dsm_config c = usual;

	c.requests = 7;
	c.pages = 8;
	c.cpus = cpus;
	begin(&c);
}

static void copy(u32 page, u16 from, u32 tag)
{
	message((struct dsm_msg){ .type = DSM_DATA_S, .src = from, .node = 1,
				  .page = page, .tag = tag,
				  .flags = DSM_F_DATA }, NULL, 0);
}

/* An instruction is given up, the next one's page is asked for in its turn. */
static void asks_wait(u8 touch, enum dsm_msg_type type)
{
	u32 tag;

	one_at_a_time(1);
	tag = asks(0);
	event(DSM_EV_RETIRED, 0, 0);
	event(DSM_EV_FAULT, 2, touch);
	CHECK(!out.count && dsm_cpu_waits(d, 0));
	event(DSM_EV_TICK, 0, 0);
	CHECK(!out.count && dsm_cpu_waits(d, 0));
	copy(0, 0, tag);
	CHECK(did(DSM_ACT_INSTALL, NULL) == 1 && sent(type, &a) == 1);
	CHECK(a->msg.page == 2);
}

/* The page that was asked for comes, and another one is asked for. */
static void next_is(u32 page)
{
	message((struct dsm_msg){ .type = DSM_DATA_S, .node = 1,
				  .page = a->msg.page, .tag = a->msg.tag,
				  .flags = DSM_F_DATA }, NULL, 0);
	CHECK(sent(DSM_GET_S, &a) == 1 && a->msg.page == page);
}

/* Three CPUs and one request at a time: each CPU has its turn. */
static void turns(void)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT };
	struct dsm_config c = usual;

	c.requests = 4;
	c.pages = 20;
	c.cpus = 3;
	begin(&c);
	for (ev.cpu = 0; ev.cpu < 3; ev.cpu++) {
		ev.page = 4 * ev.cpu;
		dsm_step(d, &ev, &out);
		CHECK(sent(DSM_GET_S, ev.cpu ? NULL : &a) == !ev.cpu);
	}
	next_is(4);
	ev.cpu = 0;
	ev.page = 12;
	dsm_step(d, &ev, &out);
	CHECK(!out.count);
	next_is(8);
	next_is(12);
}

/* Not even what an owner wants to be rid of is fetched out of turn. */
static void evictions_wait(void)
{
	struct dsm_msg evict = { .type = DSM_EVICT, .src = 2, .page = 1 };
	u32 tag;

	one_at_a_time(1);
	place(1, 2, NOBODY, DSM_MODE_WI);
	tag = asks(0);
	message(evict, NULL, 0);
	CHECK(!out.count && dsm_page_state(d, 1) == DSM_I);
	copy(0, 0, tag);
	message(evict, NULL, 0);
	CHECK(sent(DSM_GET_O, NULL) == 1);
}

/* Who waits for a turn lets go of what it has, or two could wait for ever. */
static void waiting_holds_nothing(u32 page, u8 touch)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .cpu = 1,
				.touch = DSM_EXCLUSIVE, .page = 1 };

	one_at_a_time(2);
	asks(0);
	dsm_step(d, &ev, &out);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	place(page, 2, NOBODY, DSM_MODE_WI);
	ev.page = page;
	ev.touch = touch;
	dsm_step(d, &ev, &out);
	CHECK(!out.count);
	message((struct dsm_msg){ .type = DSM_GET_S, .page = 1 }, NULL, 0);
	CHECK(sent(DSM_DATA_S, NULL) == 1);
}

/* Who waits for the merge window does not: it waits for no CPU. */
static void waiting_for_the_window(void)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .touch = DSM_WRITE,
				.page = 2, .mask = 1, .tx_full = true };
	struct dsm_config c = updating();

	begin(&c);
	place(1, 1, NOBODY, DSM_MODE_WI);
	event(DSM_EV_FAULT, 1, DSM_EXCLUSIVE);
	CHECK(did(DSM_ACT_RETRY, NULL) == 1);
	dsm_step(d, &ev, &out);
	CHECK(!out.count && dsm_cpu_waits(d, 0));
	message((struct dsm_msg){ .type = DSM_GET_S, .page = 1 }, NULL, 0);
	CHECK(!sent(DSM_DATA_S, NULL));
}

/* The page that was asked for has died: the next one's turn. */
static void death_makes_room(void)
{
	struct dsm_fate f;

	one_at_a_time(1);
	asks(0);
	event(DSM_EV_RETIRED, 0, 0);
	event(DSM_EV_FAULT, 2, DSM_READ);
	die(0);
	event(DSM_EV_AGAIN, 0, 0);
	all_say(DSM_FLUSH);
	all_say(DSM_HOLD_END);
	CHECK(fates(DSM_GONE, &f) == 2);
	CHECK(dsm_cpu_waits(d, 0));
	all_say(DSM_READY);
	CHECK(sent(DSM_GET_S, &a) == 1 && a->msg.page == 2);
}

static void tick(u64 now)
{
	struct dsm_event ev = { .type = DSM_EV_TICK, .now = now };

	dsm_step(d, &ev, &out);
}

/*
 * Ticks alone know the time: whatever other events say, a lease lasts from
 * the first tick after the grant for as long as it should, and ends then.
 */
static void leases_last(u64 said)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT, .page = 1, .now = said,
				.touch = DSM_EXCLUSIVE };

	begin(&usual);
	for (u64 now = 1000000; now < 1000060; now += 30) {
		tick(now);
		dsm_step(d, &ev, &out);
		CHECK(did(DSM_ACT_RETRY, NULL) == 1);
		message((struct dsm_msg){ .type = DSM_GET_X, .page = 1 },
			NULL, 0);
		CHECK(!out.count);
		tick(now + 9);
		tick(now + 18);
		CHECK(!out.count && dsm_page_state(d, 1) == DSM_M);
		CHECK(!dsm_statistics(d)->expired);
		event(DSM_EV_RETIRED, 0, 0);
		CHECK(sent(DSM_DATA_X, NULL) == 1);
		begin(&usual);
	}
	tick(1000000);
	dsm_step(d, &ev, &out);
	message((struct dsm_msg){ .type = DSM_GET_X, .page = 1 }, NULL, 0);
	tick(1000001);
	tick(1000010);
	CHECK(!out.count);
	tick(1000011);
	CHECK(sent(DSM_DATA_X, NULL) == 1);
	CHECK(dsm_statistics(d)->expired == 1);
}

void bounds_tests(void)
{
	leases_last(0);
	leases_last(1000000);
	clock_does_not_wrap();
	clock_bounds();
	clock_follows();
	claims_die();
	no_clock();
	numbers_do_not_wrap();
	numbers_go_on();
	asks_wait(DSM_READ, DSM_GET_S);
	asks_wait(DSM_EXCLUSIVE, DSM_GET_X);
	turns();
	evictions_wait();
	waiting_holds_nothing(2, DSM_EXCLUSIVE);
	waiting_holds_nothing(2, DSM_READ);
	waiting_holds_nothing(5, DSM_READ);
	waiting_for_the_window();
	death_makes_room();
	free(d);
}
