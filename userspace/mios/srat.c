// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the firmware's table of memory affinity (ACPI SRAT) and keeps, of
 * each node's ranges, what is RAM by the firmware's memory map.  Nodes get
 * their numbers in the order in which the kernel gives them: first seen, first
 * numbered, CPUs before memory.  Without that table all is node 0's.  Called by
 * "mios reserve".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmios/libmios.h"
#include "srat.h"

#define SRAT		"/sys/firmware/acpi/tables/SRAT"
#define FIRMWARE_MAP	"/sys/firmware/memmap"

/* What the module takes memory in: the largest page that a kernel needs. */
#define PIECE		(2ULL << 20)

#define SRAT_HEADER	48
#define SRAT_CPU	0
#define SRAT_MEMORY	1
#define SRAT_X2APIC	2
#define ENABLED		1
#define MAX_DOMAINS	MIOS_MAX_INSTANCES

static unsigned char table[1 << 20];
static size_t table_len;

static uint32_t domains[MAX_DOMAINS];
static int nr_domains;

static uint64_t get(const unsigned char *at, int bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);	/* little endian, as the machine is */
	return value;
}

static int node_of(uint32_t domain)
{
	int i;

	for (i = 0; i < nr_domains; i++)
		if (domains[i] == domain)
			return i;
	if (nr_domains == MAX_DOMAINS)
		return -1;
	domains[nr_domains] = domain;
	return nr_domains++;
}

/* Calls @visit for each enabled entry of @type, which has @len bytes. */
static void each(int type, size_t len,
		 void (*visit)(const unsigned char *entry,
			       struct memory_map *map),
		 struct memory_map *map)
{
	size_t at;

	for (at = SRAT_HEADER; at + 2 <= table_len; at += table[at + 1]) {
		if (table[at + 1] < 2 || at + table[at + 1] > table_len)
			mios_die(MIOS_EXIT_FAILED, "reserve: " SRAT " is "
				 "damaged");
		if (table[at] == type && table[at + 1] >= len)
			visit(table + at, map);
	}
}

static void see_cpu(const unsigned char *e, struct memory_map *map)
{
	(void)map;
	if (get(e + 4, 4) & ENABLED)
		node_of(e[2] | get(e + 9, 3) << 8);
}

static void see_x2apic(const unsigned char *e, struct memory_map *map)
{
	(void)map;
	if (get(e + 12, 4) & ENABLED)
		node_of(get(e + 4, 4));
}

static void see_memory(const unsigned char *e, struct memory_map *map)
{
	struct memory_range *range = &map->ranges[map->nr];
	uint64_t start = get(e + 8, 8), size = get(e + 16, 8);

	if (!(get(e + 28, 4) & ENABLED) || !size || start + size < start)
		return;
	range->node = node_of(get(e + 2, 4));
	range->start = start;
	range->end = start + size;
	if (range->node >= 0 && map->nr < MAX_RANGES - 1)
		map->nr++;
}

static uint64_t read_number(const char *dir, const char *name, int base)
{
	char path[512], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strtoull(text, NULL, base);
}

static int is_ram(const char *dir)
{
	char path[512], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/type", dir);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return !strcmp(text, "System RAM\n");
}

/* The part of @all inside RAM from @start to @end, in whole pieces. */
static void keep(const struct memory_map *all, uint64_t start, uint64_t end,
		 struct memory_map *map)
{
	struct memory_range range;
	int i;

	for (i = 0; i < all->nr && map->nr < MAX_RANGES; i++) {
		range = all->ranges[i];
		if (range.start < start)
			range.start = start;
		if (range.end > end)
			range.end = end;
		range.start = (range.start + PIECE - 1) / PIECE * PIECE;
		range.end = range.end / PIECE * PIECE;
		if (range.start < range.end)
			map->ranges[map->nr++] = range;
	}
}

static void keep_ram(const struct memory_map *all, struct memory_map *map)
{
	char dir[64];
	int i;

	for (i = 0; ; i++) {
		snprintf(dir, sizeof(dir), FIRMWARE_MAP "/%d", i);
		if (!read_number(dir, "/end", 16))
			break;
		if (is_ram(dir))
			keep(all, read_number(dir, "/start", 16),
			     read_number(dir, "/end", 16) + 1, map);
	}
	/* A kernel without that map: the SRAT alone must do. */
	if (!i && !map->from_srat)
		mios_die(MIOS_EXIT_FAILED, "reserve: neither " SRAT " nor "
			 FIRMWARE_MAP " is there: what memory this machine has "
			 "is not known");
	if (!i)
		keep(all, 0, UINT64_MAX, map);
}

static void table_read(FILE *file, struct memory_map *all)
{
	table_len = fread(table, 1, sizeof(table), file);
	fclose(file);
	if (table_len < SRAT_HEADER || memcmp(table, "SRAT", 4))
		mios_die(MIOS_EXIT_FAILED, "reserve: " SRAT " is damaged");
	each(SRAT_X2APIC, 24, see_x2apic, all);
	each(SRAT_CPU, 16, see_cpu, all);
	each(SRAT_MEMORY, 40, see_memory, all);
}

void srat_read(struct memory_map *map)
{
	static struct memory_map all;
	FILE *file = fopen(SRAT, "re");

	if (!file && errno == EACCES)
		mios_die(MIOS_EXIT_FAILED, "reserve: no permission to read "
			 SRAT ": run it as root");
	if (!file && errno != ENOENT)
		mios_die(MIOS_EXIT_FAILED, "reserve: " SRAT ": %m");
	map->from_srat = file;
	map->nr = all.nr = 0;
	if (file)
		table_read(file, &all);
	else
		all = (struct memory_map){
			.ranges = { { .end = UINT64_MAX } }, .nr = 1,
		};
	keep_ram(&all, map);
}
