// SPDX-License-Identifier: GPL-2.0
/*
 * Parallel regions.  The master, who runs the program's main(), says what is to be
 * done (member.c), does its own part, and waits until all have joined.  Regions
 * within a region, and those of threads that the program has made itself, have
 * teams within the process: see nested.c.
 */
#include "api.h"
#include "gomp.h"

static __thread bool is_master;

/* Does this thread lead the team of all?  In a child there is none. */
void team_lead(bool does)
{
	is_master = does;
}

/* Is it the team of all that would be at work? */
static bool leads_all(void)
{
	return is_master && !gomp_team()->busy;
}

/* As many as somebody has asked for, or as there are members, whoever begins it. */
static uint32_t size_of(const struct context *c, unsigned int threads)
{
	uint32_t size = threads ? threads : c->task->icvs.threads, all, most;

	if (!gomp_window)
		return 1;
	all = gomp_window->nr_members;
	if (!size)
		size = settings->threads && settings->threads < all ? settings->threads :
		       all;
	most = leads_all() ? all : OMP_MAX_MEMBERS;
	return size < most ? size : most;
}

/*
 * OMP_THREAD_LIMIT is for all threads that one of the program's has at work, in
 * regions within regions, too, whichever process they are in.
 */
static uint32_t within_limit(const struct context *c, uint32_t size)
{
	uint32_t limit = c->task->icvs.limit, others;

	if (!limit)
		return size;
	others = atomic_load_explicit(c->at_work, memory_order_relaxed);
	limit = limit > others ? limit - others : 1;
	return size < limit ? size : limit;
}

/* Members that begin regions at the same time may want the same ones. */
static uint32_t take_threads(const struct context *c, uint32_t size)
{
	uint32_t limit = c->task->icvs.limit, others, taken;

	if (!limit)
		return size;
	others = atomic_load(c->at_work);
	do {
		taken = limit > others + 1 ? limit - others - 1 : 0;
		if (taken > size - 1)
			taken = size - 1;
	} while (!atomic_compare_exchange_weak(c->at_work, &others,
					       others + taken));
	return taken + 1;
}

static void give_threads(const struct context *c, uint32_t size)
{
	if (c->task->icvs.limit)
		atomic_fetch_sub(c->at_work, size - 1);
}

/* How many a region that begins now would have. */
uint32_t team_size(unsigned int threads)
{
	const struct context *c = context();
	uint32_t size;

	if ((int)c->active >= c->task->icvs.max_active)
		return 1;
	size = within_limit(c, size_of(c, threads));
	if (size > 1 && !leads_all())
		crew_team(&size);
	return size;
}

int omp_get_max_threads(void)
{
	return size_of(context(), 0);
}

/* A program that has numbers for each of so many threads would be wrong silently. */
static void say_fewer(const struct context *c, unsigned int threads, uint32_t size)
{
	static bool said;
	const struct icvs *own = &c->task->icvs;
	uint32_t asked = threads ? threads : own->threads;

	if (said || asked <= size || own->dynamic || own->limit || !gomp_window ||
	    (int)c->active >= own->max_active)
		return;
	said = true;
	fprintf(stderr, "mios: omp: a region asks for %u threads, and has %u: give the "
		"team more (mios run -n), or set OMP_DYNAMIC=true\n", asked, size);
}

static void run_alone(body_fn fn, void *data, struct group *group)
{
	struct context c, *outer = context();

	region_enter(&c, outer, NULL, 0, 1, group);
	fn(data);
	tasks_alone_end(&c);
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

	say_fewer(outer, threads, size);
	if (size == 1) {
		run_alone(fn, data, group);
		return 1;
	}
	team = leads_all() ? gomp_team() : crew_team(&size);
	team_demand(team, code);
	team->busy = true;
	team->begun++;
	team->shows = settings->show_affinity && team->size != size;
	if (team->size != size)
		meet_set(team, size);
	region_enter(&c, outer, team, 0, size, group);
	c.shares = team->shares_met;
	if (!team->inner)
		atomic_store(&gomp_window->working, 1);
	members_work(team, &c, fn, data);
	if (team->shows)
		omp_display_affinity(NULL);
	fn(data);
	meet_join(team, true);
	if (!team->inner)
		atomic_store(&gomp_window->working, 0);
	team->shares_met = c.shares;
	team_restore(team);
	team->busy = false;
	region_leave(&c, outer);
	give_threads(outer, size);
	return size;
}

void GOMP_parallel(body_fn fn, void *data, unsigned int threads,
		   unsigned int flags)
{
	team_run(fn, fn, data, threads, NULL);
}
