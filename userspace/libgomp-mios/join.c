// SPDX-License-Identifier: GPL-2.0
/*
 * What libteam has us do: at the start of a team, as each of its members, and in a
 * child of one.
 */
#include <sched.h>

#include "gomp.h"

/* Never returns: the process ends when its first thread sees that all is. */
static void member(unsigned int number)
{
	place_bind(number);
	member_serve(gomp_team(), number);
}

static void master(void)
{
	team_lead(true);
	place_bind(0);
}

/* More members than CPUs: who spins keeps another from its work. */
static void start(struct omp_window *w, unsigned int place)
{
	cpu_set_t cpus;

	gomp_window = w;
	gomp_place = place;
	members_start();
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
	team_lead(false);
	gomp_window = NULL;
	context()->tasks = NULL;	/* their events come in the parent */
	once_start(NULL);
	crew_forget();
}

static const struct omp_runtime ops = { start, master, member, alone };

static void __attribute__((constructor)) join_team(void)
{
	mios_omp_register(&ops);
}
