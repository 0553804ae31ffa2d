// SPDX-License-Identifier: GPL-2.0
/*
 * mios reserve --split: what of this machine's one node each part is to have.
 * Called by reserve.c, which prints the rest of the line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmios/libmios.h"
#include "split.h"

#define CPU_DIR	"/sys/devices/system/cpu"
#define FOUR_GIB (4ULL << 30)

static struct cpu_map cpus;

static int read_line(const char *path, char *buf, int size)
{
	FILE *file = fopen(path, "re");
	int got = file && fgets(buf, size, file);

	if (file)
		fclose(file);
	return got;
}

/* The lowest of a list such as 2,6 or 2-3 is the first. */
static int lowest_of_core(int cpu)
{
	char path[128], text[64];

	snprintf(path, sizeof(path),
		 CPU_DIR "/cpu%d/topology/thread_siblings_list", cpu);
	if (!read_line(path, text, sizeof(text)))
		return cpu;
	return atoi(text);
}

static void see_online(long first, long last)
{
	long cpu;

	if (first < 0 || last < first || last >= SPLIT_CPUS)
		mios_die(MIOS_EXIT_FAILED, "reserve: " CPU_DIR "/online names "
			 "CPUs beyond %d", SPLIT_CPUS - 1);
	for (cpu = cpus.nr; cpu < first; cpu++)
		cpus.core[cpu] = -1;
	for (cpu = first; cpu <= last; cpu++)
		cpus.core[cpu] = lowest_of_core(cpu);
	cpus.nr = last + 1;
}

static void cpus_read(void)
{
	char text[4096], *word, *save = NULL, *rest;
	long first;

	if (!read_line(CPU_DIR "/online", text, sizeof(text)))
		mios_die(MIOS_EXIT_FAILED, "reserve: " CPU_DIR "/online: %m");
	for (word = strtok_r(text, ",\n", &save); word;
	     word = strtok_r(NULL, ",\n", &save)) {
		first = strtol(word, &rest, 10);
		see_online(first, *rest == '-' ? strtol(rest + 1, NULL, 10) :
						 first);
	}
}

/* Else those CPUs would be counted as none. */
static void none_is_up(void)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	int i, nr = mios_instances_read(list, MIOS_MAX_INSTANCES);

	for (i = 0; i < nr; i++)
		if (list[i].id && list[i].state != MIOS_STATE_DOWN)
			mios_die(MIOS_EXIT_FAILED, "reserve: instance %d has "
				 "CPUs of this machine: stop all instances, "
				 "then ask again", list[i].id);
}

/* Ends with a line where it cannot be; else the ranges of @map are of parts. */
void split_machine(struct memory_map *map, int parts, bool threads,
		   uint64_t block)
{
	char why[256];
	int i;

	for (i = 0; i < map->nr; i++)
		if (map->ranges[i].node)
			mios_die(MIOS_EXIT_FAILED, "reserve: --split: this "
				 "machine has several nodes: without --split "
				 "each has an instance");
	none_is_up();
	cpus_read();
	if (!split_cpus(&cpus, parts, threads, why, sizeof(why)) ||
	    !split_memory(map, parts, block, why, sizeof(why)))
		mios_die(MIOS_EXIT_FAILED, "reserve: --split: %s", why);
}

/* Can there be two?  The ranges of @map are of no use afterwards. */
bool split_possible(struct memory_map *map, uint64_t block, char *why,
		    size_t size)
{
	cpus_read();
	return split_cpus(&cpus, 2, false, why, size) &&
	       split_memory(map, 2, block, why, size);
}

static void print_memory(const struct memory_map *map, int part)
{
	const struct memory_range *r;
	char sep = '/';

	for (r = map->ranges; r < map->ranges + map->nr; r++) {
		if (r->node != part)
			continue;
		printf("%c%" PRIu64 "M@0x%" PRIx64, sep,
		       (r->end - r->start) >> 20, r->start);
		sep = '+';
	}
}

/*
 * A kernel that boots with no memory above 4 GiB keeps no bounce buffers; it is
 * lent some later.  Where firmware names nodes it knows of that.
 */
static bool wants_bounce(const struct memory_map *map)
{
	const struct memory_range *r;
	bool high = false;

	for (r = map->ranges; r < map->ranges + map->nr; r++) {
		if (!r->node && r->end > FOUR_GIB)
			return false;
		high |= r->end > FOUR_GIB;
	}
	return high && !map->from_srat;
}

/* The words that name the parts, and for a person what instance 0 keeps. */
void split_print(const struct memory_map *map, int parts)
{
	char text[4096];
	int i;

	for (i = 1; i < parts; i++) {
		split_cpu_text(&cpus, i, text, sizeof(text));
		printf("%s%s", i > 1 ? "," : "mios.parts=", text);
		print_memory(map, i);
	}
	printf(" ");
	if (wants_bounce(map))
		printf("iommu=soft ");
	split_cpu_text(&cpus, 0, text, sizeof(text));
	fprintf(stderr, "While all others are up instance 0 has these CPUs: %s.\n",
		text);
}
