// SPDX-License-Identifier: GPL-2.0
/*
 * The registers, in the order of the standard (4.2.2).  What a driver may not do
 * is not done, and it can read that it was not.  No call of KVM or of the system.
 */
#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>
#include <string.h>

#include "virtio.h"

#define MAGIC		0x74726976	/* "virt" */
#define VERSION		2
#define VENDOR		0x534f494d	/* "MIOS" */
#define NO_REGION	UINT32_MAX	/* of memory to share */

/* What a driver tells of itself; the other bits are ours. */
#define STATUS_DRIVER	(VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER | \
			 VIRTIO_CONFIG_S_DRIVER_OK | VIRTIO_CONFIG_S_FEATURES_OK | \
			 VIRTIO_CONFIG_S_FAILED)

static uint32_t config_read(const struct virtio *v, uint64_t offset,
			    uint8_t size)
{
	uint32_t value = 0;

	if (offset < v->config_size && size <= sizeof(value) &&
	    size <= v->config_size - offset)
		memcpy(&value, (const char *)v->config + offset, size);
	return value;
}

static const struct virtq_place *chosen(const struct virtio *v)
{
	return v->queue_sel < v->queues ? &v->queue[v->queue_sel] : NULL;
}

static uint32_t half(uint64_t features, uint32_t which)
{
	return which < 2 ? features >> (32 * which) : 0;
}

uint32_t virtio_read(const struct virtio *v, uint64_t offset, uint8_t size)
{
	const struct virtq_place *q = chosen(v);

	if (offset >= VIRTIO_MMIO_CONFIG)
		return config_read(v, offset - VIRTIO_MMIO_CONFIG, size);
	if (size != sizeof(uint32_t))
		return 0;
	switch (offset) {
	case VIRTIO_MMIO_MAGIC_VALUE:
		return MAGIC;
	case VIRTIO_MMIO_VERSION:
		return VERSION;
	case VIRTIO_MMIO_DEVICE_ID:
		return v->id;
	case VIRTIO_MMIO_VENDOR_ID:
		return VENDOR;
	case VIRTIO_MMIO_DEVICE_FEATURES:
		return half(v->offers, v->offers_sel);
	case VIRTIO_MMIO_QUEUE_NUM_MAX:
		return q ? VIRTQ_MAX : 0;
	case VIRTIO_MMIO_QUEUE_READY:
		return q && q->ready;
	case VIRTIO_MMIO_INTERRUPT_STATUS:
		return v->interrupt;
	case VIRTIO_MMIO_STATUS:
		return v->status;
	case VIRTIO_MMIO_SHM_LEN_LOW:
	case VIRTIO_MMIO_SHM_LEN_HIGH:
		return NO_REGION;
	}
	return 0;
}

static enum virtio_wish reset(struct virtio *v)
{
	v->accepted = 0;
	v->offers_sel = v->accepted_sel = v->queue_sel = 0;
	v->status = v->interrupt = 0;
	memset(v->queue, 0, sizeof(v->queue));
	v->line(v, false);
	return VIRTIO_STOPS;
}

static enum virtio_wish status_write(struct virtio *v, uint32_t value)
{
	bool good = !(v->accepted & ~v->offers) &&
		virtio_agreed(v, VIRTIO_F_VERSION_1);

	if (!value)
		return reset(v);
	value &= STATUS_DRIVER;
	/* A driver that wants what is not there reads that it does not get it. */
	if (!good)
		value &= ~VIRTIO_CONFIG_S_FEATURES_OK;
	if (!(value & VIRTIO_CONFIG_S_FEATURES_OK))
		value &= ~VIRTIO_CONFIG_S_DRIVER_OK;
	v->status |= value;
	return VIRTIO_NOTHING;
}

static void accept_features(struct virtio *v, uint32_t value)
{
	uint32_t shift = 32 * v->accepted_sel;

	if (v->accepted_sel > 1 || v->status & VIRTIO_CONFIG_S_FEATURES_OK)
		return;
	v->accepted &= ~((uint64_t)UINT32_MAX << shift);
	v->accepted |= (uint64_t)value << shift;
}

static void put_half(uint64_t *word, bool high, uint32_t value)
{
	if (high)
		*word = (*word & UINT32_MAX) | (uint64_t)value << 32;
	else
		*word = (*word & ~(uint64_t)UINT32_MAX) | value;
}

/* A queue that is in use stays as it is. */
static enum virtio_wish queue_write(struct virtq_place *q, uint64_t offset,
				    uint32_t value)
{
	if (offset == VIRTIO_MMIO_QUEUE_READY && !value) {
		bool was = q->ready;

		q->ready = false;
		return was ? VIRTIO_STOPS : VIRTIO_NOTHING;
	}
	if (q->ready)
		return VIRTIO_NOTHING;
	switch (offset) {
	case VIRTIO_MMIO_QUEUE_NUM:
		q->num = value;
		break;
	case VIRTIO_MMIO_QUEUE_READY:
		q->ready = q->num && q->num <= VIRTQ_MAX;
		break;
	case VIRTIO_MMIO_QUEUE_DESC_LOW:
	case VIRTIO_MMIO_QUEUE_DESC_HIGH:
		put_half(&q->desc, offset == VIRTIO_MMIO_QUEUE_DESC_HIGH, value);
		break;
	case VIRTIO_MMIO_QUEUE_AVAIL_LOW:
	case VIRTIO_MMIO_QUEUE_AVAIL_HIGH:
		put_half(&q->avail, offset == VIRTIO_MMIO_QUEUE_AVAIL_HIGH, value);
		break;
	case VIRTIO_MMIO_QUEUE_USED_LOW:
	case VIRTIO_MMIO_QUEUE_USED_HIGH:
		put_half(&q->used, offset == VIRTIO_MMIO_QUEUE_USED_HIGH, value);
		break;
	}
	return VIRTIO_NOTHING;
}

enum virtio_wish virtio_write(struct virtio *v, uint64_t offset, uint8_t size,
			      uint32_t value, uint32_t *queue)
{
	if (size != sizeof(uint32_t))
		return VIRTIO_NOTHING;
	switch (offset) {
	case VIRTIO_MMIO_DEVICE_FEATURES_SEL:
		v->offers_sel = value;
		break;
	case VIRTIO_MMIO_DRIVER_FEATURES:
		accept_features(v, value);
		break;
	case VIRTIO_MMIO_DRIVER_FEATURES_SEL:
		v->accepted_sel = value;
		break;
	case VIRTIO_MMIO_QUEUE_SEL:
		v->queue_sel = value;
		break;
	case VIRTIO_MMIO_QUEUE_NOTIFY:
		*queue = value;
		return virtio_live(v, value) ? VIRTIO_LOOKS : VIRTIO_NOTHING;
	case VIRTIO_MMIO_INTERRUPT_ACK:
		v->interrupt &= ~value;
		v->line(v, v->interrupt);
		break;
	case VIRTIO_MMIO_STATUS:
		*queue = VIRTIO_ALL;
		return status_write(v, value);
	default:
		*queue = v->queue_sel;
		if (chosen(v))
			return queue_write(&v->queue[v->queue_sel], offset, value);
	}
	return VIRTIO_NOTHING;
}

bool virtio_live(const struct virtio *v, uint32_t queue)
{
	return v->status & VIRTIO_CONFIG_S_DRIVER_OK &&
		!(v->status & VIRTIO_CONFIG_S_NEEDS_RESET) &&
		queue < v->queues && v->queue[queue].ready;
}

bool virtio_agreed(const struct virtio *v, uint32_t feature)
{
	return v->accepted >> feature & 1;
}

void virtio_tell(struct virtio *v)
{
	v->interrupt |= VIRTIO_MMIO_INT_VRING;
	v->line(v, true);
}

void virtio_broken(struct virtio *v)
{
	v->status |= VIRTIO_CONFIG_S_NEEDS_RESET;
	v->interrupt |= VIRTIO_MMIO_INT_CONFIG;
	v->line(v, true);
}
