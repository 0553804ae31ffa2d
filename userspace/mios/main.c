// SPDX-License-Identifier: GPL-2.0
/*
 * mios(1): the table of its subcommands.  Each has a file of its own, takes
 * its own name in argv[0] and returns the exit status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/mios.h"
#include "mios.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "status", cmd_status, "show the instances of this machine" },
	{ "boot", cmd_boot, "start a kernel on a node" },
	{ "stop", cmd_stop, "shut an instance down in order" },
	{ "kill", cmd_kill, "end an instance by force" },
	{ "log", cmd_log, "print the kernel log of an instance" },
	{ "dump", cmd_dump, "write the memory of a crashed instance to a file" },
	{ "console", cmd_console, "log in on the console of an instance" },
	{ "reserve", cmd_reserve, "print what sets nodes aside at boot" },
	{ "exec", cmd_exec, "run a command on an instance" },
	{ "run", cmd_run, "start a job's tasks, placed on the instances" },
	{ "top", cmd_top, "show tasks and load of every instance" },
};

static void usage(FILE *f)
{
	size_t i;

	fprintf(f, "usage: mios COMMAND [OPTION]... (mios COMMAND --help)\n");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].help);
}

/*
 * The kernel starts "mios dump" and "mios boot" without streams: its log takes
 * what they say.  Else the next file that is opened would be taken for one.
 */
static void streams_open(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if ((!fd || open("/dev/kmsg", O_WRONLY) != fd) &&
		    open("/dev/null", O_RDWR) != fd)
			_exit(MIOS_EXIT_FAILED);
		if (fd == STDOUT_FILENO)
			setlinebuf(stdout);
	}
}

int main(int argc, char **argv)
{
	size_t i;

	streams_open();
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	mios_error("mios", "unknown command '%s' (mios --help lists them)",
		   argv[1]);
	return 2;
}
