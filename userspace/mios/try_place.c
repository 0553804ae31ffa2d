// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: which CPU, and which memory.  Of what has been set aside for
 * instances, as the module would use it: ranges of parts where these are named, else
 * whole nodes'; never what mios.pool= names, which may hold files.  No piece has a
 * whole memory block in it: only such are lent to instance 0, and what is lent would
 * stay its own when the module has gone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "libmios/libmios.h"
#include "split.h"
#include "try.h"

#define PIECE		(2ULL << 20)	/* what the module takes memory in */
#define WANTED		(512ULL << 20)
#define LEAST		(256ULL << 20)
#define POOL		(16ULL << 20)
#define ROOM		(64ULL << 20)	/* less is not worth one of few ranges */
#define NODE_DIR	"/sys/devices/system/node"
#define CPU_DIR		"/sys/devices/system/cpu"

/* What one part or node has, and nobody uses. */
struct room {
	int cpu;			/* 0: none that could be had */
	struct memory_map map;
};

static struct memory_map firmware;

/* Without [@start, @end), which may leave two of one. */
static void cut_out(struct memory_map *map, uint64_t start, uint64_t end)
{
	const int nr = map->nr;
	int i;

	for (i = 0; i < nr; i++) {
		struct memory_range *r = &map->ranges[i], low = *r, high = *r;

		if (end <= r->start || r->end <= start)
			continue;
		low.end = low.start > start ? low.start : start;
		high.start = high.end < end ? high.end : end;
		*r = low;
		if (high.start < high.end && map->nr < MAX_RANGES)
			map->ranges[map->nr++] = high;
	}
}

/* SIZE@ADDRESS or SIZE$ADDRESS; false: it is neither. */
static bool range_parse(const char *text, char sign, struct memory_range *range)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t size;
	char *rest;

	size = strtoull(text, &rest, 0);
	unit = *rest ? strchr(units, *rest) : NULL;
	if (unit) {
		size <<= 10 * (unit - units + 1);
		rest++;
	}
	if (*rest != sign || !size)
		return false;
	range->start = strtoull(rest + 1, NULL, 0);
	range->end = range->start + size;
	return range->end > range->start;
}

/* Calls @visit for each range of a word, of all words, of the command line. */
static void each_range(const char *word, char sign, struct memory_map *map,
		       void (*visit)(struct memory_map *map,
				     const struct memory_range *range))
{
	char value[4096], *one, *save;
	struct memory_range range;
	int i;

	for (i = 0; check_word_nth(word, i, value, sizeof(value)); i++)
		for (one = strtok_r(value, ",", &save); one;
		     one = strtok_r(NULL, ",", &save))
			if (range_parse(one, sign, &range))
				visit(map, &range);
}

static void drop(struct memory_map *map, const struct memory_range *range)
{
	cut_out(map, range->start, range->end);
}

/* What of the firmware's RAM lies in @range. */
static void keep(struct memory_map *map, const struct memory_range *range)
{
	struct memory_range r;
	int i;

	for (i = 0; i < firmware.nr && map->nr < MAX_RANGES; i++) {
		r = firmware.ranges[i];
		if (r.start < range->start)
			r.start = range->start;
		if (r.end > range->end)
			r.end = range->end;
		r.start = (r.start + PIECE - 1) / PIECE * PIECE;
		r.end = r.end / PIECE * PIECE;
		if (r.start < r.end)
			map->ranges[map->nr++] = r;
	}
}

/* What instance 0 has as its memory, that of an earlier mios among it. */
static void drop_in_use(struct memory_map *map)
{
	FILE *file = fopen("/proc/iomem", "re");
	uint64_t start, end;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, ": System RAM") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2)
			cut_out(map, start, end + 1);
	if (file)
		fclose(file);
}

/* The highest of a list such as 2-3+6 or 2-3,6 that is online. */
static int last_cpu(const char *list)
{
	int first, last, found = 0, len;
	char path[128], online[8];

	while (*list) {
		if (sscanf(list, "%d-%d%n", &first, &last, &len) != 2) {
			if (sscanf(list, "%d%n", &first, &len) != 1)
				return found;
			last = first;
		}
		for (; last >= first; last--) {
			snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", last);
			if (!check_read(path, online, sizeof(online)) ||
			    online[0] != '1')
				continue;
			found = last > found ? last : found;
			break;
		}
		list += len;
		list += strspn(list, "+,");
	}
	return found;
}

/* Parts as the parameter has them; false: the module is to have whole nodes. */
static bool parts_read(struct room *rooms)
{
	char value[4096], *part, *list, *one, *save;
	struct memory_range range;
	struct room *room = rooms;

	if (!check_line("/etc/default/mios", "parts=", value, sizeof(value)) &&
	    !check_word("mios.parts=", value, sizeof(value)))
		return false;
	for (part = strtok_r(value, ",\"' ", &save);
	     part && room < rooms + MIOS_MAX_INSTANCES;
	     part = strtok_r(NULL, ",\"' ", &save), room++) {
		list = strsep(&part, "/");
		room->cpu = last_cpu(list);
		while ((one = strsep(&part, "+")))
			if (range_parse(one, '@', &range))
				keep(&room->map, &range);
	}
	return true;
}

static void nodes_read(struct room *rooms)
{
	static struct memory_map aside;
	char path[128], list[4096];
	int i;

	each_range("memmap=", '$', &aside, keep);
	for (i = 0; i < aside.nr; i++) {
		const struct memory_range *r = &aside.ranges[i];
		struct memory_map *to;

		if (r->node <= 0 || r->node >= MIOS_MAX_INSTANCES)
			continue;
		to = &rooms[r->node].map;
		to->ranges[to->nr++] = *r;
		snprintf(path, sizeof(path), NODE_DIR "/node%d/cpulist", r->node);
		if (check_read(path, list, sizeof(list)))
			rooms[r->node].cpu = last_cpu(list);
	}
}

/* The highest range of @size or more; its node is -1 where there is none left. */
static struct memory_range *highest(struct memory_map *map, uint64_t size)
{
	static struct memory_range none = { .node = -1 };
	struct memory_range *found = &none, *r;

	for (r = map->ranges; r < map->ranges + map->nr; r++)
		if (r->start + size <= r->end && r->end > found->end)
			found = r;
	return found;
}

/* From the top of @map, in pieces without a whole block, to the parameters' words. */
static bool carve(struct memory_map *map, uint64_t block, int cpu,
		  struct try_place *place)
{
	struct memory_range *r = highest(map, POOL);
	uint64_t least, start;
	int pieces = 0;
	size_t len;

	if (r->node < 0)
		return false;
	r->end -= POOL;
	snprintf(place->pool, sizeof(place->pool), "%lluM@%#" PRIx64, POOL >> 20,
		 r->end);
	len = snprintf(place->parts, sizeof(place->parts), "%d", cpu);
	place->cpu = cpu;
	place->memory = 0;
	while (pieces < SPLIT_RANGES && place->memory < WANTED) {
		r = highest(map, ROOM);
		if (r->node < 0)
			break;
		if (!(r->end % block))
			r->end -= PIECE;
		least = r->end / block * block;
		least = least > block ? least - block + PIECE : PIECE;
		/* Two pieces side by side would be one, also of two ranges. */
		start = r->start + PIECE > least ? r->start + PIECE : least;
		if (r->end - start > WANTED - place->memory)
			start = r->end - (WANTED - place->memory);
		len += snprintf(place->parts + len, sizeof(place->parts) - len,
				"%c%" PRIu64 "M@%#" PRIx64, pieces++ ? '+' : '/',
				(r->end - start) >> 20, start);
		place->memory += r->end - start;
		r->end = start - PIECE;
	}
	return place->memory >= LEAST;
}

bool try_place_find(struct try_place *place)
{
	static struct room rooms[MIOS_MAX_INSTANCES];
	struct room *room;

	srat_read(&firmware);
	if (!parts_read(rooms))
		nodes_read(rooms);
	for (room = rooms + MIOS_MAX_INSTANCES - 1; room >= rooms; room--) {
		each_range("mios.pool=", '@', &room->map, drop);
		drop_in_use(&room->map);
		if (room->cpu && carve(&room->map, block_size(), room->cpu, place))
			return true;
	}
	mios_error("mios", "check: of what is set aside no part or node has a CPU online "
		   "and %lluM that instance 0 does not use: where mios has been loaded "
		   "since its boot, boot it again", LEAST >> 20);
	return false;
}
