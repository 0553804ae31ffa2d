// SPDX-License-Identifier: GPL-2.0
/*
 * mios stat: what the kernels do, in numbers: tasks, load, free memory, the
 * messages between each and this one, and what each does together with others.
 * Reads sysfs only, so everybody may.
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
"  -e, --events  what each has done together with others since it is up: doorbells,\n"
"                calls, page faults, revokes, wakes, waits for locks\n"
"  -w, --watch   again every two seconds, what is counted for each second, until\n"
"                interrupted\n"
"  -J, --json    all of it for programs; mios-stat(1) has the names\n"
"  -h, --help    print this\n";

enum {
	C_INSTANCE, C_STATE, C_RUNNABLE, C_LOAD, C_FREE, C_SENT, C_RECEIVED, C_COUNTS,
	C_ALL = C_COUNTS + MIOS_NR_COUNTS
};

static const struct column totals[] = {
	{ "INSTANCE", "instance", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "STATE", "state", 0, SCOLS_JSON_STRING },
	{ "RUN", "runnable", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "LOAD", "load1", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "FREE", "memory_free", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "SENT", "messages_sent", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "RECEIVED", "messages_received", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "RUNG", "bells_rung", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "HEARD", "bells_heard", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "CALLS", "calls", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "SERVED", "calls_served", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "FAULTS", "faults", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "REVOKES", "revokes", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "WAKES", "futex_wakes", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "LOCK-WAITS", "lock_waits", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
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

/* For people one half of the columns, for programs all. */
enum shown { SHOW_LOADS, SHOW_EVENTS, SHOW_ALL };

static int counts_at(enum shown shown)
{
	return shown == SHOW_EVENTS ? C_RUNNABLE : C_COUNTS;
}

/* Into @columns, which has room for all. */
static void choose_columns(enum shown shown, struct column *columns)
{
	const int at = counts_at(shown);

	memcpy(columns, totals, sizeof(totals));
	if (shown != SHOW_LOADS)	/* with the empty one that is last */
		memcpy(&columns[at], &totals[C_COUNTS],
		       (MIOS_NR_COUNTS + 1) * sizeof(*totals));
	else
		memset(&columns[C_COUNTS], 0, sizeof(*columns));
}

static void add_counts(struct libscols_line *line, const struct mios_instance *inst,
		       int at, const char *none)
{
	int i;

	for (i = 0; i < MIOS_NR_COUNTS; i++)
		if (inst->counted)
			cell_set_number(line, at + i, inst->counts[i]);
		else
			cell_set(line, at + i, none);
}

static void add_loads(struct libscols_line *line, const struct mios_instance *inst,
		      bool json, const char *none)
{
	char load[32];

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

static void add_line(struct libscols_table *table,
		     const struct mios_instance *inst, enum shown shown)
{
	struct libscols_line *line = table_add_line(table);
	const bool json = shown == SHOW_ALL;
	const char *none = json ? "null" : "-";
	int c;

	cell_set_number(line, C_INSTANCE, inst->id);
	cell_set(line, C_STATE, mios_state_name(inst->state));
	if (shown != SHOW_LOADS)
		add_counts(line, inst, counts_at(shown), none);
	if (shown == SHOW_EVENTS)
		return;
	if (mios_instance_runs(inst) || inst->id == mios_self()) {
		add_loads(line, inst, json, none);
		return;
	}
	for (c = C_RUNNABLE; c <= C_RECEIVED; c++)
		cell_set(line, c, none);
}

static void print(const struct look *look, const struct column *columns,
		  enum shown shown)
{
	struct libscols_table *table = table_create("instances", columns,
						    shown == SHOW_ALL);
	int i;

	for (i = 0; i < look->nr; i++)
		add_line(table, &look->list[i], shown);
	table_show(table, shown == SHOW_ALL);
}

static void rates_of(struct mios_instance *inst, const struct mios_instance *old,
		     double seconds)
{
	int i;

	inst->sent = each_second(inst->sent, old ? old->sent : 0, seconds);
	inst->received = each_second(inst->received, old ? old->received : 0,
				     seconds);
	for (i = 0; i < MIOS_NR_COUNTS; i++)
		inst->counts[i] = each_second(inst->counts[i],
					      old ? old->counts[i] : 0, seconds);
}

static void print_rates(const struct look *before, const struct look *now,
			const struct column *counted, enum shown shown)
{
	static struct look rates;
	static char titles[C_ALL][24];
	struct column columns[C_ALL + 1];
	double seconds = now->at.tv_sec - before->at.tv_sec +
			 (now->at.tv_nsec - before->at.tv_nsec) / 1e9;
	int i, c;

	rates = *now;
	for (i = 0; i < rates.nr; i++)
		rates_of(&rates.list[i], earlier(before, &rates.list[i]), seconds);
	memcpy(columns, counted, sizeof(columns));
	for (c = shown == SHOW_LOADS ? C_SENT : counts_at(shown); columns[c].title; c++) {
		snprintf(titles[c], sizeof(titles[c]), "%s/S", counted[c].title);
		columns[c].title = titles[c];
	}
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	print(&rates, columns, shown);
}

int cmd_stat(int argc, char **argv)
{
	static struct look look[2];
	bool json = false, again = false, events = false;
	const struct flag flags[] = {
		{ "events", 'e', &events }, { "json", 'J', &json },
		{ "watch", 'w', &again }, { }
	};
	struct column columns[C_ALL + 1];
	enum shown shown;
	int i;

	flags_take("stat", usage, argc, argv, flags);
	if (optind < argc)
		mios_usage("stat", "it takes no argument, what is '%.40s'?",
			   argv[optind]);
	if (json && again)
		mios_usage("stat", "--json is printed once: leave out --watch");
	if (json && events)
		mios_usage("stat", "--json has all: leave out --events");
	shown = json ? SHOW_ALL : events ? SHOW_EVENTS : SHOW_LOADS;
	choose_columns(shown, columns);
	take(&look[0]);
	if (!again) {
		print(&look[0], columns, shown);
		return MIOS_EXIT_OK;
	}
	for (i = 1;; i ^= 1) {
		sleep(WATCH_S);
		take(&look[i]);
		print_rates(&look[i ^ 1], &look[i], columns, shown);
	}
}
