// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm litmus --on sim: long random walks through the states that the
 * explorer walks exhaustively, for tests that are too large for it.  One
 * seed gives one walk; a violation names the seed that shows it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "simlit.h"

#define MOVES_MAX	64

static uint64_t random_next(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void violated(struct simlit *sl, struct world *w, const char *why)
{
	if (sl->worst.violated)
		return;
	sl->worst.violated = true;
	snprintf(sl->worst.why, sizeof(sl->worst.why), "%s", why);
	plan_name(w, sl->where, sizeof(sl->where));
}

static void judge(struct simlit *sl, struct world *w, struct wstate *s)
{
	struct lit_outcome o;

	if (!world_over(w, s)) {
		violated(sl, w, "deadlock: a CPU waits for ever");
		return;
	}
	world_outcome(w, s, &o);
	if (*w->broken) {
		violated(sl, w, w->broken);
		return;
	}
	/* A death may take data with it: only safety is judged then. */
	if (s->dead)
		return;
	lit_set_add(sl->seen, &o);
	if (!lit_set_has(sl->allowed, &o)) {
		sl->worst.bad = o;
		sl->worst.bad_outcome = true;
		violated(sl, w, "outcome forbidden by x86-TSO");
	}
}

/* One walk to its end; a loop in the test may keep it from ending. */
static int walk(struct simlit *sl, struct world *w, struct wstate *s,
		uint64_t seed)
{
	struct wmove move[MOVES_MAX];
	int count;

	if (world_init(w, s))
		return cli_error("%s", w->broken);
	for (int steps = 0; steps < 100000; steps++) {
		count = world_moves(w, s, move, MOVES_MAX);
		if (!count) {
			judge(sl, w, s);
			return 0;
		}
		world_move(w, s, move[random_next(&seed) % count]);
		sl->events++;
		if (*w->broken) {
			violated(sl, w, w->broken);
			return 0;
		}
	}
	violated(sl, w, "no end after 100000 steps");
	return 0;
}

int simlit_run(struct simlit *sl)
{
	struct plan p = { .t = sl->t, .protocol = sl->protocol,
			  .order = sl->order, .mixed = sl->protocol == 3,
			  .thorough = true };
	struct world w = sl->world;
	struct wstate *s = malloc(W_STATE);
	uint64_t seed = sl->seed;
	int err = 0;

	if (!s)
		return cli_error("out of memory");
	if (p.mixed)
		p.protocol = DSM_WUPLUS;
	plan_first(&p, &w);
	for (uint64_t i = 0; i < sl->runs && !sl->worst.violated; i++) {
		err = walk(sl, &w, s, random_next(&seed));
		if (err)
			break;
		sl->configs++;
		if (!plan_next(&p, &w))
			plan_first(&p, &w);
	}
	free(s);
	return err;
}
