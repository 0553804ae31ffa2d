// SPDX-License-Identifier: GPL-2.0
/*
 * Adaptation by hand: what a node makes of its own faults and of what passes by,
 * and what it must not write to.  Run by engine_test.c.
 */
#include "engine_test.h"
#include "adapt.h"

#define PAGES	4
#define BEYOND	1024	/* bytes behind its memory */
#define COPY	1	/* adapt.c's flags */
#define ASKED	2

static struct adapt *a;
static struct adapt_page *p;	/* page 0, which we own and have alone */

static void adapting(void)
{
	struct dsm_config c = usual;

	c.protocol = DSM_WUSEQ;
	c.mode = DSM_MODE_MW;
	c.window = 16;
	c.run = ADAPT_RUN;
	begin(&c);
	place(0, 1, NOBODY, DSM_MODE_MW);
	place(1, 2, 1, DSM_MODE_MW);
	free(a);
	a = malloc(adapt_size(PAGES) + BEYOND);
	memset(a, 0x5a, adapt_size(PAGES) + BEYOND);
	adapt_init(a, d, &c);
	p = &a->page[0];
}

static void step(struct dsm_event ev)
{
	const u8 *end = (const u8 *)a + adapt_size(PAGES);

	adapt_step(a, d, &ev, &out);
	for (int i = 0; i < BEYOND; i++)
		CHECK(end[i] == 0x5a);
}

static void fault(u32 page, u8 touch, u64 now)
{
	step((struct dsm_event){ .type = DSM_EV_FAULT, .page = page,
				 .touch = touch, .mask = 1, .now = now });
}

static void told(struct dsm_msg m, const void *body, u16 len)
{
	step((struct dsm_event){ .type = DSM_EV_MSG, .msg = m, .body = body,
				 .len = len });
}

/* Pages that there are none of. */
static void stays_inside(void)
{
	struct dsm_write w = { .page = PAGES + 3, .mask = 1, .node = 2 };

	adapting();
	told((struct dsm_msg){ .type = DSM_UPD, .src = 2, .node = 2 }, &w,
	     sizeof(w));
	told((struct dsm_msg){ .type = DSM_GET_S, .src = 2, .node = 2,
			       .page = PAGES + 3 }, NULL, 0);
	fault(PAGES + 3, DSM_WRITE, 0);
	CHECK(did(DSM_ACT_FAIL, NULL) == 1);
	/* What is no fault may have any number there. */
	step((struct dsm_event){ .type = DSM_EV_TICK, .page = PAGES + 3,
				 .now = 640 });
	CHECK(a->now == 640 >> ADAPT_TIME_SHIFT);
}

/* Who wants a page, as far as messages tell. */
static void sees_peers(void)
{
	adapting();
	told((struct dsm_msg){ .type = DSM_INV, .src = 2, .node = 2, .page = 1,
			       .ver = 1 }, NULL, 0);
	CHECK(a->page[1].peers == 4 && !p->peers);
	told((struct dsm_msg){ .type = DSM_GET_S, .src = 3, .node = 3 }, NULL,
	     0);
	CHECK(p->peers == 8);
	told((struct dsm_msg){ .type = DSM_INV_ACK, .src = 0, .node = 0 }, NULL,
	     0);
	CHECK(p->peers == 8);
}

/* A page is a lock's until stores, each counted once, have come without one. */
static void forgets_a_lock(void)
{
	struct adapt_page *q;

	adapting();
	q = &a->page[1];
	q->atoms = 5;
	fault(1, DSM_READ, 0);
	CHECK(q->atoms == 5);
	fault(1, DSM_WRITE, 0);
	CHECK(q->atoms == 4);
	q->flags |= ASKED;
	fault(1, DSM_WRITE, 0);
	CHECK(q->atoms == 4);
}

/* Asked for alone: once, until it is. */
static void asks_once(void)
{
	struct adapt_page *q;

	adapting();
	q = &a->page[1];
	fault(1, DSM_ATOMIC, 6400);
	CHECK(q->flags & ASKED && q->since == 100);
	fault(1, DSM_ATOMIC, 12800);
	CHECK(q->since == 100);
	adapting();
	fault(0, DSM_ATOMIC, 6400);
	CHECK(!(p->flags & ASKED));
}

/* The page was ours alone for so long, after waiting; somebody takes it. */
static u8 level_after(u8 type, u32 waited, u8 atoms)
{
	adapting();
	CHECK(p->access == DSM_RW);
	p->waited = waited;
	p->atoms = atoms;
	told((struct dsm_msg){ .type = type, .src = 2, .node = 2, .hops = 1,
			       .mode = DSM_MODE_MW }, NULL, 0);
	CHECK(p->access != DSM_RW);
	return p->level;
}

static void readers_come_back(void)
{
	CHECK(level_after(DSM_GET_S, 10, 0) == ADAPT_LEVEL_FIRST + 1);
	CHECK(level_after(DSM_GET_X, 10, 0) == ADAPT_LEVEL_FIRST);
	CHECK(level_after(DSM_GET_S, 10, 1) == ADAPT_LEVEL_FIRST);
	CHECK(level_after(DSM_GET_S, 0, 0) == ADAPT_LEVEL_FIRST);
	/* So long that 256 times as long is no number. */
	CHECK(level_after(DSM_GET_S, 1 << 24, 0) == ADAPT_LEVEL_FIRST + 1);
}

/* One lock, this one, that many want at the same time. */
static void crowds(void)
{
	adapting();
	a->last = 1;
	a->streak = 4;
	a->page[1].peers = 15;
	CHECK(!adapt_alone(a, 1));
	a->page[1].atoms = 1;
	CHECK(adapt_alone(a, 1));
	a->last = 2;
	CHECK(!adapt_alone(a, 1));
}

static void classes(void)
{
	static struct adapt_sum sum;

	adapting();
	p->access = DSM_NONE;
	p->level = ADAPT_LEVEL_FIRST - 1;
	adapt_classify(a, p);
	CHECK(p->class == ADAPT_PRIVATE);
	/* When a page came into its class counts if it ever did. */
	p->changes = 0;
	p->changed = 5;
	adapt_sum(a, &sum);
	CHECK(sum.pages[ADAPT_PRIVATE] == 1 && !sum.last[ADAPT_PRIVATE]);
}

void adapt_tests(void)
{
	stays_inside();
	sees_peers();
	forgets_a_lock();
	asks_once();
	readers_come_back();
	crowds();
	classes();
	free(a);
	free(d);
	a = NULL;
	d = NULL;
}
