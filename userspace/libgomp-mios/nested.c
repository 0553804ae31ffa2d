// SPDX-License-Identifier: GPL-2.0
/*
 * Teams within one process: of regions that a member meets within a region, and
 * of those that a thread meets which the program has made itself.  Whoever has
 * met one keeps its threads for the next one, until it ends.  These have stacks
 * of their own as any thread has, which other processes do not see.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "api.h"
#include "gomp.h"

#define PAGE	4096

/* Threads that one thread is master of, in one region at a time. */
struct crew {
	struct team *team;		/* its own is not in the window's area */
	struct crew *deeper;		/* for regions within these */
	uint32_t threads;		/* the master is one of them */
	pthread_t ids[OMP_MAX_MEMBERS];
};

struct place_in_crew {
	struct team *team;
	uint32_t number;
	int place;
};

static __thread struct crew *crew;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *begin(void *p)
{
	struct place_in_crew place = *(struct place_in_crew *)p;

	free(p);
	mios_omp_signals_blocked();
	place_inherit(place.place);
	member_serve(place.team, place.number);
	return NULL;
}

/* When their master ends; nobody is at work. */
static void dismiss(void *p)
{
	struct crew *c, *deeper;
	uint32_t i;

	for (c = p; c; c = deeper) {
		members_end(c->team, c->threads);
		for (i = 1; i < c->threads; i++)
			pthread_join(c->ids[i], NULL);
		deeper = c->deeper;
		free(c->team);
		free(c);
	}
	crew = NULL;
}

static void make_key(void)
{
	pthread_key_create(&at_end, dismiss);
}

static struct crew *create(void)
{
	struct crew *c = calloc(1, sizeof(*c));

	pthread_once(&once, make_key);
	if (c)
		c->team = memalign(PAGE, sizeof(*c->team));
	if (!c || !c->team || (!crew && pthread_setspecific(at_end, c))) {
		free(c ? c->team : NULL);
		free(c);
		return NULL;
	}
	memset(c->team, 0, offsetof(struct team, members));
	c->team->inner = true;
	c->threads = 1;
	tasks_init(&c->team->tasks);
	return c;
}

static bool add_thread(struct crew *c, const pthread_attr_t *attr)
{
	struct place_in_crew *place = malloc(sizeof(*place));

	if (!place)
		return false;
	memset(&c->team->members[c->threads], 0, sizeof(struct mailbox));
	*place = (struct place_in_crew){ c->team, c->threads,
					 omp_get_place_num() };
	if (pthread_create(&c->ids[c->threads], attr, begin, place)) {
		free(place);
		return false;
	}
	c->threads++;
	return true;
}

/* Signals are for the program's own threads. */
static void add_threads(struct crew *c, uint32_t wanted)
{
	pthread_attr_t attr;
	sigset_t before;

	pthread_attr_init(&attr);
	if (gomp_window)
		pthread_attr_setstacksize(&attr, gomp_window->stack_size);
	mios_omp_block_signals(&before);
	while (c->threads < wanted && add_thread(c, &attr))
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/* More threads than CPUs: who spins keeps another from its work. */
static void share_cpus(void)
{
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus) &&
	    gomp_window->first[gomp_place + 1] - gomp_window->first[gomp_place]
	    + 1 >= CPU_COUNT(&cpus))
		mios_omp_spins = 0;
}

/* Those of a region that is under way have their parts of it to do. */
static struct crew *idle_crew(void)
{
	struct crew **c = &crew;

	while (*c && (*c)->team->busy)
		c = &(*c)->deeper;
	if (!*c) {
		*c = create();
		share_cpus();
	}
	return *c;
}

/* Of our own threads; *size becomes what there are, if they are fewer. */
struct team *crew_team(uint32_t *size)
{
	struct crew *idle = idle_crew();

	if (idle && idle->threads < *size)
		add_threads(idle, *size);
	if (!idle || idle->threads == 1) {
		*size = 1;
		return NULL;
	}
	if (idle->threads < *size)
		*size = idle->threads;
	return idle->team;
}

/* In a child they do not exist. */
void crew_forget(void)
{
	crew = NULL;
}
