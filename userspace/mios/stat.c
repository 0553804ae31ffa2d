// SPDX-License-Identifier: GPL-2.0
/*
 * mios stat: what the kernels do, in numbers: tasks, load, free memory, and the
 * messages between each and this one.  Reads sysfs only, so everybody may.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cells.h"
#include "flags.h"
#include "libmios/libmios.h"
#include "subcommands.h"

#define WATCH_S 2

static const char usage[] =
"Usage: mios stat [OPTION...]\n"
"Shows counts of all instances: tasks that run, load, free memory, and messages\n"
"between each and this one since both are up.\n\n"
"  -w, --watch  again every two seconds, messages for each second, until\n"
"               interrupted\n"
"  -J, --json   for programs; mios-stat(1) has the names\n"
"  -h, --help   print this\n";

enum {
	C_INSTANCE, C_STATE, C_RUNNABLE, C_LOAD, C_FREE, C_SENT, C_RECEIVED
};

static const struct column totals[] = {
	{ "INSTANCE", "instance", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "STATE", "state", 0, SCOLS_JSON_STRING },
	{ "RUN", "runnable", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "LOAD", "load1", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "FREE", "memory_free", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "SENT", "messages_sent", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "RECEIVED", "messages_received", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ }
};

struct look {
	struct mios_instance list[MIOS_MAX_INSTANCES];
	int nr;
	struct timespec at;
};

static void take(struct look *look)
{
	look->nr = mios_instances_read(look->list, MIOS_MAX_INSTANCES);
	if (look->nr < 0)
		mios_die(MIOS_EXIT_FAILED, "stat: " MIOS_NO_SYSFS);
	clock_gettime(CLOCK_MONOTONIC, &look->at);
}

/* Of the same boot, as counts begin at 0 with each; NULL: there is none. */
static const struct mios_instance *earlier(const struct look *before,
					   const struct mios_instance *inst)
{
	int i;

	for (i = 0; i < before->nr; i++)
		if (before->list[i].id == inst->id &&
		    before->list[i].incarnation == inst->incarnation)
			return &before->list[i];
	return NULL;
}

/* Rounded; what is counted anew counts from 0. */
static uint64_t each_second(uint64_t now, uint64_t then, double seconds)
{
	return (now - (then <= now ? then : 0)) / seconds + 0.5;
}

static void add_line(struct libscols_table *table,
		     const struct mios_instance *inst, bool json)
{
	struct libscols_line *line = table_add_line(table);
	const char *none = json ? "null" : "-";
	char load[32];

	cell_set_number(line, C_INSTANCE, inst->id);
	cell_set(line, C_STATE, mios_state_name(inst->state));
	if (!mios_instance_runs(inst) && inst->id != mios_self()) {
		for (int c = C_RUNNABLE; c <= C_RECEIVED; c++)
			cell_set(line, c, none);
		return;
	}
	cell_set_number(line, C_RUNNABLE, inst->runnable);
	snprintf(load, sizeof(load), "%.2f", inst->load[0]);
	cell_set(line, C_LOAD, load);
	cell_set_size(line, C_FREE, inst->memory_free, json);
	if (inst->id == mios_self()) {
		cell_set(line, C_SENT, none);
		cell_set(line, C_RECEIVED, none);
		return;
	}
	cell_set_number(line, C_SENT, inst->sent);
	cell_set_number(line, C_RECEIVED, inst->received);
}

static void print(const struct look *look, const struct column *columns,
		  bool json)
{
	struct libscols_table *table = table_create("instances", columns, json);
	int i;

	for (i = 0; i < look->nr; i++)
		add_line(table, &look->list[i], json);
	table_show(table, json);
}

static void print_rates(const struct look *before, const struct look *now)
{
	static struct look rates;
	struct column columns[sizeof(totals) / sizeof(totals[0])];
	double seconds = now->at.tv_sec - before->at.tv_sec +
			 (now->at.tv_nsec - before->at.tv_nsec) / 1e9;
	int i;

	rates = *now;
	for (i = 0; i < rates.nr; i++) {
		struct mios_instance *inst = &rates.list[i];
		const struct mios_instance *old = earlier(before, inst);

		inst->sent = each_second(inst->sent, old ? old->sent : 0,
					 seconds);
		inst->received = each_second(inst->received,
					     old ? old->received : 0, seconds);
	}
	memcpy(columns, totals, sizeof(columns));
	columns[C_SENT].title = "SENT/S";
	columns[C_RECEIVED].title = "RECEIVED/S";
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	print(&rates, columns, false);
}

int cmd_stat(int argc, char **argv)
{
	static struct look look[2];
	bool json = false, again = false;
	const struct flag flags[] = {
		{ "json", 'J', &json }, { "watch", 'w', &again }, { }
	};
	int i;

	flags_take("stat", usage, argc, argv, flags);
	if (optind < argc)
		mios_usage("stat", "it takes no argument, what is '%.40s'?",
			   argv[optind]);
	if (json && again)
		mios_usage("stat", "--json is printed once: leave out --watch");
	take(&look[0]);
	if (!again) {
		print(&look[0], totals, json);
		return MIOS_EXIT_OK;
	}
	for (i = 1;; i ^= 1) {
		sleep(WATCH_S);
		take(&look[i]);
		print_rates(&look[i ^ 1], &look[i]);
	}
}
