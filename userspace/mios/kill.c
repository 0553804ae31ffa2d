// SPDX-License-Identifier: GPL-2.0
/*
 * mios kill: ends instances by force, whatever they do, and waits until their
 * nodes belong to instance 0 again.  No locks.
 */
#include <getopt.h>
#include <stdio.h>

#include "end.h"
#include "libmios/mios.h"
#include "mios.h"

#define TIMEOUT_DEFAULT	30
#define TIMEOUT_MAX	3600

static const char usage[] =
"Usage: mios kill INSTANCES|all [OPTION...]\n"
"Ends instances by force and gives their nodes back to instance 0.  What\n"
"they have not written yet is lost; prefer mios stop while they answer.\n"
"INSTANCES is a list such as 1 or 1-3,5.\n\n"
"  -t, --timeout=SECS  how long it may take (default 30)\n"
"  -h, --help          print this\n";

int cmd_kill(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct end_request req = {
		.command = "kill",
		.doing = "being ended",
		.done = "ended",
		.ioctl = MIOS_IOC_KILL,
	};
	long timeout = TIMEOUT_DEFAULT;
	uint64_t nodes;
	int c;

	while ((c = getopt_long(argc, argv, ":t:h", longs, NULL)) != -1)
		switch (c) {
		case 't':
			if (mios_number(optarg, 1, TIMEOUT_MAX,
					      &timeout))
				mios_die(MIOS_EXIT_USAGE, "kill: --timeout is "
					 "a number of seconds from 1 to %d",
					 TIMEOUT_MAX);
			break;
		case 'h':
			fputs(usage, stdout);
			mios_flush_stdout();
			return MIOS_EXIT_OK;
		default:
			mios_bad_option("kill", argv, c);
		}
	nodes = end_targets("kill", argc - optind, argv + optind);
	req.timeout_ms = timeout * 1000;
	return nodes ? end_all(&req, nodes) : MIOS_EXIT_OK;
}
