/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a register lock keeps in shared memory beside its register: who has it,
 * and who is at it.  One format for kernels and processes, which all map it.
 *
 *	header	| magic, version, seats	|	a cache line each
 *		| owner, died		|
 *	seat 0	| word			|
 *	...
 */
#ifndef _MIOS_REGISTER_FORMAT_H
#define _MIOS_REGISTER_FORMAT_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif
#include <linux/types.h>

#define MIOS_REGISTER_MAGIC	0x5253494745524dULL
#define MIOS_REGISTER_VERSION	1
#define MIOS_REGISTER_LINE	64
#define MIOS_REGISTER_SEATS_MAX	1024

/* Of a seat's word: state, epoch, and how often it has been at the register. */
#define MIOS_REGISTER_STATE_BITS	2
#define MIOS_REGISTER_EPOCH_BITS	20

enum mios_register_state {
	MIOS_REGISTER_IDLE = 0,
	MIOS_REGISTER_BUSY,	/* tries to take it, has it, or gives it back */
	MIOS_REGISTER_DEAD,	/* died so, and nobody knows yet at which of these */
};

/**
 * struct mios_register_seat - a seat (whoever has it; when it is dead, others)
 * @word:	what it does
 * @share:	0, or 1 + the epoch in which it has a share of the lock
 * @pad:	nothing else in its cache line
 */
struct mios_register_seat {
	__u64 word;
	__u64 share;
	__u64 pad[6];
};

/**
 * struct mios_register_header - what is there
 * @magic:	MIOS_REGISTER_MAGIC
 * @version:	MIOS_REGISTER_VERSION
 * @nr_seats:	how many
 * @pad:	a cache line
 * @owner:	lowest 16 bits: 0, or seat + 1 of who has the lock; above them how
 *		often this has changed (who has the register)
 * @died:	somebody has died with it, and nobody has been told yet (the same)
 * @shares:	somebody may have a share (the same)
 * @pad2:	a cache line
 * @seat:	the seats
 */
struct mios_register_header {
	__u64 magic;
	__u32 version;
	__u32 nr_seats;
	__u64 pad[6];
	__u64 owner;
	__u32 died;
	__u32 shares;
	__u32 pad2[12];
	struct mios_register_seat seat[];
};

/* Seats of each instance, its kernel's the first; the others are programs'. */
#define MIOS_REGISTER_EACH	16

/**
 * struct mios_register_info - what is read from /dev/mios_register
 * @seat:	of this open file
 * @epoch:	of that seat
 * @at:		the register, in the first page that is mapped
 * @flush:	one there that is read without effect, after a write
 * @size:	bytes to map from the second page on: struct mios_register_header
 */
struct mios_register_info {
	__u32 seat;
	__u32 epoch;
	__u32 at;
	__u32 flush;
	__u64 size;
};

static_assert(sizeof(struct mios_register_info) == 24);
static_assert(sizeof(struct mios_register_seat) == MIOS_REGISTER_LINE);
static_assert(sizeof(struct mios_register_header) == 2 * MIOS_REGISTER_LINE);
static_assert(offsetof(struct mios_register_header, owner) ==
	      MIOS_REGISTER_LINE);

#endif /* _MIOS_REGISTER_FORMAT_H */
