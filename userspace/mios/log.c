// SPDX-License-Identifier: GPL-2.0
/*
 * mios log: the kernel log of an instance, dead or alive, from its first
 * line.  No locks.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "libmios/mios.h"
#include "mios.h"

static const char usage[] =
"Usage: mios log INSTANCE [OPTION...]\n"
"Prints the kernel log of an instance, also of one that has ended.  Instance 0\n"
"reads that of every other one; the others read that of instance 0.\n\n"
"  -f, --follow  wait for more at the end, until interrupted\n"
"  -h, --help    print this\n";

int cmd_log(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "follow", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	unsigned int flags = 0;
	long instance;
	int c, fd, ret;

	while ((c = getopt_long(argc, argv, ":fh", longs, NULL)) != -1)
		switch (c) {
		case 'f':
			flags |= MIOS_STREAM_FOLLOW;
			break;
		case 'h':
			mios_help(usage);
		default:
			mios_bad_option("log", argv, c, longs);
		}
	instance = mios_parse_target("log", argc - optind, argv + optind);
	if (instance == mios_self())
		mios_die(MIOS_EXIT_FAILED, "log %ld: that is the instance you "
			 "are on: dmesg prints its log", instance);
	if (mios_self() > 0 && instance)
		mios_die(MIOS_EXIT_FAILED, "log %ld: this is instance %d: "
			 "only instance 0 reads the others' logs; mios log 0 "
			 "works here", instance,
			 mios_self());
	fd = mios_stream_open("log", instance, flags, MIOS_IOC_LOG);
	ret = mios_copy_out(fd);
	/* "mios log 1 | head" ends this way and is no failure. */
	if (ret && ret != -EPIPE)
		mios_die(MIOS_EXIT_FAILED, "log %ld: %s", instance,
			 strerror(-ret));
	return MIOS_EXIT_OK;
}
