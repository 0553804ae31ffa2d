/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios-lock: a barrier with a reduction in memory that processes share, also
 * processes of different instances in a file of miosfs.  If a member dies all
 * others are told in the same round.  See mios_barrier(3).
 *
 * Calls return 0 or -errno.
 */
#ifndef MIOS_BARRIER_H
#define MIOS_BARRIER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MIOS_BARRIER_ALIGN	64

enum mios_barrier_op {
	MIOS_BARRIER_SUM = 0,
	MIOS_BARRIER_MIN,
	MIOS_BARRIER_MAX,
	MIOS_BARRIER_AND,
	MIOS_BARRIER_OR,
};

enum mios_barrier_type {
	MIOS_BARRIER_INT32 = 0,
	MIOS_BARRIER_UINT32,
	MIOS_BARRIER_INT64,
	MIOS_BARRIER_UINT64,
	MIOS_BARRIER_DOUBLE,	/* no AND, no OR */
};

/* A member's view; in its own memory, all of it the library's. */
struct mios_barrier_seat {
	unsigned long long opaque[16];
};

/* Bytes of memory for so many members, 1 to 1024; 0: not so many. */
size_t mios_barrier_size(unsigned int members);

/* Makes a barrier; the caller is alone. */
int mios_barrier_init(void *memory, size_t size, unsigned int members);

/* The calling thread is this member, from 0, until it detaches. */
int mios_barrier_attach(struct mios_barrier_seat *seat, void *memory,
			size_t size, unsigned int member);
int mios_barrier_detach(struct mios_barrier_seat *seat);

/* Wait for all.  -EHOSTDOWN: a member has died, or has detached. */
int mios_barrier_wait(struct mios_barrier_seat *seat);

/* The same, and *value becomes what all values make together. */
int mios_barrier_reduce(struct mios_barrier_seat *seat,
			enum mios_barrier_type type, enum mios_barrier_op op,
			void *value);

#ifdef __cplusplus
}
#endif

#endif /* MIOS_BARRIER_H */
