// SPDX-License-Identifier: GPL-2.0
/*
 * Parallel regions.  The master, who runs the program's main(), writes what is
 * to be done into each member's mailbox, does its own part, and waits until
 * all have joined.  Regions within a region, and those of threads that the
 * program has made itself, have teams within the process: see nested.c.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "api.h"
#include "gomp.h"

static __thread bool is_master;
static void (*flush_fortran)(const int *unit);	/* of NULL: all */

/* Is it the team of all that would be at work? */
static bool leads_all(const struct context *c)
{
	return is_master && !c->active;
}

/* As many as the user has said, or as there are members in this process. */
static uint32_t inner_size(const struct context *c, unsigned int threads)
{
	const struct omp_window *w = gomp_window;
	uint32_t size = threads ? threads : c->threads;

	if (!w)
		return 1;
	if (!size && c->active && c->active <= OMP_LEVELS)
		size = settings->inner[c->active - 1];
	if (!size)
		size = w->first[gomp_place + 1] - w->first[gomp_place];
	return size < OMP_MAX_MEMBERS ? size : OMP_MAX_MEMBERS;
}

static uint32_t size_of(const struct context *c, unsigned int threads)
{
	uint32_t size;

	if (!leads_all(c))
		return inner_size(c, threads);
	size = threads ? threads : c->threads ? c->threads : settings->threads;
	if (!size || size > gomp_window->nr_members)
		size = gomp_window->nr_members;
	return size;
}

/*
 * OMP_THREAD_LIMIT is for all threads that one of the program's has at work, in
 * regions within regions, too, whichever process they are in.
 */
static uint32_t within_limit(const struct context *c, uint32_t size)
{
	uint32_t limit = settings->limit, others;

	if (!limit)
		return size;
	others = atomic_load_explicit(c->at_work, memory_order_relaxed);
	limit = limit > others ? limit - others : 1;
	return size < limit ? size : limit;
}

/* Members that begin regions at the same time may want the same ones. */
static uint32_t take_threads(const struct context *c, uint32_t size)
{
	uint32_t others, taken;

	if (!settings->limit)
		return size;
	others = atomic_load(c->at_work);
	do {
		taken = settings->limit > others + 1 ?
			settings->limit - others - 1 : 0;
		if (taken > size - 1)
			taken = size - 1;
	} while (!atomic_compare_exchange_weak(c->at_work, &others,
					       others + taken));
	return taken + 1;
}

static void give_threads(const struct context *c, uint32_t size)
{
	if (settings->limit)
		atomic_fetch_sub(c->at_work, size - 1);
}

/* How many a region that begins now would have. */
uint32_t team_size(unsigned int threads)
{
	const struct context *c = context();
	uint32_t size;

	if ((int)c->active >= settings->max_active)
		return 1;
	size = within_limit(c, size_of(c, threads));
	if (size > 1 && !leads_all(c))
		crew_team(&size);
	return size;
}

/* Unless it asks for a number. */
uint32_t team_most(void)
{
	return size_of(context(), 0);
}

/* Idle members see the number of the region change, and find the rest. */
static void give_work(struct team *team, const struct context *c, body_fn fn,
		      void *data)
{
	struct mailbox *box;
	uint32_t i;

	for (i = 1; i < c->size; i++) {
		box = &team->members[i];
		box->size = c->size;
		box->shares = c->shares;
		box->fn = fn;
		box->data = data;
		box->group = c->part.group;
		box->outer = team->inner ? c->outer : NULL;
		atomic_fetch_add_explicit(&box->region, 1,
					  memory_order_release);
	}
}

static void run_alone(body_fn fn, void *data, struct group *group)
{
	struct context c, *outer = context();

	region_enter(&c, outer, NULL, 0, 1, group);
	fn(data);
	region_leave(&c, outer);
}

/*
 * @code: what @fn calls of the program, or @fn.  @group: that the parts of all belong
 * to, or NULL.  How many they were.
 */
uint32_t team_run(body_fn fn, body_fn code, void *data, unsigned int threads,
		  struct group *group)
{
	struct context c, *outer = context();
	uint32_t size = take_threads(outer, team_size(threads));
	struct team *team;

	if (size == 1) {
		run_alone(fn, data, group);
		return 1;
	}
	team = leads_all(outer) ? gomp_team() : crew_team(&size);
	team_demand(team, code);
	team->begun++;
	team->shows = settings->show_affinity && team->size != size;
	if (team->size != size)
		meet_set(team, size);
	region_enter(&c, outer, team, 0, size, group);
	c.shares = team->shares_met;
	give_work(team, &c, fn, data);
	if (team->shows)
		omp_display_affinity(NULL);
	fn(data);
	meet_join(team, true);
	team->shares_met = c.shares;
	team_restore(team);
	region_leave(&c, outer);
	give_threads(outer, size);
	return size;
}

/* The master is about to end, and so are its threads: nobody is at work. */
void team_end(struct team *team, uint32_t threads)
{
	uint32_t i;

	for (i = 1; i < threads; i++) {
		team->members[i].fn = NULL;
		atomic_fetch_add_explicit(&team->members[i].region, 1,
					  memory_order_release);
	}
}

/* Until there is another region; tasks of this one may still be made. */
static void rest(struct context *c, struct mailbox *box, uint32_t region)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(&box->region, memory_order_acquire) ==
	       region) {
		if (tasks_help(c->team))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

/* What members of other processes have written is seen when main() goes on. */
static void flush_output(void)
{
	if (__fpending(stdout))
		fflush(stdout);
	if (flush_fortran)
		flush_fortran(NULL);
}

static void work(struct team *team, struct mailbox *box, uint32_t number,
		 uint32_t region)
{
	struct context c, *own = context();

	region_enter(&c, box->outer ? box->outer : own, team, number, box->size,
	      box->group);
	c.shares = box->shares;
	if (team->shows)
		omp_display_affinity(NULL);
	box->fn(box->data);
	if (gomp_place)
		flush_output();
	meet_join(c.team, false);
	rest(&c, box, region);
	region_leave(&c, own);
}

/* What a member does for its master, until that ends. */
void team_serve(struct team *team, uint32_t number)
{
	struct mailbox *box = &team->members[number];
	struct omp_wait wait = { 0 };
	uint32_t region;

	while (!atomic_load_explicit(&box->region, memory_order_acquire))
		wait_once(&wait);
	for (region = 1; box->fn; region++)
		work(team, box, number, region);
}

/* Never returns: the process ends when its first thread sees that all is. */
static void member(unsigned int number)
{
	place_bind(number);
	context()->at_work = &gomp_team()->at_work;
	team_serve(gomp_team(), number);
}

static void master(void)
{
	is_master = true;
	context()->at_work = &gomp_team()->at_work;
	place_bind(0);
}

/* More members than CPUs: who spins keeps another from its work. */
static void start(struct omp_window *w, unsigned int place)
{
	cpu_set_t cpus;

	gomp_window = w;
	gomp_place = place;
	/* Elsewhere units are everybody's: main() may be amid a statement of one. */
	if (mios_omp_place.strict)
		flush_fortran = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4");
	if (!sched_getaffinity(0, sizeof(cpus), &cpus) &&
	    w->first[place + 1] - w->first[place] > CPU_COUNT(&cpus))
		mios_omp_spins = 0;
	if (!place) {
		gomp_team()->settings = *settings;
		tasks_init(&gomp_team()->tasks);
	}
	settings = &gomp_team()->settings;
	once_start(gomp_team());
	places_start();
	if (!place)
		display_start();
}

/* In a child: its members are in the parent. */
static void alone(void)
{
	is_master = false;
	gomp_window = NULL;
	once_start(NULL);
	crew_forget();
}

static const struct omp_runtime ops = { start, master, member, alone };

static void __attribute__((constructor)) join_team(void)
{
	mios_omp_register(&ops);
}

void GOMP_parallel(body_fn fn, void *data, unsigned int threads,
		   unsigned int flags)
{
	team_run(fn, fn, data, threads, NULL);
}
