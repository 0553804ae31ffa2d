/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process of instance 0, whose memory instance 1 copies from: watched.c and copy.c
 * of mios/memory/vm/ themselves, once for each of three instances, on a model of
 * memory in which a store may come late.
 */
#ifndef _MODEL_H
#define _MODEL_H

#include "../lock/explore.h"

#include <mios/layout.h>

/* As struct mios_copies, but smaller: it is part of each state. */
#undef MIOS_COPY_SLOTS
#define MIOS_COPY_SLOTS	2u
#undef MIOS_AREA_CPUS
#define MIOS_AREA_CPUS	8u
#define mios_copies	model_copies
struct mios_copies {
	u64 generation[MIOS_COPY_SLOTS];
	u32 hazard[MIOS_AREA_CPUS];
};

#define NR		3	/* instances */
#define PAGES		3	/* of memory; the process begins with page 0 */
#define TASKS		8

enum owner { NOBODYS, PROCESS, OTHERS };

/* What is broken on purpose besides the knobs of watched.c and copy.c. */
enum model_break {
	NO_COPY_BARRIER,
	NO_CHANGE_BARRIER,
	LATE_GENERATION,		/* pages are looked up first */
	NO_TOLD,			/* who is told is not remembered */
	NO_LEAVE,			/* recovery waits for no copier */
	EARLY_DEATH,			/* who copies is called dead before the fence */
	BREAKS
};

extern bool model_broken[BREAKS];

/* A store that its task holds back from the others. */
struct held {
	void *where;
	u64 value;
	size_t size;
};

/**
 * struct world - all that is shared, and what checks remember
 * @copies:	the area's words of each instance
 * @mapped:	page of the process, PAGES: none
 * @owner:	of each page, enum owner
 * @over:	the instance is fenced, and others may know it
 * @answered:	how many answers there were
 * @slot, @generation, @page: the last one
 * @started:	there are tasks: until then nobody holds anything back
 */
struct world {
	struct mios_copies copies[NR];
	struct held held[TASKS];
	u64 mapped;
	u64 owner[PAGES];
	u64 over[NR];
	u64 answered;
	u32 slot, page;
	u64 generation;
	u64 started;
};

extern struct world w;

/**
 * struct instance - watched.c and copy.c, compiled for one
 * @watch:	watch the process, at the beginning
 * @answer:	where it begins to look pages up; -errno
 * @begins, @ends: a change of its memory
 * @copy:	copy from the page that was told; -ESTALE
 * @leave:	wait until nobody copies from that instance
 */
struct instance {
	void (*watch)(void);
	int (*answer)(u32 to, u32 *slot, u64 *generation);
	void (*begins)(void);
	void (*ends)(void);
	int (*copy)(u32 from, u32 slot, u64 generation, u32 page);
	void (*leave)(u32 instance);
};

extern const struct instance *const instances[NR];

/* memory.c: how a task's loads, stores and barriers meet those of others */
void model_access(void);
void model_hold(void *where, u64 value, size_t size);
void model_barrier(u32 self);

/* scenarios.c */
void model_read(u32 page);

struct play {
	u32 changes, answers, copies, copiers;
};

void scenario_setup(const struct scenario *scenario);
void scenario_died(u32 instance);
void scenario_end(void);
void scenario_all(const struct scenario *scenario);
bool scenario_rests(void);

#endif
