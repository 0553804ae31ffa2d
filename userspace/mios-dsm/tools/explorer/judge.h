/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judging how a litmus test ended, for whatever ran it.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "world.h"

/* What the oracle says; the cuts are worked out when a death needs them. */
struct judge {
	const struct lit_set *allowed;
	struct lit_set *seen;
	struct lit_cuts cuts[1 << LIT_THREADS];
	bool have[1 << LIT_THREADS];
};

struct verdict {
	bool violated;
	bool limit;		/* instead: why says what was too much */
	char why[200];
	struct lit_outcome bad;	/* that TSO forbids, if bad_outcome */
	bool bad_outcome;
};

/* The first that is said counts. */
void verdict_violated(struct verdict *v, const char *why);
/* No verdict: the tool's limit, not the engine's fault. */
void verdict_limit(struct verdict *v, const char *why);
/* What the world says: either. */
void verdict_broken(struct verdict *v, const struct world *w);
/* Nothing more happens in s: notes its outcome and what is wrong with it. */
void judge_end(struct judge *j, struct world *w, struct world_state *s,
	       struct verdict *out);
void judge_free(struct judge *j);

#endif /* JUDGE_H */
