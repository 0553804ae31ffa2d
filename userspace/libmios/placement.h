/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The task allocator: decides which instance each task of a job starts on.
 * A pure function of what it is given; each kernel then schedules its own.
 */
#ifndef LIBMIOS_PLACEMENT_H
#define LIBMIOS_PLACEMENT_H

#include "libmios.h"

#define MIOS_MAX_TASKS	16384

/* What is told apart by the load of instances, and by CPUs that tasks are bound to. */
enum placement_cpus {
	PLACEMENT_IDLE_FIRST,
	PLACEMENT_IDLE_ONLY,
	PLACEMENT_ALL_ALIKE,
};

struct placement_request {
	unsigned int tasks;
	unsigned int cpus_per_task;
	unsigned int per_instance;	/* at most so many on each, 0: any */
	uint64_t on;			/* bit per instance, 0: all of the ring */
	int ring;
	int self;			/* the caller's instance */
	bool oversubscribe;
	bool threads;			/* what the tasks are called */
	enum placement_cpus cpus;
};

struct placement {
	const struct mios_instance *inst;
	unsigned int bound;	/* CPUs that other jobs' tasks are bound to */
	bool silent;		/* that it did not say: only if it is named */
	unsigned int taken;	/* CPUs that teams of this job have got before */
	unsigned int free;	/* tasks that find idle CPUs */
	unsigned int room;	/* tasks that find a CPU of their own */
	unsigned int tasks;	/* decided */
	unsigned int order;	/* taken as the n-th, from 1 */
	unsigned int distance;	/* to those taken before, summed up */
};

/*
 * @places: one per instance of @list, with inst, bound and silent filled in; those
 * that may not be used are left with room 0.  -errno leaves a line in @why.
 */
int placement_decide(const struct placement_request *rq,
		     struct placement *places, int n, char *why, size_t size);

/*
 * So many teams of rq->tasks threads: @threads has @n for each, one per place.  Of the
 * places themselves tasks is all teams' then, order and distance the last one's.
 */
int placement_decide_teams(const struct placement_request *rq, unsigned int teams,
			   struct placement *places, int n, unsigned int *threads,
			   char *why, size_t size);

#endif /* LIBMIOS_PLACEMENT_H */
