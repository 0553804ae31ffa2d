// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that overwrites every structure of a ring area, round upon round,
 * while the others read: each reads what has just been overwritten, and ends
 * on the same side of a bound, whatever it finds.
 */
#include "../../../mios/core/channel/garbage.h"
#include "test.h"

#define NR	3

struct world {
	struct mios_geometry g;
	void *area;
	struct mios_producer p[NR][NR][MIOS_CLASSES];
	struct mios_consumer c[NR][NR][MIOS_CLASSES];
};

static void world_make(struct world *w)
{
	u32 from, to, class;

	CHECK(!mios_geometry(&w->g, NR, MIOS_NET_SLOTS_MIN));
	w->area = aligned_alloc(4096, w->g.area_size);
	CHECK(w->area);
	memset(w->area, 0, w->g.area_size);
	for (from = 0; from < NR; from++)
		for (to = 0; to < NR; to++)
			for (class = 0; class < MIOS_CLASSES && from != to;
			     class++) {
				struct mios_chan *chan =
					mios_area_chan(w->area, &w->g, to,
						       from, class);

				mios_producer_init(&w->p[from][to][class],
						   chan, &w->g.shape[class]);
				mios_consumer_init(&w->c[from][to][class],
						   chan, &w->g.shape[class]);
				mios_producer_open(&w->p[from][to][class],
						   from + 1, to + 1);
				mios_consumer_open(&w->c[from][to][class],
						   to + 1, from + 1);
			}
}

static void header_look(struct world *w)
{
	struct mios_area_header copy;
	struct mios_geometry g;

	memcpy(&copy, w->area, sizeof(copy));
	if (mios_header_check(&copy, copy.self, w->g.area_size, copy.ring, &g))
		return;
	CHECK(g.nr && g.nr <= MIOS_AREA_INSTANCES);
	CHECK(g.area_size <= w->g.area_size);
}

static void desc_look(struct world *w, u32 i)
{
	struct mios_desc_body body;

	if (mios_desc_read(mios_area_desc(w->area, &w->g, i),
			   mios_area_cpus(w->area, i), &body, 0, i))
		return;
	CHECK(body.nr_cpus <= MIOS_AREA_CPUS);
	CHECK(body.nr_ranges <= MIOS_DESC_RANGES);
	CHECK(body.state < MIOS_DESC_STATES);
	CHECK(body.node < MIOS_AREA_INSTANCES);
	CHECK(body.doorbell_vector == MIOS_DOORBELL_VECTOR);
	CHECK(memchr(body.release, 0, sizeof(body.release)));
}

static void lines_look(struct world *w, u32 i)
{
	struct mios_lines *lines = mios_area_lines(w->area, &w->g, i);
	struct mios_anchor anchor;
	struct mios_beat beat;

	if (!mios_seq_read((u32 *)&beat, (u32 *)&lines->beat, sizeof(beat)))
		CHECK(!(beat.sequence & 1));
	if (!mios_seq_read((u32 *)&anchor, (u32 *)&lines->anchor,
			   sizeof(anchor)))
		CHECK(!(anchor.sequence & 1));
	/* As their owners do at each heartbeat. */
	mios_seq_write((u32 *)&lines->beat, (u32 *)&beat, sizeof(beat));
	CHECK(!(lines->beat.sequence & 1));
}

static void consume(struct mios_consumer *c)
{
	struct mios_message m;
	u8 data[512];
	u32 i, part;
	int ret;

	for (i = 0; i <= 2 * c->shape.nr_slots; i++) {
		ret = mios_consumer_peek(c, &m);
		if (!ret)
			break;
		if (ret < 0) {
			mios_consumer_resync(c);
			continue;
		}
		CHECK(m.total <= c->shape.max_total);
		CHECK(m.slots && m.slots <= c->shape.nr_slots);
		mios_consumer_copy(c, &m, data, sizeof(data));
		if (m.total)
			mios_consumer_room(c, &m, m.total - 1, &part);
		mios_consumer_pop(c, &m);
	}
	CHECK(i <= 2 * c->shape.nr_slots);
	mios_consumer_flush(c);
	mios_consumer_arm(c);
	mios_consumer_behind(c);
}

/* Both ends go on as link/message.c and member.c would. */
static void channel_look(struct world *w, u64 *seed)
{
	u32 class = mios_garbage_random(seed) % MIOS_CLASSES;
	u32 from = mios_garbage_random(seed) % NR;
	u32 to = (from + 1 + mios_garbage_random(seed) % (NR - 1)) % NR;
	struct mios_producer *p = &w->p[from][to][class];
	struct mios_consumer *c = &w->c[from][to][class];
	u8 data[300] = {};
	int ret;

	ret = mios_producer_write(p, class * MIOS_TYPES_PER_CLASS + 1, data,
				  mios_garbage_random(seed) %
				  min(p->shape.max_total, 224u));
	if (ret == -EAGAIN)
		mios_producer_wish(p, 10);
	consume(c);
	if (ret == -ESHUTDOWN || ret == -ENOTCONN)
		mios_producer_open(p, from + 1, to + 1);
	if (mios_consumer_called(c))
		mios_consumer_open(c, to + 1, from + 1);
}

/* After all of it: every channel carries a message again. */
static void healed(struct world *w)
{
	struct mios_message m;
	u32 from, to, class;

	for (from = 0; from < NR; from++)
		for (to = 0; to < NR; to++)
			for (class = 0; class < MIOS_CLASSES && from != to;
			     class++) {
				struct mios_producer *p =
					&w->p[from][to][class];
				struct mios_consumer *c =
					&w->c[from][to][class];

				mios_producer_open(p, from + 1, to + 1);
				mios_consumer_open(c, to + 1, from + 1);
				CHECK(mios_producer_write(p, 1, "abc", 3) >= 0);
				CHECK(mios_consumer_peek(c, &m) == 1);
				CHECK(m.total == 3);
			}
}

void test_area(u64 seed, unsigned long rounds)
{
	static struct world w;
	struct mios_desc_body body;
	unsigned long i;
	u32 instance;

	world_make(&w);
	for (i = 0; i < rounds; i++) {
		instance = mios_garbage_random(&seed) % NR;
		switch (mios_garbage_round(w.area, &w.g, &seed, &body)) {
		case MIOS_GARBAGE_HEADER:
			header_look(&w);
			break;
		case MIOS_GARBAGE_CPUS:
		case MIOS_GARBAGE_DESC:
		case MIOS_GARBAGE_SEALED_DESC:
			desc_look(&w, instance);
			break;
		case MIOS_GARBAGE_BEAT:
		case MIOS_GARBAGE_ANCHOR:
			lines_look(&w, instance);
			break;
		default:
			channel_look(&w, &seed);
		}
	}
	healed(&w);
	free(w.area);
}
