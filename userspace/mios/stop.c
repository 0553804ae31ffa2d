// SPDX-License-Identifier: GPL-2.0
/*
 * mios stop: asks instances to shut down in order, as "poweroff" on them would,
 * and waits until their nodes belong to instance 0 again.
 */
#include "end.h"
#include "output.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios stop INSTANCES|all [OPTION...]\n"
"Shuts instances down in order and gives their nodes back to instance 0.\n"
"INSTANCES is a list such as 1 or 1-3,5.\n\n"
"      --timeout=SECS  how long an instance may take (default 60)\n"
OUTPUT_USAGE
"  -h, --help          print this\n";

int cmd_stop(int argc, char **argv)
{
	static const struct end_command command = {
		.name = "stop",
		.usage = usage,
		.doing = "shutting down",
		.done = "stopped",
		.ioctl = MIOS_IOC_STOP,
		.timeout = 60,
	};

	return end_main(argc, argv, &command);
}
