// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's side of a queue, and what of mios-vmm the devices call.
 */
#include <stdarg.h>
#include <unistd.h>

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

void offer_in(uint32_t queue, uint16_t head)
{
	uint64_t avail = AVAIL + queue * QUEUE;
	uint16_t at = word(avail + 2, 2), told = at + 1;

	put(avail + 4 + at % NUM * 2, &head, sizeof(head));
	__atomic_store_n((uint16_t *)memory_at(avail + 2, 2), told,
			 __ATOMIC_RELEASE);
}

void offer(uint16_t head)
{
	offer_in(0, head);
}

static uint64_t access_at(uint64_t at, bool write, uint64_t value)
{
	const struct access a = {
		.space = ROUTE_MEMORY, .size = 4, .write = write, .at = at,
		.value = value,
	};

	return worker_access(&a);
}

void device_set(uint64_t at, uint32_t value)
{
	access_at(at, true, value);
}

uint32_t device_reg(uint64_t at)
{
	return access_at(at, false, 0);
}

void driver_begins(uint64_t device, uint32_t queues)
{
	device_set(device + VIRTIO_MMIO_STATUS, 3);
	device_set(device + VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1);
	device_set(device + VIRTIO_MMIO_DRIVER_FEATURES, 1);
	device_set(device + VIRTIO_MMIO_STATUS, 11);
	for (uint32_t i = 0; i < queues; i++) {
		device_set(device + VIRTIO_MMIO_QUEUE_SEL, i);
		device_set(device + VIRTIO_MMIO_QUEUE_NUM, NUM);
		device_set(device + VIRTIO_MMIO_QUEUE_DESC_LOW, DESC + i * QUEUE);
		device_set(device + VIRTIO_MMIO_QUEUE_AVAIL_LOW, AVAIL + i * QUEUE);
		device_set(device + VIRTIO_MMIO_QUEUE_USED_LOW, USED + i * QUEUE);
		device_set(device + VIRTIO_MMIO_QUEUE_READY, 1);
	}
	device_set(device + VIRTIO_MMIO_STATUS, 15);
	CHECK(device_reg(device + VIRTIO_MMIO_STATUS) == 15);
}

void until_set(uint64_t device, uint64_t offset, uint32_t bits)
{
	for (int i = 0; !(device_reg(device + offset) & bits); i++) {
		CHECK(i < 10000);
		usleep(1000);
	}
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
	net_tests();
	mutated_tests();
	puts("the guest's disk: right");
	return 0;
}
