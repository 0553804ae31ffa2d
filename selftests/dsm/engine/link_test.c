// SPDX-License-Identifier: GPL-2.0
/*
 * The link layer against a wire that loses, doubles and reorders: every
 * message must arrive once and in order, and nothing may stay behind.
 * First one link by hand (linkhand_test.c), then all fates of a few frames, one
 * after the other; then long random runs.  Exit 0 if all is well; prints the
 * first thing that is not.
 */
#include "link_test.h"

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
	u32 bodies;		/* bytes of the longest, and one */
	u64 now;
	u64 more;		/* calls for messages that waited */
};

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
		if (p->len < PAD) {
			memset(p->bytes + p->len, 0xa5, PAD - p->len);
			p->len = PAD;
		}
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
		expect(ev.len == ev.msg.tag % r->bodies, "another length");
		for (u32 k = 0; k < ev.len; k++)
			expect(((const u8 *)ev.body)[k] == (u8)ev.msg.tag,
			       "another body");
	}
}

static int send_one(struct rig *r, u16 from)
{
	struct dsm_msg m = { .type = DSM_INV, .src = from };
	struct dsm_link_out out;
	u8 body[200];
	int err;

	m.tag = r->sent[from];
	memset(body, m.tag, sizeof(body));
	err = dsm_link_send(r->link[from], !from, &m, body,
			    r->sent[from] % r->bodies, NULL, r->now, &out);
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
	while (out.more) {
		r->more++;
		dsm_link_tick(r->link[p.to], r->now, &out);
		absorb(r, p.to, &out);
	}
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

/* Frames of so many bytes; longer messages go in pieces. */
static void rig_of(struct rig *r, u16 window, u32 frame, u32 bodies)
{
	r->count = 0;
	r->now = 0;
	r->bodies = bodies;
	for (u16 n = 0; n < 2; n++) {
		struct dsm_link_config c = { .nodes = 2, .self = n,
			.frames = FRAMES, .window = window, .frame_max = frame,
			.message_max = 300, .timeout = 50, .delay = 20 };

		free(r->link[n]);
		r->link[n] = malloc(dsm_link_size(&c));
		if (dsm_link_init(r->link[n], &c)) {
			printf("cannot set up a link\n");
			exit(1);
		}
		r->sent[n] = r->got[n] = 0;
	}
}

static void rig_init(struct rig *r, u16 window)
{
	rig_of(r, window, 200, 20);
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
			expect(dsm_link_free(r->link[0]) == FRAMES &&
			       dsm_link_free(r->link[1]) == FRAMES,
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

	if (seed & 1)
		rig_init(r, 1 + rnd(&s) % 16);
	else
		rig_of(r, 1 + rnd(&s) % 16, 44 + rnd(&s) % 100, 200);
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

/*
 * Node 1 is born again.  Frames to and from its earlier life, however well
 * formed, must not get in, and neither must what that acknowledged.
 */
static void lives(struct rig *r)
{
	struct dsm_link_config c = { .nodes = 2, .self = 1, .life = 1,
		.frames = FRAMES, .window = 8, .frame_max = 200,
		.message_max = 300, .timeout = 50, .delay = 20 };

	rig_init(r, 8);
	send_one(r, 0);
	expect(!dsm_link_init(r->link[1], &c), "cannot be born again");
	send_one(r, 1);
	arrive(r, 0, false);
	expect(!r->got[1], "a frame to an earlier life was delivered");
	arrive(r, 0, false);
	expect(!r->got[0], "a frame from a life not yet known was delivered");
	send_one(r, 0);
	send_one(r, 0);
	dsm_link_reset(r->link[0], 1, 1);
	expect(dsm_link_free(r->link[0]) == FRAMES, "old frames stay");
	r->sent[0] = 0;
	send_one(r, 0);
	settle(r, "life", 1);
}

int main(int argc, char **argv)
{
	struct rig r = { .wire = calloc(WIRE, sizeof(struct packet)) };
	u64 runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;

	link_by_hand();
	every_fate(&r, 8);
	for (u64 seed = 1; seed <= runs; seed++)
		random_run(&r, seed);
	expect(runs < 100 || r.more, "no message ever waited");
	lives(&r);
	printf("link: %d fates, %llu random runs, lives\n", 1 << 16,
	       (unsigned long long)runs);
	free(r.link[0]);
	free(r.link[1]);
	free(r.wire);
	return 0;
}
