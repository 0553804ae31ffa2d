// SPDX-License-Identifier: GPL-2.0
/*
 * The registers of a virtio device: what a driver agrees upon with it, in which
 * order, and what it is refused; its interrupt.
 */
#include "driver.h"

static const uint32_t config[] = { 0x11223344, 0x55667788 };
static bool high;

static void line(struct virtio *v, bool is)
{
	CHECK(v->pin == 17);
	high = is;
}

static struct virtio v = {
	.id = 2, .queues = 1, .pin = 17, .line = line, .config = config,
	.config_size = sizeof(config), .offers = 1ull << 32 | 1 << 9,
};

static uint32_t reg(uint64_t offset)
{
	return virtio_read(&v, offset, 4);
}

static enum virtio_wish set(uint64_t offset, uint32_t value)
{
	uint32_t queue = 99;
	enum virtio_wish wish = virtio_write(&v, offset, 4, value, &queue);

	CHECK(wish != VIRTIO_LOOKS || queue == value);
	return wish;
}

/* The upper half of the features, then the lower one. */
static uint32_t agree(uint32_t upper, uint32_t lower)
{
	CHECK(set(VIRTIO_MMIO_STATUS, 0) == VIRTIO_STOPS && !reg(VIRTIO_MMIO_STATUS));
	set(VIRTIO_MMIO_STATUS, 3);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 1);
	set(VIRTIO_MMIO_DRIVER_FEATURES, upper);
	set(VIRTIO_MMIO_DRIVER_FEATURES_SEL, 0);
	set(VIRTIO_MMIO_DRIVER_FEATURES, lower);
	set(VIRTIO_MMIO_STATUS, 11);
	return reg(VIRTIO_MMIO_STATUS);
}

static void features(void)
{
	CHECK(reg(VIRTIO_MMIO_MAGIC_VALUE) == 0x74726976);
	CHECK(reg(VIRTIO_MMIO_VERSION) == 2 && reg(VIRTIO_MMIO_DEVICE_ID) == 2);
	set(VIRTIO_MMIO_DEVICE_FEATURES_SEL, 1);
	CHECK(reg(VIRTIO_MMIO_DEVICE_FEATURES) == 1);
	set(VIRTIO_MMIO_DEVICE_FEATURES_SEL, 2);
	CHECK(!reg(VIRTIO_MMIO_DEVICE_FEATURES));
	/* Without version 1, or with what is not offered, it is refused. */
	CHECK(agree(0, 1 << 9) == 3);
	CHECK(agree(1, 1 << 10) == 3);
	set(VIRTIO_MMIO_STATUS, 7);
	CHECK(reg(VIRTIO_MMIO_STATUS) == 3);
	CHECK(agree(1, 1 << 9) == 11 && virtio_agreed(&v, 9));
	/* What has been agreed upon stays. */
	set(VIRTIO_MMIO_DRIVER_FEATURES, 0);
	CHECK(virtio_agreed(&v, 9));
	set(VIRTIO_MMIO_STATUS, 0x4f);
	CHECK(reg(VIRTIO_MMIO_STATUS) == 0xf);
}

static void configured(void)
{
	CHECK(reg(VIRTIO_MMIO_CONFIG) == config[0]);
	CHECK(virtio_read(&v, VIRTIO_MMIO_CONFIG + 5, 1) == 0x77);
	CHECK(virtio_read(&v, VIRTIO_MMIO_CONFIG + 6, 2) == 0x5566);
	/* Behind its end there is nothing, and nothing of ours. */
	CHECK(!virtio_read(&v, VIRTIO_MMIO_CONFIG + 7, 2));
	CHECK(!reg(VIRTIO_MMIO_CONFIG + 8) && !reg(0xffc));
	CHECK(!virtio_read(&v, VIRTIO_MMIO_CONFIG, 8));
	CHECK(!virtio_read(&v, VIRTIO_MMIO_MAGIC_VALUE, 1));
	set(VIRTIO_MMIO_CONFIG, 0);
	CHECK(reg(VIRTIO_MMIO_CONFIG) == config[0]);
}

static void queues(void)
{
	CHECK(agree(1, 0) == 11);
	CHECK(reg(VIRTIO_MMIO_QUEUE_NUM_MAX) == VIRTQ_MAX);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
	CHECK(!reg(VIRTIO_MMIO_QUEUE_READY));
	set(VIRTIO_MMIO_QUEUE_NUM, VIRTQ_MAX + 1);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
	CHECK(!reg(VIRTIO_MMIO_QUEUE_READY));
	set(VIRTIO_MMIO_QUEUE_NUM, NUM);
	set(VIRTIO_MMIO_QUEUE_DESC_HIGH, 5);
	set(VIRTIO_MMIO_QUEUE_DESC_LOW, 0x1000);
	set(VIRTIO_MMIO_QUEUE_AVAIL_LOW, 0x2000);
	set(VIRTIO_MMIO_QUEUE_USED_LOW, 0x3000);
	set(VIRTIO_MMIO_QUEUE_READY, 1);
	CHECK(reg(VIRTIO_MMIO_QUEUE_READY) == 1);
	CHECK(v.queue[0].desc == 0x500001000 && v.queue[0].avail == 0x2000 &&
	      v.queue[0].used == 0x3000 && v.queue[0].num == NUM);
	set(VIRTIO_MMIO_QUEUE_DESC_LOW, 0);
	CHECK(v.queue[0].desc == 0x500001000);
	/* Nothing is looked at before the driver has begun. */
	CHECK(set(VIRTIO_MMIO_QUEUE_NOTIFY, 0) == VIRTIO_NOTHING);
	set(VIRTIO_MMIO_STATUS, 15);
	CHECK(set(VIRTIO_MMIO_QUEUE_NOTIFY, 0) == VIRTIO_LOOKS);
	CHECK(set(VIRTIO_MMIO_QUEUE_NOTIFY, 1) == VIRTIO_NOTHING);
	CHECK(set(VIRTIO_MMIO_QUEUE_NOTIFY, UINT32_MAX) == VIRTIO_NOTHING);
	set(VIRTIO_MMIO_QUEUE_SEL, UINT32_MAX);
	CHECK(!reg(VIRTIO_MMIO_QUEUE_NUM_MAX) && !reg(VIRTIO_MMIO_QUEUE_READY));
	CHECK(set(VIRTIO_MMIO_QUEUE_READY, 0) == VIRTIO_NOTHING);
	set(VIRTIO_MMIO_QUEUE_SEL, 0);
	CHECK(set(VIRTIO_MMIO_QUEUE_READY, 0) == VIRTIO_STOPS);
	CHECK(!reg(VIRTIO_MMIO_QUEUE_READY) && !virtio_live(&v, 0));
	set(VIRTIO_MMIO_QUEUE_READY, 1);
}

static void interrupts(void)
{
	virtio_tell(&v);
	CHECK(high && reg(VIRTIO_MMIO_INTERRUPT_STATUS) == 1);
	virtio_broken(&v);
	CHECK(reg(VIRTIO_MMIO_INTERRUPT_STATUS) == 3);
	CHECK(reg(VIRTIO_MMIO_STATUS) == 0x4f);
	/* What is broken stays so until it is reset. */
	set(VIRTIO_MMIO_STATUS, 15);
	CHECK(reg(VIRTIO_MMIO_STATUS) == 0x4f && !virtio_live(&v, 0));
	set(VIRTIO_MMIO_INTERRUPT_ACK, 1);
	CHECK(high && reg(VIRTIO_MMIO_INTERRUPT_STATUS) == 2);
	set(VIRTIO_MMIO_INTERRUPT_ACK, 2);
	CHECK(!high);
	virtio_tell(&v);
	CHECK(set(VIRTIO_MMIO_STATUS, 0) == VIRTIO_STOPS && !high);
	CHECK(!reg(VIRTIO_MMIO_INTERRUPT_STATUS) && !v.queue[0].desc);
	CHECK(!reg(VIRTIO_MMIO_QUEUE_READY) && !virtio_agreed(&v, 32));
}

void virtio_tests(void)
{
	features();
	configured();
	queues();
	interrupts();
}
