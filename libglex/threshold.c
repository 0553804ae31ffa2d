// SPDX-License-Identifier: GPL-2.0
/*
 * Up to how many bytes a message goes in packets: these are copied twice, and looked
 * at, but need no system call.  Measured when the first device is opened, on this
 * process itself, or said by GLEX_THRESHOLD; then it stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coll.h"

#define LEAST		128u
#define MOST		65536u
#define ROUNDS		9u
#define PACKETS		16u

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t limit;
static glex_ret_t refused;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* --- what costs how much, ns: the least of some rounds, which nothing disturbed */

/* PACKETS through a queue as they go through one. */
static uint64_t packets_ns(struct glex_ep *ep)
{
	struct coll_packet packet = { .way = COLL_FAST };
	uint64_t begin = now_ns(), position;
	struct mp_slot *slot;
	uint32_t i;

	for (i = 0; i < PACKETS; i++) {
		packet.check = coll_check_of(&packet);
		slot = queue_claim(&ep->writer, &ep->file, &ep->file.mps, &position);
		if (!slot)
			return UINT64_MAX;
		memcpy(slot->data, &packet, sizeof(packet));
		queue_publish(&ep->writer, &ep->file, slot, position);
		slot = reader_look(&ep->mps, ep->mps.head);
		if (!slot)
			return UINT64_MAX;
		memcpy(&packet, slot->data, sizeof(packet));
		reader_free(&ep->mps, ep->mps.head + 1);
		packet.at += packet.check != coll_check_of(&packet);
	}
	return now_ns() - begin;
}

static uint64_t copy_ns(uint8_t *to, uint8_t *from, uint32_t len)
{
	uint64_t least = UINT64_MAX, begin, took;
	uint32_t i;

	for (i = 0; i < ROUNDS; i++) {
		begin = now_ns();
		if (memory_copy(GLEX_ERR_OP_RDMA_GET, (uint64_t)to, len, getpid(),
				(uint64_t)from))
			return UINT64_MAX;
		took = now_ns() - begin;
		least = took < least ? took : least;
	}
	return least;
}

/* Of an endpoint that nobody sees but this. */
static uint64_t packet_ns(void)
{
	uint64_t least = UINT64_MAX, took;
	struct glex_ep *ep = calloc(1, sizeof(*ep));
	struct header *header = calloc(1, sizeof(*header));
	uint8_t *slots = calloc(PACKETS, sizeof(struct mp_slot));
	uint32_t i;

	if (ep && header && slots) {
		ep->file.header = header;
		ep->file.mps = (struct queue){
			.which = MPS, .slots = slots, .size = sizeof(struct mp_slot),
			.capacity = PACKETS, .tail = &header->mp_tail,
		};
		ep->writer = queue_writer(ep->addr, &header->intent);
		ep->mps.queue = &ep->file.mps;
		queue_empty(&ep->file.mps);
		for (i = 0; i < ROUNDS; i++) {
			took = packets_ns(ep);
			least = took < least ? took : least;
		}
	}
	free(slots);
	free(header);
	free(ep);
	return least / PACKETS;
}

/*
 * A copy takes a packet that says where, and one that it is done.  Where nothing may
 * be copied (seccomp) packets are all there is.
 */
static uint32_t measure(void)
{
	uint64_t packet = packet_ns(), copy, packets;
	uint8_t *memory = calloc(2, MOST);
	uint32_t len = LEAST;

	while (memory && len < MOST) {
		copy = copy_ns(memory, memory + MOST, 2 * len);
		packets = (2 * len + COLL_DATA - 1) / COLL_DATA;
		if (copy != UINT64_MAX && packets * packet > copy + 2 * packet)
			break;
		len *= 2;
	}
	free(memory);
	return len;
}

/* --- */

static void set(void)
{
	const char *word = getenv("GLEX_THRESHOLD");
	unsigned long bytes;
	char *end;

	if (!word) {
		limit = measure();
		return;
	}
	bytes = strtoul(word, &end, 10);
	if (*word >= '0' && *word <= '9' && !*end && bytes <= MOST) {
		limit = bytes;
		return;
	}
	fprintf(stderr, "libglex: GLEX_THRESHOLD=%s: a number of bytes up to %u is wanted\n",
		word, MOST);
	refused = GLEX_INVALID_PARAM;
}

glex_ret_t threshold_set(void)
{
	pthread_once(&once, set);
	return refused;
}

uint32_t threshold(void)
{
	return limit;
}

glex_ret_t glex_query_threshold(glex_device_handle_t dev, uint32_t *bytes)
{
	if (!dev || !bytes)
		return GLEX_INVALID_PARAM;
	*bytes = threshold();
	return GLEX_SUCCESS;
}
