// SPDX-License-Identifier: GPL-2.0
/*
 * mios exec: a command on another instance, as if it ran here.
 */
#include <getopt.h>
#include <stdbool.h>
#include <unistd.h>

#include "libmios/client.h"
#include "subcommands.h"

static const char help[] =
"Usage: mios exec [OPTION...] INSTANCE [OPTION...] [--] COMMAND [ARGUMENT...]\n"
"Runs COMMAND on an instance as yourself: same user, groups, directory,\n"
"environment, limits and terminal; its exit status is returned.\n\n"
"  -t, --tty      give it a terminal of its own\n"
"  -T, --no-tty   do not, even if input and output are terminals\n"
"  -n, --no-input it reads nothing, not even what waits at a terminal\n"
"  -h, --help     print this\n";

static const struct option options[] = {
	{ "tty", no_argument, NULL, 't' },
	{ "no-tty", no_argument, NULL, 'T' },
	{ "no-input", no_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void take_options(int argc, char **argv, bool *tty)
{
	int c;

	while ((c = getopt_long(argc, argv, "+:tTnh", options, NULL)) != -1)
		switch (c) {
		case 't':
			*tty = true;
			break;
		case 'T':
			*tty = false;
			break;
		case 'n':
			mios_no_input();
			break;
		case 'h':
			mios_help(help);
		default:
			mios_bad_option("exec", argv, c, options);
		}
}

int cmd_exec(int argc, char **argv)
{
	struct client_command cmd = { .who = "mios: exec", .envp = environ };
	long instance;

	/* Taking it from the background would stop this. */
	cmd.tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
		  !in_background(STDIN_FILENO);
	take_options(argc, argv, &cmd.tty);
	if (optind >= argc)
		mios_usage("exec", "on which instance?");
	if (mios_number(argv[optind], 0, MIOS_MAX_INSTANCES - 1, &instance))
		mios_usage("exec", "'%.40s' is no instance: they are numbered "
			   "from 0 to %d", argv[optind],
			   MIOS_MAX_INSTANCES - 1);
	/* They may follow the number, too: mios exec 1 -t -- top */
	optind++;
	take_options(argc, argv, &cmd.tty);
	if (optind >= argc)
		mios_usage("exec", "which command?");
	cmd.instance = instance;
	cmd.argv = argv + optind;
	return client_run(&cmd);
}
