// SPDX-License-Identifier: GPL-2.0
/*
 * mios restart: stops instances and boots them as they were booted last.  What
 * they boot with is checked before anything is stopped.
 */
#include "boot.h"
#include "end.h"
#include "libmios/libmios.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios restart INSTANCES|all [OPTION...]\n"
"Shuts instances down in order and boots them with the choices of their last\n"
"boot; one that is down is only booted.\n"
"INSTANCES is a list such as 1 or 1-3,5; all means those that are not down.\n\n"
"      --timeout=SECS  how long an instance may take to stop (default 60)\n"
OUTPUT_USAGE
"  -h, --help          print this\n";

static int restart_one(const void *context, unsigned int node)
{
	struct boot_plan *plan = boot_recall(node);
	struct mios_instance inst;
	int ret;

	boot_start(plan, node);		/* ends here where it cannot be */
	if (mios_instance_read(node, &inst) ||
	    (inst.state != MIOS_STATE_DOWN && inst.state != MIOS_STATE_DEAD)) {
		ret = end_one(context, node);
		if (ret)
			return ret;
	}
	return boot_planned(plan, 1ULL << node, NULL);
}

int cmd_restart(int argc, char **argv)
{
	static const struct end_command command = {
		.name = "restart",
		.usage = usage,
		.doing = "restarting",
		.done = "stopped",
		.ioctl = MIOS_IOC_STOP,
		.timeout = 60,
		.work = restart_one,
	};

	return end_main(argc, argv, &command);
}
