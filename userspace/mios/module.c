// SPDX-License-Identifier: GPL-2.0
/* Loads a kernel module that a command needs, by modprobe. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "module.h"

void module_load(const char *command, const char *module)
{
	char path[64];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	if (!access(path, F_OK))
		return;
	pid = fork();
	if (!pid) {
		execlp("modprobe", "modprobe", module, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		mios_die(MIOS_EXIT_FAILED, "%s: the module %s does not load",
			 command, module);
}
