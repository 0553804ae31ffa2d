// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's side of a queue, and what of mios-vmm the devices call.
 */
#include <stdarg.h>

#include "driver.h"

uint8_t *piece[PIECES];
int said;

void memory_begin(void)
{
	for (int i = 0; i < PIECES; i++) {
		free(piece[i]);
		piece[i] = calloc(1, PIECE);
		CHECK(piece[i]);
	}
}

void *memory_at(uint64_t at, uint64_t len)
{
	if (at >= PIECES * PIECE || len > PIECE - at % PIECE)
		return NULL;
	return piece[at / PIECE] + at % PIECE;
}

uint64_t memory_end(void)
{
	return PIECES * PIECE;
}

void put(uint64_t at, const void *bytes, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		piece[(at + i) / PIECE][(at + i) % PIECE] =
			((const uint8_t *)bytes)[i];
}

void get(uint64_t at, void *bytes, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		((uint8_t *)bytes)[i] = piece[(at + i) / PIECE][(at + i) % PIECE];
}

uint64_t word(uint64_t at, int bytes)
{
	uint64_t value = 0;

	get(at, &value, bytes);
	return value;
}

void desc(uint64_t table, uint16_t i, uint64_t at, uint32_t len,
	  uint16_t flags, uint16_t next)
{
	const struct vring_desc d = { at, len, flags, next };

	put(table + i * sizeof(d), &d, sizeof(d));
}

void offer(uint16_t head)
{
	uint16_t at = word(AVAIL + 2, 2), told = at + 1;

	put(AVAIL + 4 + at % NUM * 2, &head, sizeof(head));
	__atomic_store_n((uint16_t *)memory_at(AVAIL + 2, 2), told,
			 __ATOMIC_RELEASE);
}

void request(uint32_t type, uint64_t sector, uint64_t at, uint32_t len,
	     bool to_guest)
{
	const struct virtio_blk_outhdr ask = { .type = type, .sector = sector };

	put(ASK, &ask, sizeof(ask));
	desc(DESC, 0, ASK, sizeof(ask), NEXT, 1);
	desc(DESC, 1, at, len, NEXT | (to_guest ? WRITE : 0), 2);
	desc(DESC, 2, ANSWER, 1, WRITE, 0);
	put(ANSWER, "\xee", 1);
	offer(0);
}

int say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	said++;
	return -1;
}

int main(void)
{
	virtio_tests();
	virtq_tests();
	block_tests();
	worker_tests();
	mutated_tests();
	puts("the guest's disk: right");
	return 0;
}
