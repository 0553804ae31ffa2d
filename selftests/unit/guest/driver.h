/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest's driver of virtio devices, and its memory: two pieces, of which each
 * is a block of its own, so that AddressSanitizer sees who leaves one.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <linux/virtio_blk.h>
#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>

#include "../../../userspace/mios-vmm/block.h"
#include "../../../userspace/mios-vmm/memory.h"
#include "../../../userspace/mios-vmm/virtio.h"
#include "../../../userspace/mios-vmm/worker.h"
#include "test.h"

#define PIECE		0x10000ull
#define PIECES		2

/* Where the driver has what. */
#define DESC		0x1000ull
#define AVAIL		0x2000ull
#define USED		0x3000ull
#define ASK		0x4000ull
#define ANSWER		0x4800ull
#define TABLE		0x5000ull
#define QUEUE		0x5000ull	/* from one queue to the next */
#define DATA		0xf000ull	/* half of it in the second piece */
#define NUM		8

#define NEXT		VRING_DESC_F_NEXT
#define WRITE		VRING_DESC_F_WRITE
#define INDIRECT	VRING_DESC_F_INDIRECT

extern uint8_t *piece[PIECES];
extern int said;		/* lines */

void memory_begin(void);
void put(uint64_t at, const void *bytes, uint64_t len);
void get(uint64_t at, void *bytes, uint64_t len);
uint64_t word(uint64_t at, int bytes);

/* A device's registers, and the driver's first steps, with empty queues. */
void device_set(uint64_t at, uint32_t value);
uint32_t device_reg(uint64_t at);
void driver_begins(uint64_t device, uint32_t queues);
/* Until one of these bits is set in a register. */
void until_set(uint64_t device, uint64_t offset, uint32_t bits);

/* In a table, the queue's or one of a chain's own. */
void desc(uint64_t table, uint16_t i, uint64_t at, uint32_t len,
	  uint16_t flags, uint16_t next);
/* The chain that begins there is available, in a queue or in the first. */
void offer_in(uint32_t queue, uint16_t head);
void offer(uint16_t head);
/* A request as Linux makes it: what, data, answer. */
void request(uint32_t type, uint64_t sector, uint64_t at, uint32_t len,
	     bool to_guest);

void virtio_tests(void);
void virtq_tests(void);
void block_tests(void);
void worker_tests(void);
void net_tests(void);
void mutated_tests(void);

#endif /* DRIVER_H */
