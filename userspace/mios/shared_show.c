// SPDX-License-Identifier: GPL-2.0
/*
 * mios status --shared: which instances share a core, a cache, a package or the
 * memory of a node, and so each other's speed.  From sysfs and CPUID; everybody
 * may, on every instance.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "json.h"
#include "libmios/libmios.h"
#include "shared.h"
#include "subcommands.h"

#define LOCAL		10	/* the distance within a node, by the SLIT */
#define CPUID_HYBRID	(1U << 15)

enum { C_RESOURCE, C_ID, C_INSTANCES };

static const struct column columns[] = {
	{ "RESOURCE", "resource", 0, SCOLS_JSON_STRING },
	{ "ID", "id", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "INSTANCES", "instances", 0, SCOLS_JSON_ARRAY_NUMBER },
	{ }
};

static struct mios_instance list[MIOS_MAX_INSTANCES];
static struct shared_cpu cpus[SHARED_CPUS];
static int nr_instances, nr_cpus;

static struct shared_cpuid ask(uint32_t leaf, uint32_t subleaf)
{
	struct shared_cpuid is;

	__cpuid_count(leaf, subleaf, is.eax, is.ebx, is.ecx, is.edx);
	return is;
}

/* Cores of two kinds: each says what is so for its own kind. */
static bool is_hybrid(void)
{
	return ask(0, 0).eax >= 7 && ask(7, 0).edx & CPUID_HYBRID;
}

static void read_cpus(int instance)
{
	char text[4096];
	int fd = mios_sysfs_open(instance, "apic_ids");
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	/* One that fills the page may have been cut. */
	if (got < 0 || got == sizeof(text) - 1)
		mios_die(MIOS_EXIT_FAILED, "status %d: " MIOS_SYSFS
			 "/instance%d/apic_ids cannot be read whole", instance,
			 instance);
	text[got] = '\0';
	if (!shared_list(text, instance, cpus, &nr_cpus))
		mios_die(MIOS_EXIT_FAILED, "status %d: " MIOS_SYSFS
			 "/instance%d/apic_ids is no list of CPUs", instance,
			 instance);
}

/* A line of the table; false: no instance that was asked for is among them. */
static bool add_line(struct libscols_table *table, const char *what,
		     uint32_t id, uint64_t who, uint64_t which, bool json)
{
	struct libscols_line *line;
	char text[MIOS_MAX_INSTANCES * 3 + 1] = "";
	size_t len = 0;
	int i;

	if (!(who & which))
		return false;
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (who & 1ULL << i)
			len += snprintf(text + len, sizeof(text) - len, "%s%d",
					!len ? "" : json ? "\n" : " ", i);
	line = table_add_line(table);
	cell_set(line, C_RESOURCE, what);
	cell_set_number(line, C_ID, id);
	cell_set(line, C_INSTANCES, text);
	return true;
}

/* The memory of a node: parts of one node are no distance from each other. */
static bool add_nodes(struct libscols_table *table, uint64_t which, bool json)
{
	uint64_t seen = 0, who;
	bool any = false;
	int i, j;

	for (i = 0; i < nr_instances; i++) {
		if (seen & 1ULL << list[i].id)
			continue;
		who = 1ULL << list[i].id;
		for (j = 0; j < nr_instances; j++)
			if (list[j].id < (int)list[i].nr_distances &&
			    list[i].distance[list[j].id] == LOCAL)
				who |= 1ULL << list[j].id;
		seen |= who;
		if (who & (who - 1))
			any |= add_line(table, "memory", list[i].id, who, which,
					json);
	}
	return any;
}

static bool add_kinds(struct libscols_table *table, uint64_t which, bool json)
{
	struct shared_kind kinds[SHARED_KINDS];
	int i, at, nr = shared_kinds(ask, kinds);
	bool any = false;
	uint64_t who;
	uint32_t id;

	if (!nr)
		mios_die(MIOS_EXIT_FAILED, "status: this processor does not "
			 "say which CPUs share what (CPUID 0xb)");
	nr_cpus = shared_sort(cpus, nr_cpus);
	for (i = 0; i < nr; i++) {
		at = 0;
		while ((who = shared_next(cpus, nr_cpus, kinds[i].shift, &at,
					  &id)))
			any |= add_line(table, kinds[i].name, id, who, which,
					json);
	}
	return any;
}

/* JSON of no lines; libsmartcols prints none. */
static void print_empty(bool json)
{
	if (json) {
		json_begin();
		printf(",\n   \"shared\": []");
		json_end();
	} else {
		puts("No two instances share a core, a cache, a package or the memory of a node.");
		mios_flush_stdout();
	}
}

void status_shared(uint64_t which, bool json)
{
	struct libscols_table *table = table_create("shared", columns, json);
	bool any;
	int i;

	nr_instances = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr_instances < 0)
		mios_die(MIOS_EXIT_FAILED, "status: " MIOS_NO_SYSFS);
	for (i = 0; i < nr_instances; i++)
		read_cpus(list[i].id);
	any = add_kinds(table, which, json);
	any |= add_nodes(table, which, json);
	if (is_hybrid())
		fputs("mios: status: cores of two kinds: of caches this is "
		      "what the CPU says on which the command ran\n", stderr);
	if (any) {
		table_show(table, json);
		return;
	}
	scols_unref_table(table);
	print_empty(json);
}
