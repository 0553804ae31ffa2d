/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A litmus test run many times, each time with other choices from the seed:
 * on the simulator's timed network, or as a walk through the explorer's
 * states.
 */
#ifndef RUNS_H
#define RUNS_H

#include "explore.h"

/*
 * A death that is drawn happens once in so many draws: many moves come
 * before it, as it can be drawn at any time.
 */
#define RUNS_DEATH	8

struct sim_config;

struct runs {
	const struct lit_test *t;
	struct judge *judge;
	u64 runs, seed;
	int protocol, order;
	bool spare;
	struct world world;	/* options; the rest is the plan's */
	/* walk.c has no network; cmd_litmus.c gives sim_litmus.c one. */
	const struct sim_config *net;
	u64 done, events;
	bool trace;		/* walk: print the way to a violation */
	bool tell;		/* this run */
	struct verdict v;
	char where[200];
};

typedef int runs_one(struct runs *r, struct world *w, struct world_state *s,
		     u64 seed);

/* All runs, or as many as go well; 0, or 2 after a line on stderr. */
int runs_all(struct runs *r, runs_one *one);

runs_one walk_one;

#endif /* RUNS_H */
