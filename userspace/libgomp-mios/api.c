// SPDX-License-Identifier: GPL-2.0
/*
 * omp_*(): what a program may ask and set, but for places (places.c).
 * Fortran's names are in fortran.c.
 */
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "gomp.h"

/* omp_sched_t, without the bit for monotonic. */
#define SCHED_MONOTONIC	0x80000000u
#define NSEC		1000000000.

/* The region at @level of this thread, or NULL. */
static struct context *ancestor(int level)
{
	struct context *c = context();

	if (level < 0 || level > (int)c->level)
		return NULL;
	while ((int)c->level > level)
		c = c->outer;
	return c;
}

void omp_set_num_threads(int n)
{
	icvs()->threads = n > 0 ? n : 1;
}

int omp_get_num_threads(void)
{
	return context()->size;
}

int omp_get_thread_num(void)
{
	return context()->number;
}

int omp_get_thread_limit(void)
{
	return icvs()->limit ? (int)icvs()->limit : omp_get_num_procs();
}

int omp_get_num_procs(void)
{
	return gomp_window ? gomp_window->nr_members : 1;
}

int omp_in_parallel(void)
{
	return context()->active > 0;
}

int omp_get_level(void)
{
	return context()->level;
}

int omp_get_active_level(void)
{
	return context()->active;
}

int omp_get_ancestor_thread_num(int level)
{
	struct context *c = ancestor(level);

	return c ? (int)c->number : -1;
}

int omp_get_team_size(int level)
{
	struct context *c = ancestor(level);

	return c ? (int)c->size : -1;
}

void omp_set_dynamic(int on)
{
	icvs()->dynamic = !!on;
}

int omp_get_dynamic(void)
{
	return icvs()->dynamic;
}

void omp_set_nested(int on)
{
	struct icvs *own = icvs();

	if (!on)
		own->max_active = 1;
	else if (own->max_active < 2)
		own->max_active = OMP_MOST_LEVELS;
}

int omp_get_nested(void)
{
	return icvs()->max_active > 1;
}

void omp_set_max_active_levels(int n)
{
	if (n >= 0)
		icvs()->max_active = n < OMP_MOST_LEVELS ? n :
				     OMP_MOST_LEVELS;
}

int omp_get_max_active_levels(void)
{
	return icvs()->max_active;
}

int omp_get_supported_active_levels(void)
{
	return OMP_MOST_LEVELS;
}

void omp_set_schedule(int kind, int chunk)
{
	struct icvs *own = icvs();

	kind &= ~SCHED_MONOTONIC;
	if (kind < STATIC || kind > AUTO)
		return;
	own->schedule = kind;
	own->chunk = chunk > 0 ? chunk : kind == STATIC ? 0 : 1;
}

void omp_get_schedule(int *kind, int *chunk)
{
	*kind = icvs()->schedule;
	*chunk = icvs()->chunk;
}

int omp_in_final(void)
{
	return context()->task->final;
}

int omp_in_explicit_task(void)
{
	struct context *c = context();

	return c->task != &c->part;
}

int omp_get_cancellation(void)
{
	return settings->cancellation;
}

int omp_get_max_task_priority(void)
{
	return settings->max_priority;
}

double omp_get_wtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);	/* the one that all agree on */
	return t.tv_sec + t.tv_nsec / NSEC;
}

double omp_get_wtick(void)
{
	struct timespec t;

	clock_getres(CLOCK_REALTIME, &t);
	return t.tv_sec + t.tv_nsec / NSEC;
}

int omp_get_max_teams(void)
{
	return settings->most_teams;
}

void omp_set_num_teams(int n)
{
	settings->most_teams = n > 0 ? n : 0;
}

int omp_get_teams_thread_limit(void)
{
	return settings->team_limit;
}

void omp_set_teams_thread_limit(int n)
{
	settings->team_limit = n > 0 ? n : 0;
}

/* On the host: one team after the other, as libgomp has it. */
void GOMP_teams_reg(body_fn fn, void *data, unsigned int teams,
		    unsigned int threads, unsigned int flags)
{
	struct icvs *own = icvs(), before = *own;
	uint32_t i;

	if (!teams)
		teams = settings->most_teams ? settings->most_teams : 3;
	if (!threads)
		threads = settings->team_limit;
	for (i = 0; i < teams; i++) {
		*own = before;
		if (threads && (!own->limit || threads < own->limit))
			own->limit = threads;
		own->nr_teams = teams;
		own->team = i;
		fn(data);
	}
	*own = before;
}
