/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The explorer: every state that a few tasks can reach, which run the real code
 * and may be interrupted, or die, before any access to shared memory.  A state
 * is the world's memory and each task's stack; one that has been seen before is
 * not gone through again, so there is no bound to how often tasks interrupt
 * each other.
 */
#ifndef _EXPLORE_H
#define _EXPLORE_H

#include "test.h"

#define TASKS_MAX	12
#define NOBODY		~0u

/**
 * struct scenario - what is explored
 * @name:	for a person
 * @setup:	puts the world into its first state, and adds tasks
 * @died:	a task of this instance has just died, and so all of its tasks
 *		have; adds who buries it
 * @end:	looks at what has become of it, when all tasks have ended
 * @all:	the same, when every state has been seen; NULL: nobody does
 * @rests:	nobody who is left can go on: may that be? NULL: no
 * @deaths:	how many instances may die
 * @own:	what else it has to know
 */
struct scenario {
	const char *name;
	void (*setup)(const struct scenario *scenario);
	void (*died)(u32 instance);
	void (*end)(void);
	void (*all)(const struct scenario *scenario);
	bool (*rests)(void);
	u32 deaths;
	const void *own;
};

/* All that tasks share, and all that checks remember: part of the state. */
void explore_world(void *world, size_t size);

/* One more task. */
void explore_task(void (*run)(u32 instance), u32 instance);

/* From a task: which one is it? */
u32 explore_self(void);

/* From a task: another state for each answer below @options. */
u32 explore_choose(u32 options);

/* It cannot go on before *word is not @value. */
void explore_until_changed(const u64 *word, u64 value);

/* How tasks wait for a lock or a barrier: parts of a struct mios_lock_wait. */
void explore_pause(void *ctx, u64 *word, u64 value);

/* As a futex: unless the lower half is not @value, until woken. */
void explore_sleep(void *ctx, u64 *word, u32 value);
void explore_wake(void *ctx, u64 *word);

/* One of @leaves, as bits, may find once that it is late: part of the state. */
bool explore_late(u32 who, u32 leaves, u32 *was_late);

/**
 * struct entry - in a list of scenarios that differ in little
 * @name, @deaths, @own: of the scenario
 * @deep:	not for the gate
 */
struct entry {
	const char *name;
	bool deep;
	u32 deaths;
	const void *own;
};

/* Those of a list that are @deep, or those that are not; each is said. */
void explore_list(const struct scenario *common, const struct entry *list,
		  u32 nr, bool deep);

/* How many states it had; more than 3/4 of 2^@states_shift are a failure. */
unsigned long explore(const struct scenario *scenario, u32 states_shift);

#endif
