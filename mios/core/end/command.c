// SPDX-License-Identifier: GPL-2.0
/*
 * The mios command, started by the kernel as orderly_poweroff() starts its:
 * what belongs to a boot or a dump, files and waiting for the shared root, is
 * user space's.
 */
#include <linux/umh.h>

#include "end.h"

/**
 * mios_command_start - start "mios COMMAND INSTANCE OPTION" on instance 0
 * @command: its name
 * @instance: which
 * @option: for it
 *
 * Return: 0 when it has begun, whatever comes of it; -errno, and it is said.
 */
int mios_command_start(const char *command, u32 instance, const char *option)
{
	char *envp[3] = {
		"HOME=/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL
	};
	char number[12];
	char *argv[5] = {
		"/usr/bin/mios", (char *)command, number, (char *)option, NULL
	};
	int err;

	snprintf(number, sizeof(number), "%u", instance);
	err = call_usermodehelper(argv[0], argv, envp, UMH_WAIT_EXEC);
	if (err)
		pr_err("%s %s %s %s cannot be started: error %d\n", argv[0],
		       command, number, option, -err);
	return err;
}
