// SPDX-License-Identifier: GPL-2.0
/*
 * mios(1): the table of its subcommands.  Each has a file of its own, takes
 * its own name in argv[0] and returns the exit status.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "subcommands.h"

static const struct command commands[] = {
	{ "status", cmd_status, "show the instances of this machine" },
	{ "boot", cmd_boot, "start a kernel on a node" },
	{ "stop", cmd_stop, "shut an instance down in order" },
	{ "restart", cmd_restart, "stop an instance and boot it as before" },
	{ "wait", cmd_wait, "wait until an instance is up, or down" },
	{ "kill", cmd_kill, "end an instance by force" },
	{ "log", cmd_log, "print the kernel logs of instances" },
	{ "journal", cmd_journal, "print all kernels' logs in one order of time" },
	{ "dump", cmd_dump, "write the memory of a crashed instance to a file" },
	{ "console", cmd_console, "log in on the console of an instance" },
	{ "set", cmd_set, "show and change settings that last" },
	{ "check", cmd_check, "tell whether instances can run on this machine" },
	{ "reserve", cmd_reserve, "print what sets nodes aside at boot" },
	{ "exec", cmd_exec, "run a command on an instance" },
	{ "run", cmd_run, "start a job's tasks, placed on the instances" },
	{ "pool", cmd_pool, "show the memory of nodes that instances share" },
	{ "numastat", cmd_numastat, "show on which nodes shared pages lie" },
	{ "numactl", cmd_numactl, "say on which nodes shared pages are to be" },
	{ "shm", cmd_shm, "show who uses /dev/shm; sweep what the dead left" },
	{ "lend", cmd_lend, "lend memory to others, to swap into" },
	{ "give", cmd_give, "give a PCI device to an instance; show what was given" },
	{ "take", cmd_take, "take a PCI device back from an instance" },
	{ "ps", cmd_ps, "show the processes of all instances; send them signals" },
	{ "trace", cmd_trace, "record events of all instances' kernels" },
	{ "stat", cmd_stat, "count tasks, load, memory and messages of all" },
	{ "slurm-conf", cmd_slurm_conf, "print files for Slurm on the instances" },
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
		fprintf(f, "  %-10s %s\n", c->name, c->help);
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
 * The kernel starts "mios dump" and "mios boot" without a single stream: its
 * log takes what they say.  Whatever anybody else starts so is not for there.
 */
static void log_open(const char *command)
{
	int fd;

	if (!command || (strcmp(command, "dump") && strcmp(command, "boot")))
		return;
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return;
	if (open("/dev/null", O_RDONLY) || open("/dev/kmsg", O_WRONLY) != 1 ||
	    dup(1) != 2)
		return;
	setlinebuf(stdout);
}

int main(int argc, char **argv)
{
	log_open(argv[1]);
	mios_streams_open();
	/* Who has started us may ignore it: then nobody learns how a child ends. */
	signal(SIGCHLD, SIG_DFL);
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
