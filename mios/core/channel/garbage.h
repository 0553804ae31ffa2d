/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Garbage for tests: overwrites one structure of a ring area after the other,
 * with bytes, with wild words in the right places, and with wild words under a
 * checksum or a stamp that fits.  Portable like channel.h: the kernel's
 * scribble.c and selftests/unit/channel drive the same rounds.
 */
#ifndef _MIOS_CHANNEL_GARBAGE_H
#define _MIOS_CHANNEL_GARBAGE_H

#include "layout.h"

/* Structures of the area, in its order; each round picks one. */
enum mios_garbage {
	MIOS_GARBAGE_HEADER,
	MIOS_GARBAGE_DISTANCES,
	MIOS_GARBAGE_CPUS,
	MIOS_GARBAGE_DESC,
	MIOS_GARBAGE_SEALED_DESC,	/* its checksum fits */
	MIOS_GARBAGE_PENDING,
	MIOS_GARBAGE_BEAT,
	MIOS_GARBAGE_ANCHOR,
	MIOS_GARBAGE_ACK,		/* and echoes */
	MIOS_GARBAGE_VIEW,
	MIOS_GARBAGE_CHAN,
	MIOS_GARBAGE_SLOT,
	MIOS_GARBAGE_SEALED_SLOT,	/* its stamp fits, at the head */
	MIOS_GARBAGE_LOG,		/* of instance 0 */
	MIOS_GARBAGE_KINDS
};

/**
 * mios_garbage_round() - overwrite something
 * @area: shared memory
 * @g: where things are in it
 * @seed: state of the generator
 * @body: private memory to work with
 *
 * Returns what it was, enum mios_garbage.
 */
u32 mios_garbage_round(void *area, const struct mios_geometry *g, u64 *seed,
		       struct mios_desc_body *body);

/* 31 bits that look random. */
u32 mios_garbage_random(u64 *seed);

/* Overwrite @size bytes of shared memory, some words or all. */
void mios_garbage_write(void *at, u32 size, u64 *seed);

#endif /* _MIOS_CHANNEL_GARBAGE_H */
