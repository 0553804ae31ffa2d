// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm litmus --on walk: long random walks through the states that the
 * explorer walks exhaustively, for tests that are too large for it.  Called
 * by runs.c, once per walk.
 */
#include "../../../libmios/cli.h"
#include "../../../libmios/random.h"
#include "runs.h"

#define STEPS_MAX	100000

/* To the end; a loop in the test may keep it from ending. */
int walk_one(struct runs *r, struct world *w, struct world_state *s, u64 seed)
{
	struct world_move move[W_MOVES], next;
	int count;

	if (world_init(w, s))
		return cli_error("%s: %s", w->t->name, w->broken);
	for (int steps = 0; steps < STEPS_MAX; steps++) {
		count = world_moves(w, s, move, W_MOVES);
		if (!count) {
			judge_end(r->judge, w, s, &r->v);
			return 0;
		}
		do
			next = move[random_next(&seed) % count];
		while (next.kind == W_DIE && random_next(&seed) % RUNS_DEATH);
		if (r->tell)
			world_print(stdout, w, s, next);
		world_move(w, s, next);
		r->events++;
		if (*w->broken) {
			verdict_broken(&r->v, w);
			return 0;
		}
	}
	if (lit_loops(w->t))
		verdict_limit(&r->v, "a loop has not ended after 100000 steps");
	else
		verdict_violated(&r->v, "no end after 100000 steps");
	return 0;
}
