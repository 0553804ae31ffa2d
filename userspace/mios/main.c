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

static const struct command commands[] = {
	{ "status", cmd_status, "show the instances of this machine" },
	{ "boot", cmd_boot, "start a kernel on a node" },
	{ "stop", cmd_stop, "shut an instance down in order" },
	{ "restart", cmd_restart, "stop an instance and boot it as before" },
	{ "wait", cmd_wait, "wait until an instance is up, or down" },
	{ "kill", cmd_kill, "end an instance by force" },
	{ "log", cmd_log, "print the kernel logs of instances" },
	{ "dump", cmd_dump, "write the memory of a crashed instance to a file" },
	{ "console", cmd_console, "log in on the console of an instance" },
	{ "set", cmd_set, "show and change settings that last" },
	{ "reserve", cmd_reserve, "print what sets nodes aside at boot" },
	{ "exec", cmd_exec, "run a command on an instance" },
	{ "run", cmd_run, "start a job's tasks, placed on the instances" },
	{ "top", cmd_top, "show tasks and load of every instance" },
	{ "help", cmd_help, "show the manual page of a command" },
	{ }
};

static void usage(FILE *f)
{
	const struct command *c;

	fprintf(f, "Usage: mios COMMAND [OPTION...] (mios COMMAND --help)\n"
		"       mios --help | --version\n");
	for (c = commands; c->name; c++)
		fprintf(f, "  %-8s %s\n", c->name, c->help);
}

void print_commands(void)
{
	usage(stdout);
	mios_flush_stdout();
}

static const char *command_name(const void *table, size_t i)
{
	return ((const struct command *)table)[i].name;
}

const struct command *command_find(const char *name)
{
	const struct command *c;
	const char *meant;

	for (c = commands; c->name; c++)
		if (!strcmp(name, c->name))
			return c;
	meant = mios_guess(name, strlen(name), command_name, commands);
	if (meant)
		mios_die(MIOS_EXIT_USAGE, "unknown command '%.40s', did you "
			 "mean '%s'? (try 'mios --help')", name, meant);
	mios_die(MIOS_EXIT_USAGE, "unknown command '%.40s' (try 'mios --help')",
		 name);
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
	streams_open();
	if (argc < 2) {
		usage(stderr);
		return MIOS_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_commands();
		return MIOS_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("mios " MIOS_VERSION "\n");
		mios_flush_stdout();
		return MIOS_EXIT_OK;
	}
	return command_find(argv[1])->run(argc - 1, argv + 1);
}
