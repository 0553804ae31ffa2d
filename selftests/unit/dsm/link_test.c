// SPDX-License-Identifier: GPL-2.0
/*
 * The link layer against a wire that loses, doubles and reorders: every
 * message must arrive once and in order, and nothing may stay behind.
 * First one link by hand, then all fates of a few frames, one after the
 * other; then long random runs.  Exit 0 if all is well; prints the first thing that is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

#define WIRE	4096
#define FRAMES	64

struct packet {
	u16 from, to;
	u32 len;
	u8 bytes[256];
};

struct rig {
	struct dsm_link *link[2];
	struct packet *wire;
	int count;
	u32 sent[2], got[2];
	u64 now;
};

static void expect(bool good, const char *what)
{
	if (good)
		return;
	printf("%s\n", what);
	exit(1);
}

static u64 rnd(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static void absorb(struct rig *r, u16 node, const struct dsm_link_out *out)
{
	for (u32 i = 0; i < out->sends && r->count < WIRE; i++) {
		struct packet *p = &r->wire[r->count++];

		p->from = node;
		p->to = out->send[i].to;
		p->len = out->send[i].len;
		memcpy(p->bytes, out->send[i].frame, p->len);
	}
	for (u32 i = 0; i < out->messages; i++) {
		struct dsm_event ev;
		const void *page;

		if (!dsm_frame_parse(out->message[i].frame,
				     out->message[i].len,
				     out->message[i].from, 0, &ev, &page)) {
			printf("message not understood\n");
			exit(1);
		}
		if (ev.msg.tag != r->got[node]++) {
			printf("node %d got message %u, expected %u\n",
			       node, ev.msg.tag, r->got[node] - 1);
			exit(1);
		}
	}
}

static int send_one(struct rig *r, u16 from)
{
	struct dsm_msg m = { .type = DSM_INV, .src = from };
	struct dsm_link_out out;
	u8 body[20] = { 0 };
	int err;

	m.tag = r->sent[from];
	err = dsm_link_send(r->link[from], !from, &m, body,
			    r->sent[from] % 20, NULL, r->now, &out);
	if (err)
		return err;
	r->sent[from]++;
	absorb(r, from, &out);
	return 0;
}

static void arrive(struct rig *r, int i, bool keep)
{
	struct packet p = r->wire[i];
	struct dsm_link_out out;

	if (!keep)
		r->wire[i] = r->wire[--r->count];
	dsm_link_receive(r->link[p.to], p.from, p.bytes, p.len, r->now,
			 &out);
	absorb(r, p.to, &out);
}

static void lose(struct rig *r, int i)
{
	r->count--;
	r->wire[i] = r->wire[r->count];
}

static void tick(struct rig *r)
{
	struct dsm_link_out out;

	r->now += 10;
	for (u16 n = 0; n < 2; n++) {
		dsm_link_tick(r->link[n], r->now, &out);
		absorb(r, n, &out);
	}
}

static void rig_init(struct rig *r, u16 window)
{
	r->count = 0;
	r->now = 0;
	for (u16 n = 0; n < 2; n++) {
		struct dsm_link_config c = { .nodes = 2, .self = n,
			.frames = FRAMES, .window = window, .frame_max = 200,
			.timeout = 50, .delay = 20 };

		if (!r->link[n])
			r->link[n] = malloc(dsm_link_size(&c));
		if (dsm_link_init(r->link[n], &c)) {
			printf("cannot set up a link\n");
			exit(1);
		}
		r->sent[n] = r->got[n] = 0;
	}
}

/* Let the wire be good: everything must arrive and fall silent. */
static void settle(struct rig *r, const char *what, u64 id)
{
	for (int i = 0; i < 4000; i++) {
		while (r->count)
			arrive(r, 0, false);
		tick(r);
		if (r->got[0] == r->sent[1] && r->got[1] == r->sent[0] &&
		    dsm_link_idle(r->link[0], 1) &&
		    dsm_link_idle(r->link[1], 0) && !r->count) {
			tick(r);
			expect(dsm_link_room(r->link[0]) == FRAMES &&
			       dsm_link_room(r->link[1]) == FRAMES,
			       "a frame is not given back");
			return;
		}
	}
	printf("%s %llu: sent %u and %u, got %u and %u\n", what,
	       (unsigned long long)id, r->sent[0], r->sent[1], r->got[1],
	       r->got[0]);
	exit(1);
}

/* Each decision on the wire in base 4: first, last, lose, double. */
static void every_fate(struct rig *r, int decisions)
{
	for (u64 code = 0; code < 1ULL << (2 * decisions); code++) {
		u64 left = code;

		rig_init(r, 4);
		for (int i = 0; i < 3; i++)
			send_one(r, i & 1);
		for (int i = 0; i < decisions; i++, left >>= 2) {
			if (!r->count)
				tick(r), tick(r);
			if (!r->count)
				continue;
			if (left % 4 == 2)
				lose(r, 0);
			else
				arrive(r, left % 4 == 1 ? r->count - 1 : 0,
				       left % 4 == 3);
		}
		settle(r, "fate", code);
	}
}

static void random_run(struct rig *r, u64 seed)
{
	u64 s = seed;

	rig_init(r, 1 + rnd(&s) % 16);
	for (int i = 0; i < 3000; i++) {
		u64 what = rnd(&s) % 100;

		if (what < 30)
			send_one(r, rnd(&s) & 1);
		else if (what < 35)
			tick(r);
		else if (r->count && what < 45)
			lose(r, rnd(&s) % r->count);
		else if (r->count)
			arrive(r, rnd(&s) % r->count, what < 55);
	}
	settle(r, "seed", seed);
}

/* Frames of an earlier epoch, however well formed, must not get in. */
static void epochs(struct rig *r)
{
	rig_init(r, 8);
	send_one(r, 0);
	dsm_link_reset(r->link[1], 0, 1);
	while (r->count)
		arrive(r, 0, false);
	if (r->got[1]) {
		printf("a frame of the old epoch was delivered\n");
		exit(1);
	}
	dsm_link_reset(r->link[0], 1, 1);
	r->sent[0] = 0;
	send_one(r, 0);
	settle(r, "epoch", 1);
}

/* By hand: one link, and what its peers might say. */
static struct dsm_link_out said;

static struct dsm_link *alone(u16 nodes, u16 window, u16 frames)
{
	struct dsm_link_config c = { .nodes = nodes, .frames = frames,
		.window = window, .frame_max = 200, .timeout = 50,
		.delay = 20 };
	struct dsm_link *l = malloc(dsm_link_size(&c));

	expect(l && !dsm_link_init(l, &c), "cannot set up a link");
	return l;
}

/* Header, message and body without a gap, as on the wire, from h on. */
struct whole {
	u32 align;
	struct dsm_frame h;
	struct dsm_msg m;
	u8 body[8];
};

#define WHOLE	(sizeof(struct whole) - offsetof(struct whole, h))

static_assert(offsetof(struct whole, m) ==
	      offsetof(struct whole, h) + sizeof(struct dsm_frame), "no gap");

static void hear(struct dsm_link *l, u16 from, u32 seq, u32 ack, bool message)
{
	struct whole f = { .h.seq = seq, .h.ack = ack };

	dsm_link_receive(l, from, &f.h, message ? WHOLE - sizeof(f.body) :
			 sizeof(f.h), 0, &said);
}

static int say(struct dsm_link *l, u16 to, u16 len)
{
	static const u8 body[200];
	struct dsm_msg m = { .type = DSM_INV };

	return dsm_link_send(l, to, &m, body, len, NULL, 0, &said);
}

static void impossible(const struct dsm_link_config *c)
{
	static u64 memory[4096];

	expect(!dsm_link_size(c) &&
	       dsm_link_init((struct dsm_link *)memory, c) == -EINVAL,
	       "a configuration that cannot be is taken");
}

static void configurations(void)
{
	const struct dsm_link_config good = { .nodes = 2, .frames = 8,
		.window = 4, .frame_max = 200 };
	struct dsm_link_config c;

	expect(dsm_link_size(&good), "a good configuration is refused");
#define BAD(field, value) \
	do { c = good; c.field = (value); impossible(&c); } while (0)
	BAD(nodes, 0);
	BAD(nodes, DSM_NODES_MAX + 1);
	BAD(self, 2);
	BAD(frames, 0);
	BAD(frames, 0xffff);
	BAD(window, 0);
	BAD(window, 64);
	BAD(page_bytes, DSM_PAGE_SIZE + 1);
	BAD(frame_max, sizeof(struct dsm_frame) + sizeof(struct dsm_msg) - 1);
	BAD(frame_max, DSM_FRAME_MAX + 1);
#undef BAD
}

/* No more under way than the window; an ack lets the next one go at once. */
static void windows(void)
{
	struct dsm_link *l = alone(2, 2, 8);
	u32 sent = 0;

	for (int i = 0; i < 5; i++) {
		expect(!say(l, 1, 0), "no room for five frames");
		sent += said.sends;
	}
	expect(sent == 2, "more under way than the window");
	hear(l, 1, 0, 1, false);
	expect(said.sends == 1, "an ack lets no frame go");
	hear(l, 1, 0, 9, false);
	expect(!dsm_link_idle(l, 1) && dsm_link_room(l) == 4 &&
	       dsm_link_statistics(l)->refused == 1,
	       "what was never sent is acknowledged");
	hear(l, 1, 0, 0, false);
	expect(dsm_link_room(l) == 4 &&
	       dsm_link_statistics(l)->refused == 1, "an old ack counts");
	hear(l, 1, 0, 5, false);
	expect(dsm_link_idle(l, 1) && dsm_link_room(l) == 8,
	       "acknowledged frames stay");
	free(l);
}

/* An old ack takes back nothing. */
static void old_ack(void)
{
	struct dsm_link *l = alone(2, 2, 8);

	expect(!say(l, 1, 0) && !say(l, 1, 0), "no room for two frames");
	hear(l, 1, 0, 1, false);
	hear(l, 1, 0, 0, false);
	expect(!say(l, 1, 0) && said.sends == 1,
	       "an old ack closes the window");
	free(l);
}

/* Frames too early, twice, too late and outside of the window. */
static void out_of_order(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	hear(l, 1, 1, 0, true);
	expect(!said.messages && said.sends == 1 && dsm_link_room(l) == 7,
	       "an early frame is not kept, or not acknowledged at once");
	hear(l, 1, 1, 0, true);
	expect(!said.messages && dsm_link_room(l) == 7 &&
	       dsm_link_statistics(l)->twice == 1, "kept twice");
	hear(l, 1, 0, 0, true);
	expect(said.messages == 2, "the gap is filled, but nothing follows");
	hear(l, 1, 0, 0, true);
	expect(!said.messages && said.sends == 1 && dsm_link_room(l) == 8,
	       "delivered twice, or not acknowledged again");
	hear(l, 1, 6, 0, true);
	expect(!said.messages && dsm_link_room(l) == 8,
	       "kept from outside of the window");
	hear(l, 1, 4, 0, true);
	hear(l, 1, 3, 0, true);
	hear(l, 1, 2, 0, true);
	expect(said.messages == 3, "an early frame before another is lost");
	free(l);
}

static void no_room(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	expect(say(l, 1, 200) == -ENOSPC && dsm_link_room(l) == 8,
	       "a frame that is too long costs room");
	for (int i = 0; i < 8; i++)
		expect(!say(l, 1, 0), "no room for eight frames");
	expect(say(l, 1, 0) == -ENOSPC &&
	       dsm_link_statistics(l)->refused == 2, "a ninth frame");
	free(l);
}

/* More to send than one call can ask for: the next tick has the rest. */
static void many_peers(void)
{
	struct dsm_link *l = alone(70, 4, 128);

	for (u16 n = 1; n < 70; n++)
		hear(l, n, 0, 0, true);
	dsm_link_tick(l, 20, &said);
	expect(said.sends == 64, "64 acks at once");
	dsm_link_tick(l, 20, &said);
	expect(said.sends == 5, "5 more acks");
	for (u16 n = 1; n < 70; n++)
		expect(!say(l, n, 0), "no room for a frame to each");
	dsm_link_tick(l, 50, &said);
	expect(said.sends == 64, "64 frames at once");
	dsm_link_tick(l, 50, &said);
	expect(said.sends == 5, "5 more frames");
	free(l);
}

/* A peer born again: what was kept for it is room again. */
static void reset(void)
{
	struct dsm_link *l = alone(2, 4, 8);

	expect(!say(l, 1, 0) && !say(l, 1, 0), "no room for two frames");
	hear(l, 1, 2, 0, true);
	hear(l, 1, 3, 0, true);
	expect(dsm_link_room(l) == 4, "two sent and two early frames");
	dsm_link_reset(l, 1, 0);
	expect(dsm_link_room(l) == 8 && dsm_link_idle(l, 1),
	       "a forgotten peer's frames stay");
	free(l);
}

static void stumps(void)
{
	static const u8 frame[sizeof(struct dsm_frame)];
	struct dsm_link *l = alone(2, 4, 8);

	dsm_link_receive(l, 1, frame, 4, 0, &said);
	expect(!said.messages && !said.sends &&
	       dsm_link_statistics(l)->refused == 1,
	       "a frame without a whole header is taken");
	free(l);
}

static void malformed(void)
{
	struct whole f = { .h.body = 8, .m.type = DSM_INV, .m.src = 1 };
	/* Of its own size, so that the sanitizer sees who reads on. */
	void *stump = calloc(1, sizeof(f.h) + 1);
	struct dsm_event ev;
	const void *page;

	expect(dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a good frame is refused");
	expect(!dsm_frame_parse(&f.h, WHOLE - 9, 1, 0, &ev, &page) &&
	       !dsm_frame_parse(stump, sizeof(f.h) + 1, 1, 0, &ev, &page),
	       "a frame shorter than a message is taken");
	expect(!dsm_frame_parse(&f.h, WHOLE, 0, 0, &ev, &page),
	       "a frame in another node's name is taken");
	f.h.body = 9;
	expect(!dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a body longer than its frame is taken");
	f.h.body = 7;
	expect(!dsm_frame_parse(&f.h, WHOLE, 1, 0, &ev, &page),
	       "a byte behind the body is taken");
	free(stump);
}

int main(int argc, char **argv)
{
	struct rig r = { .wire = calloc(WIRE, sizeof(struct packet)) };
	u64 runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;

	configurations();
	windows();
	old_ack();
	out_of_order();
	no_room();
	reset();
	stumps();
	malformed();
	many_peers();
	every_fate(&r, 8);
	for (u64 seed = 1; seed <= runs; seed++)
		random_run(&r, seed);
	epochs(&r);
	printf("link: %d fates, %llu random runs, epochs\n", 1 << 16,
	       (unsigned long long)runs);
	free(r.link[0]);
	free(r.link[1]);
	free(r.wire);
	return 0;
}
