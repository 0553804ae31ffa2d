// SPDX-License-Identifier: GPL-2.0
/*
 * mios kill: ends instances by force, whatever they do, and waits until their
 * nodes belong to instance 0 again.
 */
#include "end.h"
#include "output.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios kill INSTANCES|all [OPTION...]\n"
"Ends instances by force and gives their nodes back to instance 0.  What\n"
"they have not written yet is lost; prefer mios stop while they answer.\n"
"INSTANCES is a list such as 1 or 1-3,5.\n\n"
"      --timeout=SECS  how long it may take (default 30)\n"
OUTPUT_USAGE
"  -h, --help          print this\n";

int cmd_kill(int argc, char **argv)
{
	static const struct end_command command = {
		.name = "kill",
		.usage = usage,
		.doing = "being ended",
		.done = "ended",
		.ioctl = MIOS_IOC_KILL,
		.timeout = 30,
	};

	return end_main(argc, argv, &command);
}
