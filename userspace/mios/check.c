// SPDX-License-Identifier: GPL-2.0
/*
 * mios check: will it work on this machine?  A line for each thing that instances
 * depend on, before anything is changed and without the module.  What it calls a
 * hindrance is what the kernel's side refuses, in its words (mios_refusal.h).
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "boot.h"
#include "cells.h"
#include "check.h"
#include "flags.h"
#include "json.h"
#include "libmios/libmios.h"
#include "subcommands.h"
#include "try.h"

static const char usage[] =
"Usage: mios check [--try] [OPTION...]\n"
"Tells whether instances can run on this machine, a line for each thing: good,\n"
"in part, not known, not yet (it is still to be set up), or will not work.\n"
"Changes nothing; as root it sees more.\n\n"
"      --try   where nothing is in the way, boot an instance on one CPU, measure,\n"
"              and give everything back\n"
"  -J, --json  for programs; mios-check(1) has the names\n"
"  -h, --help  print this\n";

static const struct column columns[] = {
	{ "THING", "thing", 0, SCOLS_JSON_STRING },
	{ "VERDICT", "verdict", 0, SCOLS_JSON_STRING },
	{ "WHY", "why", 0, SCOLS_JSON_STRING },
	{ }
};

static const char * const names[NR_VERDICTS] = {
	[CHECK_GOOD] = "good",
	[CHECK_PART] = "in part",
	[CHECK_UNKNOWN] = "not known",
	[CHECK_NOT_YET] = "not yet",
	[CHECK_STOPS] = "will not work",
};

static struct libscols_table *table;
static unsigned int count[NR_VERDICTS];

void check_say(enum verdict verdict, const char *thing, const char *fmt, ...)
{
	struct libscols_line *line = table_add_line(table);
	char why[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	cell_set(line, 0, thing);
	cell_set(line, 1, names[verdict]);
	cell_set(line, 2, why);
	count[verdict]++;
}

static void sum_up(void)
{
	scols_print_table(table);
	printf("\n");
	if (count[CHECK_STOPS])
		printf("It will not work on this machine as it is. In the way: "
		       "%u; still to be set up: %u.\n",
		       count[CHECK_STOPS], count[CHECK_NOT_YET]);
	else if (count[CHECK_NOT_YET])
		printf("The machine is not in the way. Still to be set up: "
		       "%u.\n", count[CHECK_NOT_YET]);
	else
		printf("Nothing that is known of stands in the way.\n");
	if (geteuid())
		printf("Run it as root to see all.\n");
}

/* The words of the command line, where these are what is missing. */
static void print_words(void)
{
	const char *node1 = "/sys/devices/system/node/node1";
	char * const nodes[] = { "mios", "reserve", NULL };
	char * const parts[] = { "mios", "reserve", "--split=2", NULL };
	char value[8];

	if (check_word("mios.parts=", value, sizeof(value)) ||
	    check_word("mios.pool=", value, sizeof(value)))
		return;
	printf("\nThese are the words for the kernel's command line:\n");
	fflush(stdout);
	boot_run(access(node1, F_OK) ? parts : nodes);
}

static void look(bool json)
{
	table = table_create("things", columns, json);
	check_cpu();
	check_kernel();
	check_memory();
	check_device();
}

static int tell(bool json)
{
	if (json) {
		json_begin();
		json_table(table);
		json_end();
	} else {
		sum_up();
	}
	mios_flush_stdout();
	return count[CHECK_STOPS] || count[CHECK_NOT_YET] ? MIOS_EXIT_FAILED :
							    MIOS_EXIT_OK;
}

/* Before what stands in the way is out of it nothing is tried. */
static int try_if_good(bool json)
{
	struct try_place place;
	int ret;

	if (!count[CHECK_STOPS] && !count[CHECK_NOT_YET]) {
		if (try_place_find(&place))
			return check_try(&place, json ? table : NULL);
		if (json)
			tell(json);
		return MIOS_EXIT_FAILED;
	}
	ret = tell(json);
	if (!json && !count[CHECK_STOPS])
		print_words();
	mios_error("mios", "check: --try boots nothing before that");
	return ret;
}

int cmd_check(int argc, char **argv)
{
	bool json = false, try = false, peer = false;
	/* The last is the other side of --try, on the instance. */
	const struct flag flags[] = {
		{ "json", 'J', &json }, { "try", 0, &try },
		{ "try-peer", 0, &peer }, { }
	};
	int ret;

	flags_take("check", usage, argc, argv, flags);
	if (optind < argc)
		mios_usage("check", "it takes no argument, what is '%.40s'?",
			   argv[optind]);
	if (peer)
		return try_peer("/mios-pool/" TRY_FILE);
	if (mios_self() > 0)
		mios_die(MIOS_EXIT_FAILED, "check: this is instance %d, which "
			 "sees its own node alone: run it on instance 0",
			 mios_self());
	if (try)
		try_begin(json);
	look(json);
	ret = try ? try_if_good(json) : tell(json);
	scols_unref_table(table);
	return ret;
}
