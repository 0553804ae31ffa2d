// SPDX-License-Identifier: GPL-2.0
/*
 * Places, as a program may ask for them: sets of CPUs of the team, whose members'
 * CPUs are numbered through, from the first instance on.  They are the instances;
 * or with OMP_PLACES=threads (or cores) single CPUs; or what a list of numbers
 * says.  With OMP_PROC_BIND a member stays in its own.  The program is told the
 * numbers that CPUs have on their instance.
 */
#include <sched.h>
#include <stdlib.h>
#include <strings.h>

#include "api.h"
#include "gomp.h"
#include "places.h"

enum { BIND_FALSE, BIND_TRUE, BIND_PRIMARY, BIND_CLOSE, BIND_SPREAD };

static struct place places[OMP_MAX_MEMBERS];
static int nr_places;
static int bind;
static __thread int own_place = -1;

static bool begins(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncasecmp(text, word, len) &&
	       (!text[len] || text[len] == '(' || text[len] == ',');
}

static void instances_are_places(const struct omp_window *w)
{
	uint32_t i, j;

	memset(places, 0, sizeof(places[0]) * w->nr_places);
	nr_places = w->nr_places;
	for (i = 0; i < w->nr_places; i++)
		for (j = w->first[i]; j < w->first[i + 1]; j++)
			place_add(&places[i], j);
}

static void cpus_are_places(const struct omp_window *w)
{
	uint32_t i;

	nr_places = w->nr_members;
	for (i = 0; i < w->nr_members; i++)
		place_add(&places[i], i);
}

static int place_of(uint32_t member)
{
	int i;

	for (i = 0; i < nr_places; i++)
		if (place_has(&places[i], member))
			return i;
	return -1;
}

/* Where each member has a place; CPUs of others are not the team's. */
static bool read_list(const char *text, const struct omp_window *w)
{
	uint32_t i;

	nr_places = place_list_read(text, w->nr_members, places);
	for (i = 0; i < w->nr_members; i++)
		if (place_of(i) < 0)
			return false;
	return true;
}

/* As OMP_PLACES, which counts before it. */
static void read_cpus(const char *text, const struct omp_window *w)
{
	uint32_t i;

	nr_places = place_cpus_read(text, w->nr_members, places);
	for (i = 0; i < w->nr_members && place_of(i) >= 0; i++)
		;
	if (i == w->nr_members)
		return;
	settings_complain("GOMP_CPU_AFFINITY", text);
	instances_are_places(w);
}

static void read_places(const char *text, const struct omp_window *w)
{
	if (begins(text, "threads") || begins(text, "cores")) {
		cpus_are_places(w);
		return;
	}
	if (begins(text, "sockets") || begins(text, "numa_domains") ||
	    begins(text, "ll_caches")) {
		instances_are_places(w);
		return;
	}
	if (read_list(text, w))
		return;
	settings_complain("OMP_PLACES", text);
	instances_are_places(w);
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
	const struct omp_window *w = gomp_window;
	uint32_t i = w->first[gomp_place];
	const char *text = getenv("OMP_PLACES");
	const char *list = getenv("GOMP_CPU_AFFINITY");
	cpu_set_t cpus;
	int cpu = -1;

	bind = text || list ? BIND_TRUE : BIND_FALSE;
	if (text)
		read_places(text, w);
	else if (list)
		read_cpus(list, w);
	else
		instances_are_places(w);
	text = getenv("OMP_PROC_BIND");
	if (text)
		read_bind(text);
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (!CPU_COUNT(&cpus))
		CPU_SET(0, &cpus);
	for (; i < w->first[gomp_place + 1]; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &cpus));
		atomic_store_explicit(&gomp_team()->cpus[i], 1 + cpu,
				      memory_order_release);
	}
}

/*
 * main() may ask before its process has written it: soon, since it has arrived, or the
 * program ends with it.
 */
static int cpu_of(uint32_t member)
{
	struct omp_wait wait = { 0 };
	uint16_t cpu;

	while (!(cpu = atomic_load_explicit(&gomp_team()->cpus[member],
					    memory_order_acquire)))
		wait_once(&wait);
	return cpu - 1;
}

/* By @member itself: to the CPUs of its place that are of this instance. */
void place_bind(uint32_t member)
{
	const struct omp_window *w = gomp_window;
	cpu_set_t cpus;
	uint32_t i;

	own_place = place_of(member);
	if (bind == BIND_FALSE)
		return;
	CPU_ZERO(&cpus);
	for (i = w->first[gomp_place]; i < w->first[gomp_place + 1]; i++)
		if (place_has(&places[own_place], i))
			CPU_SET(cpu_of(i), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* {0:2},{2}: as a list has them. */
void places_say(FILE *out)
{
	int i;

	fprintf(out, "  OMP_PLACES = '");
	for (i = 0; i < nr_places; i++) {
		fprintf(out, i ? ",{" : "{");
		place_say(&places[i], out);
		fprintf(out, "}");
	}
	fprintf(out, "'\n");
}

int omp_get_proc_bind(void)
{
	return bind;
}

int omp_get_num_places(void)
{
	return gomp_window ? nr_places : 0;
}

/* Threads of inner teams are where their master is. */
void place_inherit(int place)
{
	own_place = place;
}

int omp_get_place_num(void)
{
	if (!gomp_window)
		return -1;
	if (own_place < 0)	/* the program has made this thread */
		own_place = place_of(gomp_window->first[gomp_place]);
	return own_place;
}

int omp_get_partition_num_places(void)
{
	return omp_get_num_places();
}

void omp_get_partition_place_nums(int *numbers)
{
	int i;

	for (i = 0; i < omp_get_num_places(); i++)
		numbers[i] = i;
}

int omp_get_place_num_procs(int place)
{
	uint32_t i, n = 0;

	if (place < 0 || place >= omp_get_num_places())
		return 0;
	for (i = 0; i < gomp_window->nr_members; i++)
		n += place_has(&places[place], i);
	return n;
}

void omp_get_place_proc_ids(int place, int *ids)
{
	uint32_t i;

	if (place < 0 || place >= omp_get_num_places())
		return;
	for (i = 0; i < gomp_window->nr_members; i++)
		if (place_has(&places[place], i))
			*ids++ = cpu_of(i);
}
