// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread knows of itself: the regions that it is in, and its process's
 * team.  All entry points begin with it; no other file of ours is called here.
 */
#include <stdlib.h>

#include "gomp.h"

struct omp_window *gomp_window;
unsigned int gomp_place;
_Atomic uintptr_t team_codes[CODES];	/* that all processes have */

static __thread struct context base = { .size = 1 };
__thread struct context *team_context;

static struct settings first = {
	.schedule = DYNAMIC, .chunk = 1, .max_active = 1, .allocator = 1,
};

struct settings *settings = &first;

/* One that @parent makes, or a member's part of a region, without one. */
void task_init(struct task *task, struct task *parent)
{
	memset(task, 0, offsetof(struct task, ready));
	task->parent = parent;
	task->in = task->group = parent ? parent->group : NULL;
	task->final = parent && parent->final;
	if (parent)
		task->icvs = parent->icvs;
	list_init(&task->ready);
	list_init(&task->dependent);
}

/* As the environment has them: of a thread that the program has made. */
void icvs_first(struct icvs *icvs)
{
	*icvs = (struct icvs){
		.limit = settings->limit,
		.max_active = settings->max_active,
		.dynamic = settings->dynamic,
		.device = settings->device,
		.schedule = settings->schedule,
		.chunk = settings->chunk,
		.allocator = settings->allocator,
		.nr_teams = 1,
	};
}

struct context *context_create(void)
{
	task_init(&base.part, NULL);
	icvs_first(&base.part.icvs);
	base.task = &base.part;
	base.at_work = &base.own_at_work;
	team_context = &base;
	return &base;
}

struct team *gomp_team(void)
{
	return (struct team *)((char *)gomp_window + OMP_RUNTIME_AT);
}

void region_enter(struct context *c, struct context *outer, struct team *team,
		  uint32_t number, uint32_t size, struct group *group)
{
	c->outer = outer;
	c->team = team;
	c->tasks = team ? &team->tasks : NULL;
	c->number = number;
	c->size = size;
	c->region = team ? team->begun : 0;
	c->level = outer->level + 1;
	c->active = outer->active + (size > 1);
	c->shares = 0;
	c->at_work = outer->at_work;
	c->own_at_work = 0;
	c->share = NULL;
	c->own.memory = NULL;
	c->own.cross = NULL;
	task_init(&c->part, NULL);
	c->part.group = group;
	c->part.icvs = outer->task->icvs;
	/* OMP_NUM_THREADS may have a number for each level. */
	if (c->active && c->active <= OMP_LEVELS && settings->inner[c->active - 1])
		c->part.icvs.threads = settings->inner[c->active - 1];
	c->task = &c->part;
	team_context = c;
}

void region_leave(struct context *c, struct context *before)
{
	free(c->own.memory);
	free(c->own.cross);
	team_context = before;
}
