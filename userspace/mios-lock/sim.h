/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a lock costs so many contenders, by a stated model: every contender has a
 * cache of its own, and whatever it does with a line that others have takes time
 * and a message, or many.
 */
#ifndef _MIOS_LOCK_SIM_H
#define _MIOS_LOCK_SIM_H

#include "locks.h"

/**
 * struct sim_costs - the model, in nanoseconds
 * @hit:	an access to what the own cache has, a change: alone
 * @transfer:	a line comes from memory or from another cache, or may be
 *		changed from now on
 * @occupancy:	until memory may send the same line to the next one who reads
 * @invalidate:	more for each copy that a change takes away
 * @reg:	an uncached read of the register, there and back
 * @service:	what the register needs for each read or write, one at a time
 * @ipi:	from waking a sleeper until it runs
 */
struct sim_costs {
	u64 hit, transfer, occupancy, invalidate, reg, service, ipi;
};

/**
 * struct sim_config - a run
 * @rounds:	how often the lock is had while counting
 * @hold:	how long it is held, between half and one and a half of that
 * @think:	likewise, before it is wanted again
 * @seed:	of these times
 */
struct sim_config {
	enum lock_kind kind;
	u32 contenders;
	u64 rounds, hold, think, seed;
	struct sim_costs cost;
};

/* What the messages were; see world.c. */
struct sim_counts {
	u64 transfers, invalidations, register_reads, register_writes, ipis;
};

/**
 * struct sim_result - what came out
 * @time:	in all, nanoseconds
 * @held:	of that, while somebody held the lock
 * @handovers:	from one to another
 * @counts:	in all
 */
struct sim_result {
	u64 time, held, handovers;
	struct sim_counts counts;
};

/*
 * 0; -EILSEQ: two had the lock at a time; -EDEADLK: nobody can go on; -ENOMEM.
 */
int sim_run(const struct sim_config *config, struct sim_result *result);

/* world.c, for sim_run(): memory for locks, each byte 0 and in no cache. */
void *world_make(const struct sim_costs *cost, size_t bytes);
void world_free(void);
extern struct sim_counts world_counts;

#endif /* _MIOS_LOCK_SIM_H */
