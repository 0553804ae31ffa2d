// SPDX-License-Identifier: GPL-2.0
/*
 * The network's device: frames out and in over a wire of the test's, one that
 * comes before there is a place for it, one that fits into none; what a driver
 * may not send.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../userspace/mios-vmm/net.h"
#include "driver.h"

#define AT		(VMM_VIRTIO + 3 * VMM_PAGE)
#define HEADER		12
#define PLACE		1526		/* the standard's, for one frame */
#define FRAME		60

static int wire[2];
static uint8_t frame[2048], bytes[2048];

static void frame_made(uint8_t first)
{
	for (uint32_t i = 0; i < sizeof(frame); i++)
		frame[i] = first + i;
}

/* The next frame that the guest gets, into a place of so many bytes. */
static void place_given(uint32_t len)
{
	desc(DESC, 1, DATA, len, WRITE, 0);
	offer_in(0, 1);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
}

static void received(uint16_t count)
{
	until_set(AT, VIRTIO_MMIO_INTERRUPT_STATUS, 1);
	device_set(AT + VIRTIO_MMIO_INTERRUPT_ACK, 1);
	CHECK(word(USED + 2, 2) == count);
	CHECK(word(USED + 4 + (count - 1) * 8, 8) ==
	      (1 | (uint64_t)(HEADER + FRAME) << 32));
	get(DATA, bytes, HEADER + FRAME);
	CHECK(!memcmp(bytes, "\0\0\0\0\0\0\0\0\0\0\1\0", HEADER));
	CHECK(!memcmp(bytes + HEADER, frame, FRAME));
}

static void receives(void)
{
	frame_made(7);
	/* One byte more than fits into a place as the standard wants it. */
	CHECK(send(wire[1], frame, PLACE - HEADER + 1, 0) == PLACE - HEADER + 1);
	CHECK(send(wire[1], frame, FRAME, 0) == FRAME);
	place_given(PLACE);
	received(1);
	place_given(PLACE);
	frame_made(99);
	CHECK(send(wire[1], frame, FRAME, 0) == FRAME);
	received(2);
}

/* The other queue goes on where it is when one is taken away. */
static void one_taken(void)
{
	device_set(AT + VIRTIO_MMIO_QUEUE_SEL, 1);
	device_set(AT + VIRTIO_MMIO_QUEUE_READY, 0);
	CHECK(!device_reg(AT + VIRTIO_MMIO_QUEUE_READY));
	place_given(PLACE);
	frame_made(120);
	CHECK(send(wire[1], frame, FRAME, 0) == FRAME);
	received(3);
	device_set(AT + VIRTIO_MMIO_QUEUE_READY, 1);
}

static void sends(void)
{
	frame_made(50);
	put(DATA + HEADER, frame, FRAME);
	desc(DESC + QUEUE, 0, DATA, HEADER + 5, NEXT, 4);
	desc(DESC + QUEUE, 4, DATA + HEADER + 5, FRAME - 5, 0, 0);
	offer_in(1, 0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 1);
	CHECK(recv(wire[1], bytes, sizeof(bytes), 0) == FRAME);
	CHECK(!memcmp(bytes, frame, FRAME));
	until_set(AT, VIRTIO_MMIO_INTERRUPT_STATUS, 1);
	CHECK(word(USED + QUEUE + 2, 2) == 1 && !word(USED + QUEUE + 8, 4));
}

static void again(void)
{
	device_set(AT + VIRTIO_MMIO_STATUS, 0);
	memory_begin();
	driver_begins(AT, 2);
}

static void nonsense(void)
{
	/* Less than what is before a frame. */
	desc(DESC + QUEUE, 0, DATA, HEADER - 1, 0, 0);
	offer_in(1, 0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 1);
	until_set(AT, VIRTIO_MMIO_STATUS, 0x40);
	again();
	/* More than any frame has. */
	desc(DESC + QUEUE, 0, 0, HEADER + PIECE, NEXT, 1);
	desc(DESC + QUEUE, 1, 0, 1, 0, 0);
	offer_in(1, 0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 1);
	until_set(AT, VIRTIO_MMIO_STATUS, 0x40);
	again();
	/* A place too small for the frame that waits, which the next one gets. */
	frame_made(3);
	CHECK(send(wire[1], frame, FRAME, 0) == FRAME);
	place_given(HEADER + FRAME - 1);
	until_set(AT, VIRTIO_MMIO_STATUS, 0x40);
	again();
	place_given(HEADER + FRAME);
	received(1);
}

void net_tests(void)
{
	static const uint8_t mac[NET_MAC] = { 2, 4, 6, 8, 10, 12 };

	memory_begin();
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, wire));
	CHECK(!net_start(3, wire[0], mac));
	CHECK(device_reg(AT + VIRTIO_MMIO_DEVICE_ID) == 1);
	CHECK(device_reg(AT + VIRTIO_MMIO_CONFIG) == 0x08060402);
	driver_begins(AT, 2);
	receives();
	one_taken();
	sends();
	nonsense();
	/* One thread waits for a frame, the other one for the guest. */
	workers_stop();
}
