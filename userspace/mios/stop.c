// SPDX-License-Identifier: GPL-2.0
/*
 * mios stop: asks instances to shut down in order, as "poweroff" on them would,
 * and waits until their nodes belong to instance 0 again.  No locks.
 */
#include <getopt.h>
#include <stdio.h>

#include "end.h"
#include "libmios/mios.h"
#include "mios.h"

#define TIMEOUT_DEFAULT	60
#define TIMEOUT_MAX	3600

static const char usage[] =
"Usage: mios stop INSTANCES|all [OPTION...]\n"
"Shuts instances down in order and gives their nodes back to instance 0.\n"
"INSTANCES is a list such as 1 or 1-3,5.\n\n"
"  -t, --timeout=SECS  how long an instance may take (default 60)\n"
"  -h, --help          print this\n";

int cmd_stop(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct end_request req = {
		.command = "stop",
		.doing = "shutting down",
		.done = "stopped",
		.ioctl = MIOS_IOC_STOP,
	};
	long timeout = TIMEOUT_DEFAULT;
	uint64_t nodes;
	int c;

	while ((c = getopt_long(argc, argv, ":t:h", longs, NULL)) != -1)
		switch (c) {
		case 't':
			if (mios_number(optarg, 1, TIMEOUT_MAX,
					      &timeout))
				mios_die(MIOS_EXIT_USAGE, "stop: --timeout is "
					 "a number of seconds from 1 to %d",
					 TIMEOUT_MAX);
			break;
		case 'h':
			fputs(usage, stdout);
			mios_flush_stdout();
			return MIOS_EXIT_OK;
		default:
			mios_bad_option("stop", argv, c);
		}
	nodes = end_targets("stop", argc - optind, argv + optind);
	req.timeout_ms = timeout * 1000;
	return nodes ? end_all(&req, nodes) : MIOS_EXIT_OK;
}
