/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walking every state that a litmus test can reach on the engine.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "judge.h"

struct explored {
	uint64_t states, moves;
	int depth;
	bool complete;		/* not cut by the limit */
	struct verdict v;
};

/*
 * The first end that the judge finds wrong ends the walk and, if trace is
 * given, is printed step by step.
 */
int explore(struct world *w, struct judge *j, uint64_t limit, FILE *trace,
	    struct explored *out);

/* One configuration after the other; false when there are no more. */
struct plan {
	const struct lit_test *t;
	int protocol, order;
	bool mixed;
	bool thorough;
	bool spare;		/* one node more, which runs no thread */
	/* Chosen: */
	int place, gap, owners, modes, share;
};

bool plan_first(struct plan *p, struct world *w);
bool plan_next(struct plan *p, struct world *w);
void plan_name(const struct world *w, char *out, size_t size);

#endif /* EXPLORE_H */
