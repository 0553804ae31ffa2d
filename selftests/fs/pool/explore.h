/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The explorer: runs a scenario once for every order in which its tasks can
 * reach shared memory (with so many preemptions at most), and for every place
 * where one of their instances can die.
 */
#ifndef _EXPLORE_H
#define _EXPLORE_H

#include "test.h"

#define TASKS_MAX	4
#define HOT_MAX		48

typedef void (*explore_step)(void);

/**
 * struct scenario - what is explored
 * @name:	for a person
 * @setup:	puts memory into the state that all begin from
 * @task:	what runs at the same time
 * @instance:	of each task
 * @deaths:	how many instances may die
 * @bury:	run by a task of its own after a death, as others go on
 * @end:	looks at what has become of it
 */
struct scenario {
	const char *name;
	explore_step setup;
	explore_step task[TASKS_MAX];
	u32 instance[TASKS_MAX];
	unsigned int deaths;
	void (*bury)(u32 dead);
	explore_step end;
};

/* The words that tasks of the scenario share: only these are explored. */
void explore_hot(const volatile void *word);

/* The scenarios': may it be written, though nobody else looks there by then? */
bool explore_is_cold(const volatile void *address);

bool explore_is_dead(u32 instance);

/* The task cannot go on before another one has: that costs no preemption. */
void explore_pause(void);

void explore(const struct scenario *scenario, unsigned int preemptions);

#endif
