// SPDX-License-Identifier: GPL-2.0
/*
 * Places, as a program may ask for them.  They are the instances of the team,
 * each with the CPUs of its members; or with OMP_PLACES=threads (or cores) the
 * CPUs themselves, one of each member.  With OMP_PROC_BIND a member stays on its
 * own.  CPUs have the numbers that their instance gives them.
 */
#include <sched.h>
#include <stdlib.h>
#include <strings.h>

#include "api.h"
#include "gomp.h"

enum { BIND_FALSE, BIND_TRUE, BIND_PRIMARY, BIND_CLOSE, BIND_SPREAD };

static bool cpus_are_places;
static int bind;
static __thread uint32_t own_member;

static bool begins(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncasecmp(text, word, len) &&
	       (!text[len] || text[len] == '(' || text[len] == ',');
}

static void read_places(const char *text)
{
	if (begins(text, "threads") || begins(text, "cores"))
		cpus_are_places = true;
	else if (!begins(text, "sockets") && !begins(text, "numa_domains") &&
		 !begins(text, "ll_caches"))
		settings_complain("OMP_PLACES", text);
}

static void read_bind(const char *text)
{
	static const char * const words[] = {
		[BIND_FALSE] = "false", [BIND_TRUE] = "true",
		[BIND_PRIMARY] = "master", [BIND_CLOSE] = "close",
		[BIND_SPREAD] = "spread",
	};
	int i;

	for (i = BIND_FALSE; i <= BIND_SPREAD; i++)
		if (begins(text, words[i]))
			break;
	if (begins(text, "primary"))
		i = BIND_PRIMARY;
	if (i <= BIND_SPREAD)
		bind = i;
	else
		settings_complain("OMP_PROC_BIND", text);
}

/* Before the team's members are there; each process has its own CPUs. */
void places_start(void)
{
	uint32_t i = gomp_window->first[gomp_place];
	const char *text = getenv("OMP_PLACES");
	cpu_set_t cpus;
	int cpu = -1;

	if (text) {
		bind = BIND_TRUE;
		read_places(text);
	}
	text = getenv("OMP_PROC_BIND");
	if (text)
		read_bind(text);
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (!CPU_COUNT(&cpus))
		CPU_SET(0, &cpus);
	for (; i < gomp_window->first[gomp_place + 1]; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &cpus));
		gomp_team()->cpus[i] = cpu;
	}
}

/* By @member itself. */
void place_bind(uint32_t member)
{
	cpu_set_t cpus;

	own_member = member;
	if (!cpus_are_places || bind == BIND_FALSE)
		return;
	CPU_ZERO(&cpus);
	CPU_SET(gomp_team()->cpus[member], &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Members of @place: from *first on. */
static int members_of(int place, uint32_t *first)
{
	const struct omp_window *w = gomp_window;

	if (place < 0 || place >= omp_get_num_places())
		return 0;
	*first = cpus_are_places ? (uint32_t)place : w->first[place];
	return cpus_are_places ? 1 : w->first[place + 1] - *first;
}

int omp_get_proc_bind(void)
{
	return bind;
}

int omp_get_num_places(void)
{
	if (!gomp_window)
		return 0;
	return cpus_are_places ? gomp_window->nr_members :
	       gomp_window->nr_places;
}

int omp_get_place_num(void)
{
	if (!gomp_window)
		return -1;
	return cpus_are_places ? own_member : gomp_place;
}

int omp_get_partition_num_places(void)
{
	return omp_get_num_places();
}

void omp_get_partition_place_nums(int *places)
{
	int i;

	for (i = 0; i < omp_get_num_places(); i++)
		places[i] = i;
}

int omp_get_place_num_procs(int place)
{
	uint32_t first;

	return members_of(place, &first);
}

void omp_get_place_proc_ids(int place, int *ids)
{
	uint32_t first;
	int i, n = members_of(place, &first);

	for (i = 0; i < n; i++)
		ids[i] = gomp_team()->cpus[first + i];
}
