// SPDX-License-Identifier: GPL-2.0
/*
 * A queue in the guest's memory: chains as drivers make them, and as none may.
 */
#include "driver.h"

static const struct virtq_place place = {
	.num = NUM, .ready = true, .desc = DESC, .avail = AVAIL, .used = USED,
};

static struct virtq q;
static struct virtq_chain c;

static void begin(bool indirect)
{
	memory_begin();
	CHECK(virtq_begin(&q, &place, indirect));
	CHECK(virtq_next(&q, &c) == VIRTQ_NONE);
}

static bool at(uint32_t num, uint64_t table, uint64_t avail, uint64_t used)
{
	const struct virtq_place p = { num, true, table, avail, used };

	return virtq_begin(&q, &p, false);
}

static void places(void)
{
	const uint64_t end = PIECES * PIECE;

	CHECK(at(NUM, end - NUM * 16, end - 4 - NUM * 2, end - 4 - NUM * 8));
	CHECK(!at(NUM, end - NUM * 16 + 16, AVAIL, USED));
	CHECK(!at(NUM, DESC, end - 2 - NUM * 2, USED));
	CHECK(!at(NUM, DESC, AVAIL, end - NUM * 8));
	CHECK(!at(NUM, UINT64_MAX - 15, AVAIL, USED));
	CHECK(!at(NUM, DESC + 8, AVAIL, USED) && !at(NUM, DESC, AVAIL + 1, USED));
	CHECK(!at(NUM, DESC, AVAIL, USED + 2));
	CHECK(!at(0, DESC, AVAIL, USED) && !at(3, DESC, AVAIL, USED));
	CHECK(!at(VIRTQ_MAX * 2, DESC, AVAIL, USED));
}

static void chains(void)
{
	uint8_t bytes[64] = "0123456789";

	begin(true);
	put(DATA + 0xffe, "abcd", 4);
	desc(DESC, 5, DATA + 0xffe, 4, NEXT, 7);
	desc(DESC, 7, DATA, 0, NEXT, 2);
	desc(DESC, 2, TABLE + 8, 2 * 16, INDIRECT | WRITE, 99);
	desc(TABLE + 8, 0, ASK, 3, WRITE | NEXT, 1);
	desc(TABLE + 8, 1, PIECE - 2, 4, WRITE, 77);
	offer(5);
	CHECK(virtq_next(&q, &c) == VIRTQ_CHAIN && c.head == 5);
	CHECK(c.count == 4 && c.reads == 2 && c.in == 4 && c.out == 7);
	CHECK(virtq_next(&q, &c) == VIRTQ_NONE);
	/* Across parts and pieces, and no further. */
	CHECK(virtq_read(&c, 1, bytes, 3) && !memcmp(bytes, "bcd3", 4));
	CHECK(!virtq_read(&c, 1, bytes, 4));
	CHECK(virtq_write(&c, 2, "vwxyz", 5) && !virtq_write(&c, 7, "!", 1));
	CHECK(word(ASK, 4) == (uint64_t)'v' << 16);
	get(PIECE - 2, bytes, 5);
	CHECK(!memcmp(bytes, "wxyz", 5));
	virtq_done(&q, &c, 7);
	CHECK(word(USED + 2, 2) == 1 && word(USED + 4, 8) == 5 + (7ull << 32));
	CHECK(virtq_interrupts(&q));
	put(AVAIL, "\1", 1);
	CHECK(!virtq_interrupts(&q));
}

/* Numbers go on beyond the ring's end, and beyond 65535. */
static void turns(void)
{
	begin(false);
	desc(DESC, 3, DATA, 1, 0, 0);
	for (uint32_t i = 1; i < 70000; i++) {
		offer(3);
		CHECK(virtq_next(&q, &c) == VIRTQ_CHAIN && c.count == 1);
		virtq_done(&q, &c, 0);
		CHECK(word(USED + 2, 2) == (uint16_t)i);
	}
}

/* What virtq_next() says of the chain that begins at 0. */
static enum virtq_got got(void)
{
	offer(0);
	return virtq_next(&q, &c);
}

static void nonsense(void)
{
	const uint64_t end = PIECES * PIECE;
	uint16_t told = NUM + 1;

	begin(false);
	put(AVAIL + 2, &told, sizeof(told));
	CHECK(virtq_next(&q, &c) == VIRTQ_BROKEN);
	begin(false);
	offer(NUM);
	CHECK(virtq_next(&q, &c) == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, DATA, 1, NEXT, NUM);
	CHECK(got() == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, DATA, 1, NEXT, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, DATA, 1, WRITE | NEXT, 1);
	desc(DESC, 1, DATA, 1, 0, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, end - 1, 2, 0, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, UINT64_MAX, 2, 0, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(false);
	desc(DESC, 0, end - 1, 1, 0, 0);
	CHECK(got() == VIRTQ_CHAIN && c.in == 1);
}

static void tables(void)
{
	begin(false);
	desc(DESC, 0, TABLE, 16, INDIRECT, 0);
	CHECK(got() == VIRTQ_BROKEN);	/* nobody has agreed upon that */
	begin(true);
	CHECK(got() == VIRTQ_CHAIN && c.count == 1);
	desc(DESC, 0, TABLE, 16, INDIRECT | NEXT, 1);
	CHECK(got() == VIRTQ_BROKEN);
	begin(true);
	desc(DESC, 0, TABLE, 24, INDIRECT, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(true);
	desc(DESC, 0, TABLE, 0, INDIRECT, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(true);
	desc(DESC, 0, TABLE, 16, INDIRECT, 0);
	desc(TABLE, 0, TABLE + 16, 16, INDIRECT, 0);
	CHECK(got() == VIRTQ_BROKEN);
	begin(true);
	desc(DESC, 0, PIECES * PIECE - 16, 32, INDIRECT, 0);
	desc(PIECES * PIECE - 16, 0, DATA, 1, NEXT, 1);
	CHECK(got() == VIRTQ_BROKEN);
	/* More parts than the queue has entries. */
	begin(true);
	desc(DESC, 0, TABLE, (NUM + 1) * 16, INDIRECT, 0);
	for (int i = 0; i <= NUM; i++)
		desc(TABLE, i, DATA, 1, i < NUM ? NEXT : 0, i + 1);
	CHECK(got() == VIRTQ_BROKEN);
}

void virtq_tests(void)
{
	places();
	chains();
	turns();
	nonsense();
	tables();
}
