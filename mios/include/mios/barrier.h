/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A barrier with a reduction in memory that several kernels, or several
 * processes, share:
 *
 *   header    | nodes of the tree, from its leaves | members |
 *   128 bytes | 64 bytes each: a cache line        | 64 each |
 *
 * Each member belongs to a leaf; the last who arrives at a node goes on to its
 * parent, and the last of all says that the round is over.
 */
#ifndef _MIOS_BARRIER_LAYOUT_H
#define _MIOS_BARRIER_LAYOUT_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif
#include <linux/types.h>

#define MIOS_BARRIER_MAGIC	0x52454952524142ULL	/* "BARRIER" */
#define MIOS_BARRIER_VERSION	1
#define MIOS_BARRIER_MEMBERS	1024u
#define MIOS_BARRIER_FAN_MAX	64u

/* Set in ->done for ever: a member died. */
#define MIOS_BARRIER_BROKEN	1ull
/* Set in ->go by its member: it has to be woken. */
#define MIOS_BARRIER_SLEEPS	1ull

/**
 * struct mios_barrier_line - a node, or a member
 * @value:	of those below it, or its own (its last arrival; the member)
 * @word:	of a node, how many have arrived, ever (everybody); of a member,
 *		how often it was told to look, times 2, and whether it sleeps
 *		(everybody)
 * @pad:	nothing else in its cache line
 */
struct mios_barrier_line {
	__u64 value;
	__u64 word;
	__u64 pad[6];
};

static_assert(sizeof(struct mios_barrier_line) == 64);

/**
 * struct mios_barrier_header - what the barrier is (who makes it)
 * @magic:	MIOS_BARRIER_MAGIC, released last
 * @version:	MIOS_BARRIER_VERSION
 * @size:	bytes of this structure
 * @nr_members:	how many have to arrive
 * @fan:	how many arrive at a node
 * @pad:	a cache line
 * @done:	rounds that are over, times 2, and MIOS_BARRIER_BROKEN (everybody)
 * @result:	of the last one (who ended it)
 * @pad_done:	a cache line
 * @line:	nodes, then members
 */
struct mios_barrier_header {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 nr_members;
	__u32 fan;
	__u64 pad[5];
	__u64 done;
	__u64 result;
	__u64 pad_done[6];
	struct mios_barrier_line line[];
};

static_assert(offsetof(struct mios_barrier_header, done) == 64);
static_assert(sizeof(struct mios_barrier_header) == 128);

#endif /* _MIOS_BARRIER_LAYOUT_H */
