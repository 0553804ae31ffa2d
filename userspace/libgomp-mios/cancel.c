// SPDX-License-Identifier: GPL-2.0
/*
 * Cancellation, for programs that are started with OMP_CANCELLATION=true.  A
 * flag says what has been cancelled: the team's loop or sections, until the
 * barrier behind these; its region; or a group of tasks.  Whoever comes by a
 * cancellation point sees it, and so does whoever waits at a barrier of such a
 * region.  What has been counted there is put right when all have joined.
 */
#include <stdlib.h>

#include "api.h"
#include "gomp.h"

enum { LOOP = 2, SECTIONS = 4, TASKGROUP = 8 };	/* of the compiler */

/* A group that a loop's reduction has brought is not the program's. */
static struct group *group_of(struct group *group)
{
	return group && group->of_share && group->outer ? group->outer : group;
}

static bool team_is(const struct context *c)
{
	return c->team && team_cancelled(c->team);
}

bool GOMP_cancellation_point(int which)
{
	const struct context *c = context();
	const struct group *group;

	if (!settings->cancellation)
		return false;
	if (which & (LOOP | SECTIONS))
		return c->team && atomic_load_explicit(&c->team->work_cancelled,
						       memory_order_acquire);
	group = group_of(c->task->group);
	if (which & TASKGROUP && group && group->cancelled)
		return true;
	return team_is(c);
}

bool GOMP_cancel(int which, bool now)
{
	const struct context *c = context();
	struct group *group;

	if (!settings->cancellation || !now)
		return GOMP_cancellation_point(which);
	if (which & (LOOP | SECTIONS)) {
		if (c->team)
			atomic_store_explicit(&c->team->work_cancelled, 1,
					      memory_order_release);
	} else if (which & TASKGROUP) {
		group = group_of(c->task->group);
		if (group)
			group->cancelled = true;
	} else if (c->team) {
		atomic_store_explicit(&c->team->cancelled, 1,
				      memory_order_release);
		long_wake();
	}
	return true;
}

/* Are the tasks that stand in @group given up?  Asked where it may be at all. */
bool tasks_given_up(struct group *group)
{
	group = group_of(group);
	return (group && group->cancelled) || team_is(context());
}

/* By the master, when all have joined: some have left before a meeting. */
void team_restore(struct team *team)
{
	struct share *s;
	uint32_t i;

	if (!team_cancelled(team))
		return;
	for (i = 0; i < OMP_MAX_PLACES; i++)
		team->places[i].count = 0;
	team->all.count = 0;
	for (s = team->shares; s < team->shares + SHARES; s++) {
		free(s->memory);
		free(s->cross);
		memset(s, 0, sizeof(*s));
	}
	team->shares_met = 0;
	team->cancelled = 0;
}
