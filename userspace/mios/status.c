// SPDX-License-Identifier: GPL-2.0
/*
 * mios status: the instances as a table for people or as JSON for programs.
 * Reads sysfs only, so everybody may.  --watch prints again whenever the
 * state of an instance changes, and every two seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "flags.h"
#include "json.h"
#include "lend.h"
#include "libmios/libmios.h"
#include "metrics.h"
#include "shared.h"
#include "subcommands.h"

#define WATCH_MS 2000

static const char usage[] =
"Usage: mios status [INSTANCES] [OPTION...]\n"
"Shows the instances of this machine, or those of a list such as 1 or 0,2-3.\n\n"
"  -J, --json   for programs; mios-status(1) has the names and their units\n"
"  -w, --watch  print again whenever something changes, until interrupted\n"
"      --metrics  for Prometheus, pools and loads with it\n"
"      --shared  which instances share a core, a cache, a package, memory\n"
"  -h, --help   print this\n";

enum {
	C_INSTANCE, C_STATE, C_RING, C_CPUS, C_MEMORY, C_FREE, C_UPTIME,
	C_BOOT, C_HEARTBEAT, C_SUSPECT, C_COST, C_RELEASE, C_DISTANCE,
	C_PART, C_LIMIT, C_HOST, NR_COLUMNS
};

static const struct column all_columns[NR_COLUMNS + 1] = {
	[C_INSTANCE] = { "INSTANCE", "instance", SCOLS_FL_RIGHT,
			 SCOLS_JSON_NUMBER },
	[C_STATE] = { "STATE", "state", 0, SCOLS_JSON_STRING },
	[C_RING] = { "RING", "ring", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_CPUS] = { "CPUS", "cpus", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_MEMORY] = { "MEMORY", "memory", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_FREE] = { "FREE", "memory_free", SCOLS_FL_RIGHT,
		     SCOLS_JSON_NUMBER },
	[C_UPTIME] = { "UPTIME", "uptime", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_BOOT] = { "BOOT", "incarnation", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_HEARTBEAT] = { "HEARTBEAT", "heartbeat_age", SCOLS_FL_RIGHT,
			  SCOLS_JSON_NUMBER },
	[C_SUSPECT] = { "SUSPECT", "suspect", SCOLS_FL_RIGHT,
			SCOLS_JSON_NUMBER },
	[C_COST] = { "COST", "cost", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	[C_RELEASE] = { "KERNEL", "release", 0, SCOLS_JSON_STRING },
	[C_DISTANCE] = { "DISTANCES", "distances", 0,
			 SCOLS_JSON_ARRAY_NUMBER },
	/* Not in a table of whole nodes. */
	[C_PART] = { "PART", "part", 0, SCOLS_JSON_STRING },
	/* In the table's last line: it is the same for all. */
	[C_LIMIT] = { NULL, "suspect_timeout", SCOLS_FL_RIGHT,
		      SCOLS_JSON_NUMBER },
	[C_HOST] = { NULL, "host", 0, SCOLS_JSON_BOOLEAN },
};

/* What does not apply is a dash in the table and null in JSON. */
static void set_none(struct libscols_line *line, int column, int json)
{
	cell_set(line, column, json ? "" : "-");
}

static void set_size(struct libscols_line *line, int column, uint64_t bytes,
		     int json)
{
	if (bytes)
		cell_set_size(line, column, bytes, json);
	else
		set_none(line, column, json);
}

/* libsmartcols makes a JSON array of the lines of a cell. */
static void set_distance(struct libscols_line *line,
			 const struct mios_instance *inst, int json)
{
	char text[MIOS_MAX_INSTANCES * 12] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < inst->nr_distances && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%u",
				i ? json ? "\n" : " " : "",
				inst->distance[i]);
	cell_set(line, C_DISTANCE, text);
}

static void fill_times(struct libscols_line *line,
		       const struct mios_instance *inst, int json)
{
	char text[64];

	set_none(line, C_UPTIME, json);
	set_none(line, C_HEARTBEAT, json);
	set_none(line, C_RING, json);
	cell_set(line, C_SUSPECT, json ? "" : "no");
	if (json)
		cell_set_number(line, C_LIMIT, mios_suspect_timeout());
	if (inst->uptime) {
		mios_time_text(inst->uptime, text, sizeof(text));
		if (json)
			cell_set_number(line, C_UPTIME, inst->uptime);
		else
			cell_set(line, C_UPTIME, text);
	}
	if (inst->heartbeat_age >= 0) {
		snprintf(text, sizeof(text), "%ld%s", inst->heartbeat_age,
			 json ? "" : "ms");
		cell_set(line, C_HEARTBEAT, text);
	}
	if (inst->suspect >= 0) {
		snprintf(text, sizeof(text), "%ld%s", inst->suspect,
			 json ? "" : "s");
		cell_set(line, C_SUSPECT, text);
	}
	if (inst->ring >= 0)
		cell_set_number(line, C_RING, inst->ring);
}

static void add_line(struct libscols_table *table,
		     const struct mios_instance *inst, int json)
{
	struct libscols_line *line = table_add_line(table);

	cell_set_number(line, C_INSTANCE, inst->id);
	cell_set(line, C_STATE, mios_state_name(inst->state));
	cell_set_number(line, C_CPUS, inst->cpus);
	set_size(line, C_MEMORY, inst->memory, json);
	set_size(line, C_FREE, inst->memory_free, json);
	set_size(line, C_COST, inst->cost, json);
	cell_set_number(line, C_BOOT, inst->incarnation);
	if (json)
		cell_set(line, C_HOST, inst->id == mios_host() ? "1" : "0");
	if (inst->release[0])
		cell_set(line, C_RELEASE, inst->release);
	else
		set_none(line, C_RELEASE, json);
	if (inst->part[0])
		cell_set(line, C_PART, inst->part);
	else if (json)
		set_none(line, C_PART, json);
	fill_times(line, inst, json);
	set_distance(line, inst, json);
}

static void print_timeout(void)
{
	long timeout = mios_suspect_timeout();

	if (timeout > 0)
		printf("\nSuspect after %ld s without a heartbeat.\n",
		       timeout);
	else
		printf("\nNobody becomes suspect: suspect_timeout is 0.\n");
}

/* Nothing as long as it is instance 0, which boots and ends the others, too. */
static void print_host(void)
{
	int host = mios_host();

	if (host > 0)
		printf("Instance %d is host in place of instance 0: it declares deaths.\n",
		       host);
	else if (host < 0)
		puts("Nobody is host: instance 0 has died, and no other death is declared.");
}

static void print_once(uint64_t which, int json)
{
	struct column columns[NR_COLUMNS + 1];
	struct libscols_table *table;
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	bool parts = false;
	int i, nr;

	nr = mios_instances_read(list, MIOS_MAX_INSTANCES);
	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "status: " MIOS_NO_SYSFS);
	for (i = 0; i < nr; i++)
		parts |= list[i].part[0];
	memcpy(columns, all_columns, sizeof(columns));
	if (!parts)
		columns[C_PART].title = NULL;
	table = table_create("instances", columns, json);
	for (i = 0; i < nr; i++)
		if (which & 1ULL << list[i].id)
			add_line(table, &list[i], json);
	if (json) {
		json_begin();
		json_table(table);
		lend_status(which, json);
		json_end();
	} else {
		scols_print_table(table);
		print_timeout();
		print_host();
		lend_status(which, json);
	}
	scols_unref_table(table);
	mios_flush_stdout();
}

static int open_state(int instance)
{
	int fd = mios_sysfs_open(instance, "state");
	char text[64];

	/* sysfs tells of changes since the last read, so there must be one */
	if (fd >= 0 && read(fd, text, sizeof(text)) < 0)
		text[0] = '\0';
	return fd;
}

static void watch(uint64_t which, int json)
{
	struct pollfd fds[MIOS_MAX_INSTANCES];
	int i;

	for (;;) {
		for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
			fds[i].fd = open_state(i);
			fds[i].events = POLLPRI;
		}
		if (!json && isatty(STDOUT_FILENO))
			fputs("\033[H\033[J", stdout);
		print_once(which, json);
		poll(fds, MIOS_MAX_INSTANCES, WATCH_MS);
		for (i = 0; i < MIOS_MAX_INSTANCES; i++)
			if (fds[i].fd >= 0)
				close(fds[i].fd);
	}
}

/* What is named must exist; ends with the line about what does not. */
static uint64_t targets(int argc, char **argv)
{
	struct mios_instance inst;
	uint64_t which;
	int i;

	if (!argc || mios_parse_instances("status", argc, argv, &which))
		return ~0ULL;
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (which & 1ULL << i && mios_self() >= 0 &&
		    mios_instance_read(i, &inst))
			mios_die(MIOS_EXIT_FAILED, "status %d: there is no "
				 "instance %d: 'mios status' lists them", i, i);
	return which;
}

static int print_metrics(uint64_t which)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];
	int nr = mios_instances_read(list, MIOS_MAX_INSTANCES);

	if (nr < 0)
		mios_die(MIOS_EXIT_FAILED, "status: " MIOS_NO_SYSFS);
	metrics_print(list, nr, which);
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}

int cmd_status(int argc, char **argv)
{
	bool json = false, again = false, metrics = false, shared = false;
	const struct flag flags[] = {
		{ "json", 'J', &json }, { "watch", 'w', &again },
		{ "metrics", 0, &metrics }, { "shared", 0, &shared }, { }
	};
	uint64_t which;

	flags_take("status", usage, argc, argv, flags);
	which = targets(argc - optind, argv + optind);
	if (metrics && (json || again))
		mios_usage("status", "--metrics has a form of its own, and is "
			   "printed once");
	if (shared && (metrics || again))
		mios_usage("status", "--shared is printed once, as a table or "
			   "with --json");
	if (metrics)
		return print_metrics(which);
	if (shared) {
		status_shared(which, json);
		return MIOS_EXIT_OK;
	}
	if (again)
		watch(which, json);
	print_once(which, json);
	return MIOS_EXIT_OK;
}
