// SPDX-License-Identifier: GPL-2.0
/*
 * Many pages, more than one step can act on: nothing may be lost, and no
 * step may take long.  Called by engine_test.c.
 */
#include "engine_test.h"

#define MANY	600	/* more than the list of actions holds */

/* Until the engine has no more to do; how often it sent this. */
static int work(enum dsm_msg_type type, int most)
{
	int count = 0;

	for (int steps = 0; ; steps++) {
		CHECK(!out.full && steps < most);
		count += sent(type, NULL);
		if (!did(DSM_ACT_AGAIN, NULL))
			return count;
		event(DSM_EV_AGAIN, 0, 0);
	}
}

/* Our pages, of which many wait for the word of node 3 alone. */
static void waiting(u8 protocol)
{
	struct dsm_config c = usual;

	c.protocol = protocol;
	c.mode = protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW;
	c.pages = 2 * MANY;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++)
		place(p, 1, 3, c.mode);
}

/* Invalidations of a CPU that gave up each instruction. */
static void collect_copies(void)
{
	waiting(DSM_WI);
	for (u32 p = 0; p < MANY; p++) {
		event(DSM_EV_FAULT, p, DSM_EXCLUSIVE);
		CHECK(sent(DSM_INV, NULL) == 1);
		event(DSM_EV_RETIRED, 0, 0);
	}
}

/* Changes of mode that the others have acknowledged. */
static void change_modes(void)
{
	struct dsm_event ev = { .type = DSM_EV_HINT, .mode = DSM_MODE_SW };
	const struct dsm_action *a = NULL;

	waiting(DSM_WUPLUS);
	for (ev.page = 0; ev.page < MANY; ev.page++) {
		dsm_step(d, &ev, &out);
		CHECK(sent(DSM_MODE, &a) == 1);
		for (u16 n = 0; n < 3; n += 2)
			message((struct dsm_msg){ .type = DSM_MODE_ACK,
				.src = n, .page = ev.page,
				.ver = a->msg.ver }, NULL, 0);
		CHECK(dsm_page_state(d, ev.page) == DSM_OC);
	}
}

/* Each page may be written again, and FLUSH goes out, once, after that. */
static void all_end(void (*begin_many)(void))
{
	begin_many();
	die(3);
	CHECK(!sent(DSM_FLUSH, NULL) && did(DSM_ACT_AGAIN, NULL) == 1);
	CHECK(work(DSM_FLUSH, 100) == 1);
	for (u32 p = 0; p < MANY; p++)
		CHECK(dsm_page_state(d, p) == DSM_M);
}

/* The next death comes while the first one's pages are being visited. */
static void death_on_the_way(void)
{
	struct dsm_set copies;

	collect_copies();
	set_clear(&copies);
	set_add(&copies, 0);
	set_add(&copies, 3);
	CHECK(!dsm_place(d, 2 * MANY - 1, 1, &copies, DSM_MODE_WI));
	/* One that has been visited by then, and one that has not. */
	CHECK(!dsm_place(d, MANY, 1, &copies, DSM_MODE_WI));
	die(3);
	event(DSM_EV_AGAIN, 0, 0);
	die(0);
	CHECK(!sent(DSM_FLUSH, NULL));
	CHECK(work(DSM_FLUSH, 100) == 1);
	/* Neither is asked to drop the copy it had. */
	event(DSM_EV_FAULT, 2 * MANY - 1, DSM_EXCLUSIVE);
	CHECK(!sent(DSM_INV, NULL));
	CHECK(dsm_page_state(d, 2 * MANY - 1) == DSM_M);
	CHECK(set_empty(dsm_page_copyset(d, MANY)));
}

/* However little there is to do: the caller holds a lock meanwhile. */
static void short_steps(void)
{
	struct dsm_config c = usual;
	int steps = 0;

	c.pages = 100000;
	begin(&c);
	die(3);
	while (did(DSM_ACT_AGAIN, NULL)) {
		CHECK(!sent(DSM_FLUSH, NULL));
		event(DSM_EV_AGAIN, 0, 0);
		steps++;
	}
	CHECK(steps == 100000 / 4096 && sent(DSM_FLUSH, NULL) == 1);
}

/*
 * A survivor reports, and the manager of half of the pages decides, in so
 * many messages and steps; nothing is said twice.
 */
static void few_messages(void)
{
	struct dsm_config c = usual;
	struct dsm_fate f;
	int held = 0, holds = 0, steps = 0;

	c.pages = 16384;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++)
		place(p, p % 4 < 2 ? 0 : 1, p % 4 < 2 ? 1 : NOBODY,
		      DSM_MODE_WI);
	die(0);
	all_say(DSM_FLUSH);
	while (!sent(DSM_HOLD_END, NULL)) {
		held += fates(DSM_HOLD, &f);
		holds += sent(DSM_HOLD, NULL);
		event(DSM_EV_AGAIN, 0, 0);
		CHECK(!out.full && steps++ < 100);
	}
	held += fates(DSM_HOLD, &f);
	holds += sent(DSM_HOLD, NULL);
	CHECK(held == 8192 && holds <= 8192 / 64 + 20);
	/* Pages 0 modulo 4 have no owner: every second one has two holders. */
	for (u32 p = 0; p < c.pages; p += 8)
		tells(2, DSM_HOLD, p, DSM_NOBODY, 0, 0);
	all_say(DSM_HOLD_END);
	CHECK(!sent(DSM_TAKE, NULL));
	CHECK(work(DSM_OWNED, 100) <= 8192 / 64 + 20);
}

/* Nobody is left of 200 nodes but four; node 130 has copies, and the page. */
static void many_nodes(void)
{
	struct dsm_set holders, to = { };
	const struct dsm_action *a = NULL;
	struct dsm_config c = usual;
	struct dsm_fate f;

	c.nodes = c.requests = 256;
	c.pages = 256;
	begin(&c);
	die(0);
	CHECK(sent(DSM_FLUSH, &a) == 1 && a->len == 1024);
	for (u32 n = 2; n < 256; n++)
		says(n, DSM_FLUSH, 1);
	tells(130, DSM_HOLD, 0, DSM_NOBODY, 7, 0);
	tells(255, DSM_HOLD, 0, DSM_NOBODY, 3, 0);
	for (u32 n = 2; n < 256; n++)
		says(n, DSM_HOLD_END, 1);
	CHECK(sent(DSM_TAKE, &a) == 1 && a->len == sizeof(f) + 32);
	set_add(&to, 130);
	CHECK(!memcmp(&a->to, &to, sizeof(to)));
	memcpy(&f, out.body + a->body, sizeof(f));
	CHECK(f.page == 0 && f.owner == 130 && f.ver == 8);
	memcpy(&holders, out.body + a->body + sizeof(f), sizeof(holders));
	CHECK(set_has(&holders, 130) && set_has(&holders, 255));
	/* Of page 1, which is ours, to all; of page 0 not to its owner. */
	CHECK(sent(DSM_OWNED, &a) == 2 && set_has(&a->to, 130));
	for (a = out.act; a->msg.type != DSM_OWNED; a++)
		;
	CHECK(!set_has(&a->to, 130));
	CHECK(set_has(&a->to, 255) && set_has(&a->to, 2));
}

static void cpu_event(enum dsm_event_type type, u16 cpu, u32 page)
{
	struct dsm_event ev = { .type = type, .cpu = cpu, .page = page,
				.touch = DSM_EXCLUSIVE };

	dsm_step(d, &ev, &out);
}

/*
 * All CPUs wait for a page, and so does another node: each CPU has its turn,
 * and its instruction, before the page leaves.
 */
static void many_cpus(void)
{
	const struct dsm_action *a = NULL;
	struct dsm_config c = usual;
	int woken = 0;

	c.cpus = DSM_CPUS_MAX + 1;
	CHECK(!dsm_size(&c));
	c.cpus = DSM_CPUS_MAX;
	begin(&c);
	cpu_event(DSM_EV_FAULT, 0, 0);
	CHECK(sent(DSM_GET_X, &a) == 1);
	for (u16 i = 1; i < c.cpus; i++)
		cpu_event(DSM_EV_FAULT, i, 0);
	message((struct dsm_msg){ .type = DSM_GET_X, .src = 0, .node = 2,
				  .ver = 4, .flags = DSM_F_DIRECTED }, NULL, 0);
	message((struct dsm_msg){ .type = DSM_DATA_X, .node = 1, .ver = 2,
				  .tag = a->msg.tag, .flags = DSM_F_DATA },
		(u64[1]){ 0 }, 8);
	for (int steps = 0; ; steps++) {
		CHECK(!out.full && steps < 99 && !sent(DSM_DATA_X, NULL));
		woken += did(DSM_ACT_RETRY, NULL);
		if (!did(DSM_ACT_AGAIN, NULL))
			break;
		event(DSM_EV_AGAIN, 0, 0);
	}
	CHECK(woken == c.cpus);
	for (u16 i = 0; i < c.cpus; i++) {
		CHECK(!sent(DSM_DATA_X, NULL));
		cpu_event(DSM_EV_RETIRED, i, 0);
	}
	CHECK(sent(DSM_DATA_X, &a) == 1 && set_has(&a->to, 2));
}

/* Many leases end at the same time, and somebody waits for each page. */
static void many_leases(void)
{
	struct dsm_event ev = { .type = DSM_EV_TICK };
	struct dsm_config c = usual;
	int given = 0;

	c.cpus = 500;
	c.pages = 500;
	c.requests = 600;
	begin(&c);
	for (u32 p = 0; p < c.pages; p++) {
		place(p, 1, NOBODY, DSM_MODE_WI);
		cpu_event(DSM_EV_FAULT, p, p);
		message((struct dsm_msg){ .type = DSM_GET_X, .page = p,
					  .flags = DSM_F_DIRECTED, .ver = 2 },
			NULL, 0);
	}
	for (ev.now = 1; given < 500; ev.now += 10) {
		dsm_step(d, &ev, &out);
		CHECK(!out.full && ev.now < 1000);
		given += sent(DSM_DATA_X, NULL);
	}
	CHECK(given == 500 && dsm_statistics(d)->expired == 500);
}

/* A window of a tebibyte; it is the caller's memory that it takes. */
static void large_window(void)
{
	struct dsm_config c = usual;

	c.pages = 1u << 28;
	CHECK(dsm_size(&c) > 100ULL << 28 && dsm_size(&c) < 200ULL << 28);
}

void scale_tests(void)
{
	many_cpus();
	many_leases();
	large_window();
	all_end(collect_copies);
	all_end(change_modes);
	death_on_the_way();
	short_steps();
	few_messages();
	many_nodes();
	free(d);
}
