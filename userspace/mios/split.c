// SPDX-License-Identifier: GPL-2.0
/*
 * Cuts the memory and the CPUs of one node into parts.  Part 0 is instance 0's:
 * it has CPU 0 and the lowest memory, which its devices reach.  The others'
 * memory is taken from the top, in whole blocks, for in such it is lent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

static uint64_t size_of(const struct memory_range *r)
{
	return r->end - r->start;
}

static int by_address(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static uint64_t round_up(uint64_t value, uint64_t block)
{
	return (value + block - 1) / block * block;
}

/*
 * The top of @range, @want bytes or less, to @to; false where it has no block.
 * The top may be less than a block, and goes with what lies below it.
 */
static bool take_top(struct memory_range *range, uint64_t want, uint64_t block,
		     struct memory_range *to)
{
	uint64_t least = round_up(range->start, block);
	uint64_t start = range->end > want ?
			 round_up(range->end - want, block) : 0;

	if (start < least)
		start = least;
	if (start + block > range->end)
		return false;
	to->start = start;
	to->end = range->end;
	range->end = start;
	return true;
}

/* Memory of one part, from the highest range of node 0 downwards. */
static bool fill_part(struct memory_map *map, int part, uint64_t share,
		      uint64_t block)
{
	int i, pieces = 0, nr = map->nr;
	uint64_t left = share;

	for (i = nr - 1; i >= 0 && left >= block; i--) {
		struct memory_range *to = &map->ranges[map->nr];

		if (map->ranges[i].node)
			continue;
		if (map->nr == MAX_RANGES || pieces == SPLIT_RANGES)
			return false;
		if (!take_top(&map->ranges[i], left, block, to))
			continue;
		to->node = part;
		left -= size_of(to);
		map->nr++;
		pieces++;
	}
	qsort(map->ranges, map->nr, sizeof(map->ranges[0]), by_address);
	return left < block;
}

static void drop_empty(struct memory_map *map)
{
	int i, nr = 0;

	for (i = 0; i < map->nr; i++)
		if (size_of(&map->ranges[i]))
			map->ranges[nr++] = map->ranges[i];
	map->nr = nr;
}

/*
 * Gives each part but 0 an equal share of the memory of node 0: the ranges of
 * @map become those of parts.  @block: what memory is lent in.  False, with
 * @why, where that cannot be; @map is of no use then.
 */
bool split_memory(struct memory_map *map, int parts, uint64_t block, char *why,
		  size_t size)
{
	uint64_t all = 0, share;
	int i;

	qsort(map->ranges, map->nr, sizeof(map->ranges[0]), by_address);
	for (i = 0; i < map->nr; i++)
		all += size_of(&map->ranges[i]);
	share = all / parts / block * block;
	if (share < SPLIT_MEMORY) {
		snprintf(why, size, "%" PRIu64 "M of memory in %d parts, in "
			 "blocks of %" PRIu64 "M, are %" PRIu64 "M each: an "
			 "instance wants %lluM", all >> 20, parts, block >> 20,
			 share >> 20, SPLIT_MEMORY >> 20);
		return false;
	}
	for (i = parts - 1; i > 0; i--)
		if (!fill_part(map, i, share, block)) {
			snprintf(why, size, "memory lies in too many ranges "
				 "for %d parts of %" PRIu64 "M", parts,
				 share >> 20);
			return false;
		}
	drop_empty(map);
	return true;
}

/*
 * Gives each part cores that lie side by side, @threads: single CPUs.  Part 0
 * has no fewer than any other.
 */
bool split_cpus(struct cpu_map *cpus, int parts, bool threads, char *why,
		size_t size)
{
	int i, units = 0, online = 0, unit = 0, at;

	for (i = 0; i < cpus->nr; i++) {
		online += cpus->core[i] >= 0;
		units += threads ? cpus->core[i] >= 0 : cpus->core[i] == i;
	}
	if (units < parts) {
		snprintf(why, size, "%d parts want a core each, and there are "
			 "%d%s", parts, units, online >= parts && !threads ?
			 " with several threads: --threads cuts between these" :
			 "");
		return false;
	}
	for (i = 0; i < cpus->nr; i++) {
		cpus->part[i] = -1;
		if (cpus->core[i] < 0)
			continue;
		/* The lowest of a core comes first. */
		if (!threads && cpus->core[i] != i) {
			cpus->part[i] = cpus->part[cpus->core[i]];
			continue;
		}
		at = unit++ * parts / units;
		cpus->part[i] = at;
	}
	return true;
}

/* A part's CPUs as the parameter parts wants them, 2-3+6; their number. */
int split_cpu_text(const struct cpu_map *cpus, int part, char *buf,
		   size_t size)
{
	size_t len = 0;
	int i, end, nr = 0;

	buf[0] = '\0';
	for (i = 0; i < cpus->nr && len < size; i = end + 1) {
		end = i;
		if (cpus->part[i] != part)
			continue;
		while (end + 1 < cpus->nr && cpus->part[end + 1] == part)
			end++;
		len += snprintf(buf + len, size - len, end > i ? "%s%d-%d" :
				"%s%d", len ? "+" : "", i, end);
		nr += end - i + 1;
	}
	return nr;
}
