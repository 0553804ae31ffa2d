// SPDX-License-Identifier: GPL-2.0
/*
 * mios log: the kernel logs of instances, dead or alive, from their first
 * lines; that of this kernel comes from /dev/kmsg.  What is there is read
 * whole, then what was asked for of it is printed, then what follows.  No
 * locks.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "log.h"
#include "subcommands.h"

#define LINES_MAX	1000000
#define SINCE_MAX	1e9		/* seconds */
#define SINCE_LEAST	0.0000001	/* below the last digit of a stamp */

static const char usage[] =
"Usage: mios log INSTANCES|all [OPTION...]\n"
"Prints the kernel logs of instances, also of those that have ended.  Instance\n"
"0 reads that of every one, the others their own and that of instance 0.\n"
"INSTANCES is a list such as 1 or 0,2-3; lines of several begin with 'N: '.\n\n"
"  -n, --lines=LINES  only the last LINES lines of each\n"
"      --since=SECS   only lines with that stamp or a later one; -SECS counts\n"
"                     from the last line of each log\n"
"  -f, --follow       wait for more at the end, until interrupted\n"
"  -h, --help         print this\n";

enum { OPT_SINCE = 256 };

static double parse_since(const char *text)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !(value > -SINCE_MAX) ||
	    !(value < SINCE_MAX))
		mios_usage("log", "--since is a number of seconds, as lines "
			   "of the log begin with");
	/* So that -0 is the last line's own. */
	return *text == '-' && value == 0 ? -SINCE_LEAST : value;
}

static void options_parse(int argc, char **argv, struct log_options *opt)
{
	static const struct option longs[] = {
		{ "lines", required_argument, NULL, 'n' },
		{ "since", required_argument, NULL, OPT_SINCE },
		{ "follow", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":n:fh", longs, NULL)) != -1)
		switch (c) {
		case 'n':
			if (mios_number(optarg, 0, LINES_MAX, &opt->lines))
				mios_usage("log", "--lines is a number up to "
					   "%d", LINES_MAX);
			break;
		case OPT_SINCE:
			opt->since = parse_since(optarg);
			break;
		case 'f':
			opt->follow = true;
			break;
		default:
			mios_other_option("log", usage, argv, c, longs);
		}
}

/* All that have a log here: who has never been booted has none. */
uint64_t log_all(int self)
{
	struct mios_instance inst;
	uint64_t which = 1ULL << self;
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (!mios_instance_read(i, &inst) &&
		    (i ? !self && inst.incarnation : 1))
			which |= 1ULL << i;
	return which;
}

bool log_may_read(const char *who, int self, int instance)
{
	if (self <= 0 || !instance || instance == self)
		return true;
	mios_error("mios", "%s %d: this is instance %d: only instance 0 reads "
		   "the others' logs; mios %s 0,%d works here", who, instance,
		   self, who, self);
	return false;
}

/* Opens each and prints what is there; returns how many failed. */
static int print_all(struct log *logs, uint64_t which, int self,
		     const struct log_options *opt)
{
	int i, failed = 0;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		logs[i].fd = -1;
		if (!(which & 1ULL << i))
			continue;
		if (!log_may_read("log", self, i) ||
		    log_open(&logs[i], i, i == self, opt) ||
		    log_print(&logs[i]))
			failed++;
	}
	mios_flush_stdout();
	return failed;
}

static int follow_all(struct log *logs)
{
	struct pollfd fds[MIOS_MAX_INSTANCES];
	int i, open, failed = 0;

	for (;;) {
		for (i = open = 0; i < MIOS_MAX_INSTANCES; i++) {
			fds[i].fd = logs[i].fd;
			fds[i].events = POLLIN;
			open += fds[i].fd >= 0;
		}
		if (!open)
			return failed;
		if (poll(fds, MIOS_MAX_INSTANCES, -1) < 0)
			continue;
		for (i = 0; i < MIOS_MAX_INSTANCES; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				failed += log_print(&logs[i]) != 0;
		mios_flush_stdout();
	}
}

int cmd_log(int argc, char **argv)
{
	static struct log logs[MIOS_MAX_INSTANCES];
	struct log_options opt = { .lines = -1 };
	int all, failed, self = mios_self();
	uint64_t which;

	options_parse(argc, argv, &opt);
	all = mios_parse_instances("log", argc - optind, argv + optind, &which);
	if (all && self < 0)
		mios_die(MIOS_EXIT_FAILED, "log: " MIOS_NO_SYSFS);
	if (all)
		which = log_all(self);
	opt.name = !!(which & (which - 1));
	failed = print_all(logs, which, self, &opt);
	if (opt.follow)
		failed += follow_all(logs);
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
