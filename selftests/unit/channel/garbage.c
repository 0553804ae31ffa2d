// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever a peer leaves in shared memory: the reader neither runs away (the
 * sanitizers watch every access) nor loops, and a new session heals it.
 */
#include "../inject.h"
#include "test.h"

static void drain(struct ends *e)
{
	struct mios_message m;
	u8 data[512];
	u32 i;
	int ret;

	for (i = 0; i < 100; i++) {
		ret = mios_consumer_peek(&e->c, &m);
		if (!ret)
			return;
		if (ret < 0) {
			mios_consumer_resync(&e->c);
			continue;
		}
		CHECK(m.total <= e->shape.max_total);
		CHECK(m.slots <= e->shape.nr_slots);
		mios_consumer_copy(&e->c, &m, data, sizeof(data));
		mios_consumer_pop(&e->c, &m);
	}
	CHECK(!"the channel never came to an end");
}

static void one_bad_header(void)
{
	struct mios_message m;
	struct ends e;

	ends_make(&e, 64, 8, 200);
	ends_open(&e, 1, 1);
	inject_on("garbage_slot", 1);
	CHECK(mios_producer_write(&e.p, 1, "abc", 3) >= 0);
	CHECK(mios_consumer_peek(&e.c, &m) == -EBADMSG);
	mios_consumer_resync(&e.c);
	CHECK(e.c.garbage == 1);
	CHECK(mios_consumer_peek(&e.c, &m) == 0);
	CHECK(mios_producer_write(&e.p, 1, "abc", 3) >= 0);
	CHECK(e.p.resyncs == 1);
	CHECK(mios_consumer_peek(&e.c, &m) == 1 && m.total == 3);
	ends_free(&e);
}

/*
 * Slots that carry the numbers of the sessions to come, at positions that are
 * possible and at others: no session of those numbers begins.  Also where the
 * numbers start again, and all slots are littered.
 */
static void littered(u32 last)
{
	struct mios_message m;
	struct ends e;
	struct mios_slot *slot;
	u32 i;

	ends_make(&e, 64, 256, 200);
	e.chan->credit = (u64)last << 32;
	for (i = 0; i < 256; i++) {
		slot = (struct mios_slot *)((u8 *)(e.chan + 1) + 64 * i);
		slot->stamp = (u64)(last + 1 + i) << 32 | (i % 2 ? i + 1 : i);
	}
	ends_open(&e, 1, 1);
	for (i = 0; i < 600; i++) {
		CHECK(mios_consumer_peek(&e.c, &m) == 0);
		CHECK(mios_producer_write(&e.p, 1, "abc", 3) >= 0);
		CHECK(mios_consumer_peek(&e.c, &m) == 1);
		mios_consumer_pop(&e.c, &m);
	}
	ends_free(&e);
}

void test_garbage(u64 seed)
{
	size_t size = sizeof(struct mios_chan) + 64 * 8;
	u32 round, i, n;
	struct ends e;
	u8 *bytes;

	one_bad_header();
	littered(0);
	littered(~0u - 3);
	for (round = 0; round < 20000; round++) {
		ends_make(&e, 64, 8, 200);
		ends_open(&e, 1, 1);
		for (i = 0; i < test_random(&seed) % 6; i++)
			mios_producer_write(&e.p, 1, &e, i * 40);
		bytes = (u8 *)e.chan;
		n = 1 + test_random(&seed) % 40;
		for (i = 0; i < n; i++)
			bytes[test_random(&seed) % size] = test_random(&seed);
		drain(&e);
		for (i = 0; i < 20; i++)
			mios_producer_write(&e.p, 1, &e, i * 10);
		drain(&e);
		ends_open(&e, 1, 1);
		CHECK(mios_producer_write(&e.p, 1, "abc", 3) >= 0);
		drain(&e);
		ends_free(&e);
	}
}
