// SPDX-License-Identifier: GPL-2.0
/*
 * main SEED: what split.c makes of machines that are known, and of 20,000 that
 * are drawn by lot.  Exit status 0: all right; 1: the line that failed has been
 * printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mios/split.h"

#define MIB	(1ULL << 20)
#define GIB	(1ULL << 30)
#define ROUNDS	20000

#define must(what) do {							\
	if (!(what)) {							\
		printf("failed: %s, line %d\n", #what, __LINE__);	\
		exit(1);						\
	}								\
} while (0)

static struct memory_map map, before;
static struct cpu_map cpus;
static char why[256], text[4096];

static void memory(int nr, const uint64_t (*ranges)[2])
{
	map.nr = nr;
	for (int i = 0; i < nr; i++)
		map.ranges[i] = (struct memory_range){
			.start = ranges[i][0], .end = ranges[i][1],
		};
	before = map;
}

/* The ranges of a part, as text. */
static const char *of(int part)
{
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < map.nr; i++)
		if (map.ranges[i].node == part)
			len += snprintf(text + len, sizeof(text) - len,
					"%s%lluM@%lluM",
					len ? "+" : "",
					(map.ranges[i].end -
					 map.ranges[i].start) / MIB,
					map.ranges[i].start / MIB);
	return text;
}

static const char *cpus_of(int part)
{
	split_cpu_text(&cpus, part, text, sizeof(text));
	return text;
}

/* @threads CPUs a core, numbered as Intel does: second threads behind. */
static void machine(int cores, int threads)
{
	cpus.nr = cores * threads;
	for (int i = 0; i < cpus.nr; i++)
		cpus.core[i] = i % cores;
}

static void known_memory(void)
{
	static const uint64_t pc[][2] = {
		{ 2 * MIB, 2042 * MIB }, { 4 * GIB, 18 * GIB },
	};
	static const uint64_t small[][2] = {
		{ 2 * MIB, 2042 * MIB }, { 4 * GIB, 5 * GIB + 6 * MIB },
	};
	static const uint64_t torn[][2] = {
		{ 2 * MIB, GIB }, { GIB + 64 * MIB, GIB + 300 * MIB },
		{ 4 * GIB, 4 * GIB + 256 * MIB }, { 5 * GIB, 5 * GIB + 256 * MIB },
		{ 6 * GIB, 6 * GIB + 256 * MIB }, { 7 * GIB, 7 * GIB + 256 * MIB },
		{ 8 * GIB, 8 * GIB + 256 * MIB },
	};

	/* As OVMF leaves 4 GiB. */
	static const uint64_t uefi[][2] = {
		{ 2 * MIB, 8 * MIB }, { 10 * MIB, 2030 * MIB },
		{ 2032 * MIB, 2040 * MIB }, { 2044 * MIB, 2046 * MIB },
		{ 4 * GIB, 6 * GIB },
	};

	memory(2, pc);
	must(split_memory(&map, 4, 128 * MIB, why, sizeof(why)));
	must(!strcmp(of(0), "2040M@2M+2432M@4096M"));
	must(!strcmp(of(1), "3968M@6528M"));
	must(!strcmp(of(3), "3968M@14464M"));

	/* The end is no whole block; one range is not enough. */
	memory(2, small);
	must(split_memory(&map, 2, 128 * MIB, why, sizeof(why)));
	must(!strcmp(of(1), "378M@1664M+1030M@4096M"));
	must(!strcmp(of(0), "1662M@2M"));

	/* What is less than a block stays. */
	memory(5, uefi);
	must(split_memory(&map, 3, 128 * MIB, why, sizeof(why)));
	must(!strcmp(of(0), "6M@2M+1526M@10M+8M@2032M+2M@2044M"));
	must(!strcmp(of(1), "494M@1536M+768M@4096M"));
	must(!strcmp(of(2), "1280M@4864M"));

	memory(2, small);
	must(!split_memory(&map, 8, 128 * MIB, why, sizeof(why)));
	must(strstr(why, "are 256M each: an instance wants 512M"));
	memory(2, small);
	must(!split_memory(&map, 2, 2 * GIB, why, sizeof(why)));
	must(strstr(why, "are 0M each"));
	memory(7, torn);
	must(!split_memory(&map, 2, 128 * MIB, why, sizeof(why)));
	must(strstr(why, "too many ranges for 2 parts of 1152M"));
}

static void known_cpus(void)
{
	machine(4, 1);
	must(split_cpus(&cpus, 3, false, why, sizeof(why)));
	must(!strcmp(cpus_of(0), "0-1"));
	must(!strcmp(cpus_of(1), "2") && !strcmp(cpus_of(2), "3"));
	machine(4, 2);
	must(split_cpus(&cpus, 2, false, why, sizeof(why)));
	must(!strcmp(cpus_of(0), "0-1+4-5") && !strcmp(cpus_of(1), "2-3+6-7"));
	must(split_cpus(&cpus, 8, true, why, sizeof(why)));
	must(!strcmp(cpus_of(4), "4"));
	must(!split_cpus(&cpus, 5, false, why, sizeof(why)));
	must(strstr(why, "there are 4 with several threads: --threads"));
	must(!split_cpus(&cpus, 9, true, why, sizeof(why)));
	must(strstr(why, "there are 8"));
	must(!strstr(why, "--threads"));
	/* Nobody has a CPU that is offline. */
	cpus.core[2] = -1;
	cpus.core[6] = 6;
	must(split_cpus(&cpus, 2, false, why, sizeof(why)));
	must(!strcmp(cpus_of(0), "0-1+4-5") && !strcmp(cpus_of(1), "3+6-7"));
	must(cpus.part[2] == -1);
	/* As much as there is room for. */
	must(split_cpu_text(&cpus, 1, text, 4) > 0 && !strcmp(text, "3+6"));
}

static uint64_t drawn(uint64_t below)
{
	return ((uint64_t)random() << 31 | random()) % below;
}

static uint64_t sum(const struct memory_map *m, int part)
{
	uint64_t all = 0;

	for (int i = 0; i < m->nr; i++)
		if (part < 0 || m->ranges[i].node == part)
			all += m->ranges[i].end - m->ranges[i].start;
	return all;
}

static bool in_one(uint64_t start, uint64_t end)
{
	for (int i = 0; i < before.nr; i++)
		if (start >= before.ranges[i].start &&
		    end <= before.ranges[i].end)
			return true;
	return false;
}

static void any_memory(void)
{
	uint64_t block = 128 * MIB << drawn(3), at = 0, share;
	int parts = 2 + drawn(SPLIT_MAX - 1), pieces[SPLIT_MAX] = {};

	map.nr = 1 + drawn(5);
	for (int i = 0; i < map.nr; i++) {
		at += 2 * MIB * drawn(1024);
		map.ranges[i].node = 0;
		map.ranges[i].start = at;
		at += 2 * MIB * (1 + drawn(16384));
		map.ranges[i].end = at;
	}
	before = map;
	share = sum(&map, -1) / parts / block * block;
	if (!split_memory(&map, parts, block, why, sizeof(why))) {
		must(share < SPLIT_MEMORY || strstr(why, "too many ranges"));
		return;
	}
	must(share >= SPLIT_MEMORY);
	/* Nothing is lost, nothing is there twice: sorted, apart, as much. */
	must(sum(&map, -1) == sum(&before, -1));
	for (int i = 0; i < map.nr; i++) {
		const struct memory_range *r = &map.ranges[i];

		must(r->start < r->end && in_one(r->start, r->end));
		must(!i || r[-1].end <= r->start);
		must(!r->node || !(r->start % block));
		pieces[r->node]++;
	}
	must(sum(&map, 0) >= share);
	for (int i = 1; i < parts; i++) {
		must(sum(&map, i) <= share && sum(&map, i) > share - block);
		must(pieces[i] <= SPLIT_RANGES);
	}
}

static void any_cpus(void)
{
	int has[SPLIT_MAX] = {}, parts = 2 + drawn(SPLIT_MAX - 1), units = 0;
	bool threads = drawn(2);

	machine(1 + drawn(64), 1 + drawn(2));
	for (int i = 1; i < cpus.nr; i++)
		if (!drawn(8) && cpus.core[i] == i)
			for (int j = i; j < cpus.nr; j++)
				if (cpus.core[j] == i)
					cpus.core[j] = -1;
	for (int i = 0; i < cpus.nr; i++)
		units += threads ? cpus.core[i] >= 0 : cpus.core[i] == i;
	must(split_cpus(&cpus, parts, threads, why, sizeof(why)) ==
	     (units >= parts));
	if (units < parts)
		return;
	must(!cpus.part[0]);
	for (int i = 0; i < cpus.nr; i++) {
		must((cpus.part[i] < 0) == (cpus.core[i] < 0));
		must(cpus.part[i] < parts);
		if (cpus.core[i] < 0)
			continue;
		must(threads || cpus.part[i] == cpus.part[cpus.core[i]]);
		has[cpus.part[i]] += threads || cpus.core[i] == i;
	}
	for (int i = 0; i < parts; i++)
		must(has[i] >= units / parts && has[i] <= has[0]);
}

int main(int argc, char **argv)
{
	srandom(argc > 1 ? atoi(argv[1]) : 1);
	known_memory();
	known_cpus();
	for (int i = 0; i < ROUNDS; i++) {
		any_memory();
		any_cpus();
	}
	return 0;
}
