// SPDX-License-Identifier: GPL-2.0
/*
 * Queues and requests that are changed by lots, the same each time.  Whatever
 * they hold, a chain that is taken lies in the guest's memory and is no longer
 * than its queue; of that memory only what the chain lets be written changes, and
 * the file keeps its length.
 */
#include <unistd.h>

#include "../../../userspace/libmios/random.h"
#include "driver.h"

#define TRIES		5000
#define FILE_SIZE	8192

static const struct virtq_place place = {
	.num = NUM, .ready = true, .desc = DESC, .avail = AVAIL, .used = USED,
};

static struct virtq q;
static struct virtq_chain c;
static uint8_t before[PIECES][PIECE];
static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	return random_next(&seed) % below;
}

/* Numbers that are near to where something ends. */
static uint64_t odd(void)
{
	static const uint64_t ends[] = {
		0, 1, NUM, DESC, DATA, TABLE, 512, FILE_SIZE, FILE_SIZE / 512, PIECE,
		PIECES * PIECE, INT32_MAX, UINT32_MAX, UINT64_MAX,
	};

	return ends[draw(sizeof(ends) / sizeof(ends[0]))] + draw(5) - 2;
}

static void mutate(void)
{
	static const uint64_t where[] = { DESC, TABLE, AVAIL, ASK };

	for (uint64_t left = draw(6); left; left--) {
		uint64_t at = where[draw(4)] + draw(64), value = odd();

		put(at & ~(draw(2) ? 7ull : 1ull), &value, 1ull << draw(4));
	}
}

static bool may_change(uint64_t at)
{
	for (uint32_t i = c.reads; i < c.count; i++)
		if (at - c.part[i].at < c.part[i].len)
			return true;
	return false;
}

/* The next byte of a piece that is not as it was; its length if none is. */
static uint64_t differs(int i, uint64_t at)
{
	if (at < PIECE && !memcmp(piece[i] + at, before[i] + at, PIECE - at))
		return PIECE;
	while (at < PIECE && piece[i][at] == before[i][at])
		at++;
	return at;
}

static void taken(struct block *b)
{
	CHECK(c.count && c.count <= NUM && c.reads <= c.count);
	for (uint32_t i = 0; i < c.count; i++)
		CHECK(c.part[i].at <= memory_end() &&
		      c.part[i].len <= memory_end() - c.part[i].at);
	for (uint64_t i = 0; i < PIECES; i++)
		memcpy(before[i], piece[i], PIECE);
	if (block_serve(b, &c, false) >= 0)
		CHECK(c.out);
	for (uint64_t i = 0; i < PIECES; i++)
		for (uint64_t at = differs(i, 0); at < PIECE; at = differs(i, at + 1))
			CHECK(may_change(i * PIECE + at));
}

void mutated_tests(void)
{
	char path[] = "guest-lots-XXXXXX";
	int fd = mkstemp(path), chains = 0, broken = 0;
	struct block b;

	CHECK(fd >= 0 && !ftruncate(fd, FILE_SIZE) && !block_open(&b, path));
	for (int i = 0; i < TRIES; i++) {
		if (!(i % 50))
			memory_begin();
		CHECK(virtq_begin(&q, &place, draw(2)));
		put(AVAIL + 2, "\0", 2);
		request(draw(9), draw(20), DATA, draw(3) * 512, draw(2));
		if (draw(2)) {
			desc(TABLE, 0, ASK, 16, NEXT, 1);
			desc(TABLE, 1, DATA, 512, NEXT | WRITE, 2);
			desc(TABLE, 2, ANSWER, 1, WRITE, 0);
			desc(DESC, 0, TABLE, 48, INDIRECT, 0);
		}
		mutate();
		switch (virtq_next(&q, &c)) {
		case VIRTQ_CHAIN:
			taken(&b);
			chains++;
			break;
		case VIRTQ_BROKEN:
			broken++;
			break;
		case VIRTQ_NONE:
			break;
		}
	}
	CHECK(chains > TRIES / 10 && broken > TRIES / 10);
	CHECK(lseek(fd, 0, SEEK_END) == FILE_SIZE);
	unlink(path);
}
