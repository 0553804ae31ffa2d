// SPDX-License-Identifier: GPL-2.0
/*
 * Meeting: the members of one process on one line, then one of each process on
 * another, so that a line goes from instance to instance once for each
 * instance, not for each member.  Locks are words; whoever holds one and dies
 * ends the job.
 */
#include "api.h"
#include "gomp.h"

/* By the master, when nobody is in a region. */
void meet_set(struct team *team, uint32_t size)
{
	const struct omp_window *w = gomp_window;
	uint32_t i, n = 0;

	if (team->inner) {
		team->places[gomp_place].expected = size;
		team->ends[gomp_place].expected = size;
		n = 1;
	}
	for (i = 0; !team->inner && i < w->nr_places && w->first[i] < size;
	     i++, n++)
		team->places[i].expected = team->ends[i].expected =
			(w->first[i + 1] < size ? w->first[i + 1] : size) -
			w->first[i];
	team->all.expected = team->all_end.expected = n;
	team->size = size;
}

/* Is it the last one that is expected? */
static bool arrive(struct meeting *m)
{
	if (atomic_fetch_add(&m->count, 1) + 1 < m->expected)
		return false;
	atomic_store_explicit(&m->count, 0, memory_order_relaxed);
	return true;
}

static void open_up(struct meeting *m, uint32_t round)
{
	atomic_store_explicit(&m->round, round + 1, memory_order_release);
	long_wake();
}

/* There may be tasks to run meanwhile.  False: the region is cancelled. */
static bool stay(struct team *team, struct meeting *m, uint32_t round,
		 bool may_leave)
{
	struct omp_wait wait = { 0 };
	bool left = false;

	while (atomic_load_explicit(&m->round, memory_order_acquire) == round) {
		left = may_leave && team_cancelled(team);
		if (left)
			break;
		if (tasks_help(&team->tasks))
			long_wait_end(&wait);
		else
			long_wait(&wait);
	}
	long_wait_end(&wait);
	return !left;
}

/* All are here: what they have made is done before any of them goes on. */
static void let_all_go(struct team *team, struct meeting *m, uint32_t round)
{
	tasks_finish(&team->tasks);
	atomic_store_explicit(&team->work_cancelled, 0, memory_order_relaxed);
	open_up(m, round);
}

/*
 * True: the region is cancelled, and the others have been left alone.  Whoever
 * has come once never comes again before team_restore().
 */
bool meet_all(struct team *team, bool may_leave)
{
	struct meeting *p = &team->places[gomp_place], *all = &team->all;
	uint32_t round = atomic_load(&p->round), far = atomic_load(&all->round);

	if (may_leave && team_cancelled(team))
		return true;
	if (!arrive(p))
		return !stay(team, p, round, may_leave);
	if (arrive(all))
		let_all_go(team, all, far);
	else if (!stay(team, all, far, may_leave))
		return true;
	open_up(p, round);
	return false;
}

/* The end of a region: only the master needs to know that all are there. */
void meet_join(struct team *team, bool master)
{
	uint32_t round = atomic_load(&team->joined.round);

	if (arrive(&team->ends[gomp_place]) && arrive(&team->all_end))
		let_all_go(team, &team->joined, round);
	else if (master)
		stay(team, &team->joined, round, false);
}

void GOMP_barrier(void)
{
	struct context *c = context();

	if (c->team)
		meet_all(c->team, false);
	else if (c->tasks)
		tasks_finish(c->tasks);
}

bool GOMP_barrier_cancel(void)
{
	struct context *c = context();

	if (c->team)
		return meet_all(c->team, true);
	GOMP_barrier();
	return false;
}
