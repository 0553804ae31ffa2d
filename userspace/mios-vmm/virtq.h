/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A split queue of virtio 1.x, as the device sees it.  All of it lies in the
 * guest's memory and is the guest's to write at any time: each word is read
 * once, and checked before it is used.  Who calls is the queue's own thread, as
 * each access may wait for a page.
 */
#ifndef VIRTQ_H
#define VIRTQ_H

#include <stdbool.h>
#include <stdint.h>

#define VIRTQ_MAX	128	/* entries of a queue, and parts of a chain */

/* As the driver has set it up. */
struct virtq_place {
	uint32_t num;
	bool ready;
	uint64_t desc, avail, used;
};

struct virtq {
	struct virtq_place place;
	bool indirect;		/* that was agreed upon */
	uint16_t next, done;	/* chains taken, and given back */
};

/* What the device may read of one request, then what it may write. */
struct virtq_chain {
	uint16_t head;
	uint32_t count, reads;	/* parts, and how many of them are to be read */
	uint64_t in, out;	/* bytes to read, and to write */
	struct virtq_part {
		uint64_t at;
		uint32_t len;
	} part[VIRTQ_MAX];
};

enum virtq_got { VIRTQ_NONE, VIRTQ_CHAIN, VIRTQ_BROKEN };

/* False: it is not where a queue can be. */
bool virtq_begin(struct virtq *q, const struct virtq_place *place,
		 bool indirect);
enum virtq_got virtq_next(struct virtq *q, struct virtq_chain *c);
/* Done with it, having written so many bytes. */
void virtq_done(struct virtq *q, const struct virtq_chain *c, uint32_t wrote);
/* The driver wants to hear of what is done. */
bool virtq_interrupts(const struct virtq *q);

/* Bytes of what is to be read, or to be written, from off on; false: not so many. */
bool virtq_read(const struct virtq_chain *c, uint64_t off, void *to,
		uint64_t len);
bool virtq_write(const struct virtq_chain *c, uint64_t off, const void *from,
		 uint64_t len);

#endif /* VIRTQ_H */
