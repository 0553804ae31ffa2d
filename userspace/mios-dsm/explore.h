/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walking every state that a litmus test can reach on the engine.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "world.h"

struct explored {
	uint64_t states, moves;
	int depth;
	bool complete;		/* not cut by the limit */
	bool violated;
	char why[200];
	struct lit_outcome bad;	/* an outcome that TSO forbids */
	bool bad_outcome;
};

/*
 * Adds the outcomes to seen.  allowed: what TSO permits; the first outcome
 * beyond it ends the walk and, if trace is given, is printed step by step.
 */
int explore(struct world *w, const struct lit_set *allowed,
	    struct lit_set *seen, uint64_t limit, FILE *trace,
	    struct explored *out);

/* One configuration after the other; false when there are no more. */
struct plan {
	const struct lit_test *t;
	int protocol, order;
	bool mixed;
	bool thorough;
	unsigned int at;
	/* Chosen: */
	int place, owners, modes, share, extra;
};

bool plan_first(struct plan *p, struct world *w);
bool plan_next(struct plan *p, struct world *w);
void plan_name(const struct world *w, char *out, size_t size);

#endif /* EXPLORE_H */
