/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registers of a virtio device (virtio 1.x, over device memory): what it
 * offers, what the driver has accepted and set up, its interrupt.  Who calls has
 * the lock of the device; nothing here touches the guest's memory.
 */
#ifndef VIRTIO_H
#define VIRTIO_H

#include "virtq.h"

#define VIRTIO_QUEUES	2
#define VIRTIO_ALL	UINT32_MAX

struct virtio {
	/* What it is. */
	uint32_t id, queues;
	uint32_t pin;		/* of the I/O APIC */
	uint64_t offers;
	const void *config;
	uint32_t config_size;
	void (*line)(struct virtio *v, bool high);
	/* The driver's. */
	uint64_t accepted;
	uint32_t offers_sel, accepted_sel, queue_sel;
	uint32_t status, interrupt;
	struct virtq_place queue[VIRTIO_QUEUES];
};

enum virtio_wish {
	VIRTIO_NOTHING,
	VIRTIO_LOOKS,		/* there is more in that queue */
	VIRTIO_STOPS,		/* nobody touches that queue any more */
};

uint32_t virtio_read(const struct virtio *v, uint64_t offset, uint8_t size);
/* queue: which one is meant; VIRTIO_ALL: all. */
enum virtio_wish virtio_write(struct virtio *v, uint64_t offset, uint8_t size,
			      uint32_t value, uint32_t *queue);
/* The driver has begun, and that queue with it. */
bool virtio_live(const struct virtio *v, uint32_t queue);
bool virtio_agreed(const struct virtio *v, uint32_t feature);
/* Something in a queue is done. */
void virtio_tell(struct virtio *v);
/* It has been told nonsense, and does nothing before it is reset. */
void virtio_broken(struct virtio *v);

#endif /* VIRTIO_H */
