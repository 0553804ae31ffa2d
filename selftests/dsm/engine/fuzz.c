// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer: three honest engines work on shared pages while node 3
 * sends them whatever it likes: random messages, and answers that fit the
 * requests it was sent but for a field or two. Besides what the sanitizers
 * watch, nobody may come to own a page without having asked for it, nor by
 * an answer to a request that the hostile node was never shown, nor after a
 * death unless it has a copy and the page's manager says so in a recovery.
 *
 *	fuzz MESSAGES [SEED]	seeded, reports what was accepted
 *	fuzz trace MESSAGES	a hash of all that the engines did: equal as
 *				long as they do the same
 *
 * Built with -DLIBFUZZER, the choices come from libFuzzer's bytes instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "dsm_link_inside.h"

#define HONEST	3
#define NODES	4
#define PAGES_MAX	150	/* more than one step can report */
#define QUEUE	256

struct letter {
	struct dsm_msg msg;
	u16 len;
	u8 from, to;
	u8 body[DSM_BODY_MAX];
};

static struct dsm *engine[HONEST];
static struct dsm_link *link_layer;
static struct letter queue[QUEUE];
static int queued;
static u32 pages = 6;
static u32 link_seq[NODES];		/* what the link waits for */
static struct dsm_msg shown[64];	/* requests sent to the hostile node */
static int shown_at;
static struct dsm_actions actions;
static u64 hostile, refused, owned, inherited;
static bool tracing;
static u64 trace = 0xcbf29ce484222325ULL;	/* of all that was done */

static const u8 *input;
static size_t left;
static u64 seed = 1;

static u32 rnd(u32 n)
{
#ifdef LIBFUZZER
	u32 v = 0;

	for (int i = 0; i < 2 && left; i++, left--)
		v = v << 8 | *input++;
	return v % n;
#else
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (u32)(seed >> 20) % n;
#endif
}

static void fail(const char *why)
{
	fprintf(stderr, "fuzz: %s (message %llu)\n", why,
		(unsigned long long)hostile);
	abort();
}

static bool owner(enum dsm_state s)
{
	return s == DSM_O || s == DSM_M || s == DSM_OI || s == DSM_OC;
}

static void post(u8 from, const struct dsm_action *a)
{
	u32 to;

	set_for_each(to, &a->to) {
		struct letter *l;

		if (to >= NODES)
			fail("sent to a node that does not exist");
		if (to == 3) {
			shown[shown_at++ % 64] = a->msg;
			continue;
		}
		if (queued == QUEUE)
			continue;
		l = &queue[queued++];
		l->msg = a->msg;
		l->from = from;
		l->to = to;
		l->len = a->len;
		memcpy(l->body, actions.body + a->body, a->len);
	}
}

static void trace_add(const void *data, size_t size)
{
	const u8 *at = data;

	while (size--)
		trace = (trace ^ *at++) * 0x100000001b3ULL;
}

/* Whatever a caller can see of a step. */
static void trace_step(const struct dsm *d)
{
	trace_add(actions.act, actions.count * sizeof(*actions.act));
	trace_add(actions.body, actions.used);
	for (u32 p = 0; p < pages; p++) {
		u8 seen[] = { dsm_page_state(d, p), dsm_page_mode(d, p),
			      dsm_cpu_holds(d, p & 1), dsm_cpu_waits(d, p & 1),
			      dsm_page_copyset(d, p)->word[0] };

		trace_add(seen, sizeof(seen));
	}
	trace_add(dsm_statistics(d), sizeof(struct dsm_stats));
}

static void step(u8 node, struct dsm_event *ev)
{
	int rounds = 0;
	bool again;

	do {
		again = false;
		dsm_step(engine[node], ev, &actions);
		if (tracing)
			trace_step(engine[node]);
		if (actions.full)
			fail("too many actions");
		for (u32 i = 0; i < actions.count; i++) {
			const struct dsm_action *a = &actions.act[i];

			if (a->page >= pages)
				fail("acts on a page that does not exist");
			if (a->type == DSM_ACT_APPLY && a->word >= 512)
				fail("writes outside of a page");
			if (a->type == DSM_ACT_SEND)
				post(node, a);
			again |= a->type == DSM_ACT_AGAIN;
		}
		*ev = (struct dsm_event){ .type = DSM_EV_AGAIN };
	} while (again && rounds++ < 100);
	if (rounds >= 100)
		fail("never done");
}

static void deliver(void)
{
	struct letter l = queue[0];
	struct dsm_event ev = { .type = DSM_EV_MSG, .msg = l.msg,
				.body = l.body, .len = l.len };

	memmove(queue, queue + 1, --queued * sizeof(l));
	step(l.to, &ev);
}

static void local(void)
{
	struct dsm_event ev = { .type = rnd(DSM_EV_AGAIN + 1),
		.cpu = rnd(2), .touch = rnd(4), .mode = rnd(3),
		.mask = 1 + rnd(255), .word = rnd(512), .node = rnd(NODES),
		.page = rnd(pages), .now = rnd(100), .tx_idle = rnd(2),
		.tx_full = !rnd(50) };

	/* Callers err as well. */
	if (!rnd(100))
		ev.page = pages + rnd(9);
	else if (!rnd(100))
		ev.type = DSM_EV_AGAIN + 1 + rnd(9);

	if (ev.type == DSM_EV_MSG)
		ev.type = DSM_EV_FAULT;
	/* A death ends the round before long: let it be rare. */
	if ((ev.type == DSM_EV_DOWN || ev.type == DSM_EV_UP) && rnd(100))
		ev.type = DSM_EV_RETIRED;
	if (ev.type == DSM_EV_DOWN || ev.type == DSM_EV_UP) {
		struct dsm_event told = { .type = ev.type, .node = ev.node,
					  .life = rnd(2) };

		for (int n = 0; n < HONEST; n++) {
			ev = told;
			if (n != told.node)
				step(n, &ev);
		}
		return;
	}
	step(rnd(HONEST), &ev);
}

/* What a node that takes part in the receiver's recovery might say. */
static void forge_recovery(struct dsm_msg *m, u8 *body, u16 *len, u8 to)
{
	struct dsm_fate f = { .page = rnd(pages + !rnd(9)),
			      .owner = rnd(5) ? rnd(NODES) : DSM_NOBODY,
			      .ver = rnd(9) };
	u64 holders = rnd(16);

	if (engine[to]->recovering && rnd(2))
		m->type = DSM_FLUSH + rnd(7);
	if (m->type == DSM_FLUSH && rnd(9)) {
		*len = NODES * sizeof(u32);
		memcpy(body, view_at(engine[to], to), *len);
	} else if (m->type > DSM_FLUSH && rnd(9)) {
		*len = sizeof(f) + (m->type == DSM_TAKE ? 8 : 0);
		memcpy(body, &f, sizeof(f));
		memcpy(body + sizeof(f), &holders, sizeof(holders));
	}
}

/* Mostly within bounds, so that it gets past the first checks. */
static void forge(struct dsm_msg *m, u8 *body, u16 *len, u8 to)
{
	u32 heard = node_at(engine[to], 3)->heard;

	memset(m, 0, sizeof(*m));
	if (shown_at && rnd(3)) {
		*m = shown[rnd(shown_at < 64 ? shown_at : 64)];
		if (m->type <= DSM_GET_O && rnd(4))
			m->type = DSM_DATA_S + rnd(3);
		else if (m->type == DSM_INV || m->type == DSM_MODE)
			m->type++;
		m->flags ^= rnd(3) ? DSM_F_DATA : rnd(16);
	} else {
		m->type = rnd(DSM_MSGS + 1);
		m->page = rnd(pages + 1);
		m->node = rnd(NODES + 1);
		m->tag = rnd(8);
		m->flags = rnd(16);
		m->mode = rnd(4);
		m->ver = rnd(6);
	}
	m->src = 3;
	switch (rnd(6)) {
	case 0:
		m->ver = (u64)rnd(60000) * 70000u << rnd(24);
		break;
	case 1:
		m->tag = rnd(60000) * 70001u;
		break;
	case 2:
		m->node = rnd(256);
		break;
	}
	*len = rnd(4) ? rnd(4) * 8 + (rnd(2) ? 16 : 0) : rnd(DSM_BODY_MAX);
	if (m->type == DSM_UPD) {
		*len = rnd(8) ? 20 * rnd(5) : rnd(200);
		m->tag = rnd(20) ? heard + rnd(80) : 1u << rnd(32);
	}
	for (u16 i = 0; i < *len; i++)
		body[i] = rnd(3) ? 0 : rnd(256);
	forge_recovery(m, body, len, to);
	for (u16 i = 0; m->type == DSM_UPD && i + 20 <= *len; i += 20) {
		struct dsm_write w = { .page = rnd(pages + (rnd(9) == 0)),
			.clock = m->tag - rnd(8), .word = rnd(513),
			.mask = rnd(256), .low = rnd(9) };

		memcpy(body + i, &w, sizeof(w));
	}
}

static bool was_shown(u32 tag)
{
	for (int i = 0; i < (shown_at < 64 ? shown_at : 64); i++)
		if (shown[i].tag == tag)
			return true;
	return false;
}

/*
 * A recovery hands out the pages of the dead: to one that has a copy, by the
 * page's manager, which may be the hostile node.
 */
static bool may_inherit(struct dsm *d, u32 page, enum dsm_state before,
			u8 type)
{
	if (before == DSM_I || before == DSM_IS || before == DSM_IM ||
	    before == DSM_IO)
		return false;
	return dsm_manager(d, page) == (type == DSM_TAKE ? 3 : d->cfg.self);
}

static void attack(void)
{
	static u8 body[DSM_BODY_MAX];
	struct dsm_event ev = { .type = DSM_EV_MSG, .body = body };
	enum dsm_state before[PAGES_MAX];
	u8 to = rnd(HONEST);
	u64 bad = dsm_statistics(engine[to])->refused;
	bool recovering = engine[to]->recovering;
	u32 tag;
	u8 type;

	forge(&ev.msg, body, &ev.len, to);
	tag = ev.msg.tag;
	type = ev.msg.type;
	for (u32 p = 0; p < pages; p++)
		before[p] = dsm_page_state(engine[to], p);
	hostile++;
	step(to, &ev);
	refused += dsm_statistics(engine[to])->refused - bad;
	for (u32 p = 0; p < pages; p++) {
		if (owner(before[p]) || !owner(dsm_page_state(engine[to], p)))
			continue;
		if (type >= DSM_FLUSH) {
			inherited++;
			if (!recovering ||
			    !may_inherit(engine[to], p, before[p], type))
				fail("ownership that nobody inherits");
			continue;
		}
		owned++;
		if (before[p] == DSM_I || before[p] == DSM_S)
			fail("ownership that nobody asked for");
		if (!was_shown(tag))
			fail("ownership by an answer out of the blue");
	}
}

/* The link layer has the first look at what arrives. */
static void attack_link(void)
{
	static struct dsm_link_out out;
	u8 frame[300];
	u32 len = rnd(sizeof(frame));
	struct dsm_event ev;
	const void *page;

	u16 from = rnd(5);
	struct dsm_frame h = { .magic = DSM_FRAME_MAGIC - !rnd(50),
			       .version = DSM_FRAME_VERSION,
			       .seq = link_seq[from % NODES], .ack = rnd(5),
			       .flags = rnd(2) ? 0 : rnd(5),
			       .len = rnd(4) ? len : rnd(300),
			       .to = !rnd(30), .body = rnd(60) };
	struct dsm_msg m = { .type = DSM_INV };

	if (!rnd(3))
		h.seq += rnd(12);

	for (u32 i = 0; i < len; i++)
		frame[i] = rnd(2) ? 0 : rnd(256);
	if (len >= sizeof(h) && rnd(5))
		memcpy(frame, &h, sizeof(h));
	if (!rnd(4))
		dsm_link_send(link_layer, rnd(NODES), &m, frame, rnd(64),
			      rnd(2) ? frame : NULL, rnd(1000), &out);
	dsm_link_receive(link_layer, from, frame, len, rnd(1000), &out);
	link_seq[from % NODES] = peer_of(link_layer, from % NODES)->expect;
	for (u32 i = 0; i < out.messages; i++)
		dsm_frame_parse(out.message[i].frame, out.message[i].len,
				out.message[i].from, DSM_PAGE_SIZE, &ev,
				&page);
	if (!rnd(500)) {
		from = rnd(NODES);
		link_seq[from] = 0;
		dsm_link_reset(link_layer, from, 0);
	}
	if (!rnd(50))
		dsm_link_tick(link_layer, rnd(1000), &out);
}

static void begin(void)
{
	struct dsm_config c = { .nodes = NODES, .cpus = 2,
		.protocol = rnd(DSM_PROTOCOLS), .order = DSM_ORDER_TOTAL,
		.chunk = 1, .requests = 8, .inflight = 4, .batch = 4,
		.run = 1 + rnd(5), .window = 64, .key = { 77 }, .lease = 5 };
	struct dsm_link_config l = { .nodes = NODES, .frames = 16,
		.window = 8, .frame_max = 200, .page_bytes = 64,
		.message_max = 500,
		.timeout = 10, .delay = 5 };

	pages = rnd(16) ? 6 : PAGES_MAX;
	c.pages = pages;
	c.mode = c.protocol ? rnd(2) : 0;
	c.serial = !rnd(8);
	c.read_owns = !rnd(8);
	c.no_hints = !rnd(8);
	c.probowners = rnd(2) * DSM_PROBOWNER_MAX;
	queued = shown_at = 0;
	memset(link_seq, 0, sizeof(link_seq));
	for (int n = 0; n < HONEST; n++) {
		c.self = n;
		c.key[1] = n;
		if (!engine[n])
			engine[n] = malloc(1 << 17);
		if (dsm_size(&c) > 1 << 17 || dsm_init(engine[n], &c))
			fail("cannot set up");
	}
	if (!link_layer)
		link_layer = malloc(dsm_link_size(&l));
	if (dsm_link_init(link_layer, &l))
		fail("cannot set up the link");
}

/* The hostile node dies before it has said a word. */
static void peace(void)
{
	for (int n = 0; n < HONEST; n++) {
		struct dsm_event ev = { .type = DSM_EV_DOWN, .node = 3 };

		step(n, &ev);
	}
}

static void round_of(int moves)
{
	bool calm = !rnd(4);

	begin();
	if (calm)
		peace();
	while (moves--) {
		u32 what = rnd(calm ? 6 : 10);

		if (what < 3)
			local();
		else if (what < 6 && queued)
			deliver();
		else if (what < 9)
			attack();
		else
			attack_link();
	}
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input = data;
	left = size;
	begin();
	while (left)
		round_of(40);
	return 0;
}
#else
int main(int argc, char **argv)
{
	u64 goal;

	tracing = argc > 2 && !strcmp(argv[1], "trace");
	argc -= tracing;
	argv += tracing;
	goal = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10) | 1;
	(void)input;
	(void)left;
	while (hostile < goal)
		round_of(600);
	if (tracing) {
		printf("%016llx\n", (unsigned long long)trace);
		return 0;
	}
	printf("fuzz: %llu hostile messages, %llu refused, %llu pages given "
	       "in answer to requests, %llu after a death\n",
	       (unsigned long long)hostile, (unsigned long long)refused,
	       (unsigned long long)owned, (unsigned long long)inherited);
	return 0;
}
#endif
