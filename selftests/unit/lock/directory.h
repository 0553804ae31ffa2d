/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world that locks run on when they are counted (counts.c): threads, and a
 * directory that says who has which cache line.  What a machine would send a
 * message for takes the thread as long as the model says, times SCALE, on the
 * host's clock: so threads meet at the lock as they would there, and two CPUs are
 * enough for all of them, which mostly sleep.  Nothing orders them but the host's
 * scheduler, its futexes, and the home of each line, which serves one request after
 * the other; and nothing of the simulator is used.
 */
#ifndef _DIRECTORY_H
#define _DIRECTORY_H

#include "test.h"

/* As mios-lock(1) has them, in nanoseconds. */
#define HIT		2
#define TRANSFER	200
#define OCCUPANCY	20
#define INVALIDATE	10
#define REGISTER	1000
#define SERVICE		20
#define IPI		2000
#define HOLD		200
#define SCALE		5000ll

#define THREADS_MAX	16
#define LINES_MAX	64
#define NOBODY		(~0u)

/* What may be accessed, each byte 0. */
extern u8 directory_memory[LINES_MAX * MIOS_LOCK_LINE];

/* Since directory_counting(). */
extern struct directory_counts {
	unsigned long transfers, invalidations, reads, ipis;
} directory_counts;

/*
 * Before anything else; uneven: what takes time takes something between nothing
 * and twice as long.
 */
void directory_make(bool uneven);

/* The calling thread is one; others, which make a lock, cost nothing. */
void directory_join(u32 number, u64 *seed);

/* Something that is no access; and the thread's last one is over. */
void directory_takes(long long ns);
void directory_done(void);
void directory_counting(void);

#endif
