// SPDX-License-Identifier: GPL-2.0
/*
 * mios exec: a command on another instance, as if it ran here.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/client.h"
#include "mios.h"

static const char help[] =
"usage: mios exec [-t|-T] N [--] COMMAND [ARGUMENT]...\n"
"Run COMMAND on instance N as yourself: same user, groups, directory,\n"
"environment, limits and terminal; its exit status is returned.\n"
"  -t, --tty      give it a terminal of its own\n"
"  -T, --no-tty   do not, even if input and output are terminals\n"
"      --help     show this\n";

static const struct option options[] = {
	{ "tty", no_argument, NULL, 't' },
	{ "no-tty", no_argument, NULL, 'T' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int usage_error(const char *text)
{
	mios_error("mios exec", "%s (mios exec --help)", text);
	return 125;
}

int cmd_exec(int argc, char **argv)
{
	struct client_command cmd = { .who = "mios exec", .envp = environ };
	long instance;
	int c;

	/* Taking it from the background would stop this. */
	cmd.tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
		  !in_background(STDIN_FILENO);
	while ((c = getopt_long(argc, argv, "+:tTh", options, NULL)) != -1) {
		switch (c) {
		case 't':
			cmd.tty = true;
			break;
		case 'T':
			cmd.tty = false;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			mios_say_bad_option("exec", argv, c);
			return 125;
		}
	}
	if (optind >= argc)
		return usage_error("which instance?");
	if (mios_number(argv[optind], 0, MIOS_MAX_INSTANCES - 1, &instance))
		return usage_error("the instance is a number from 0 to 63");
	optind++;
	/* options may follow the number, too: mios exec 1 -t -- top */
	for (; optind < argc && argv[optind][0] == '-'; optind++) {
		if (!strcmp(argv[optind], "--")) {
			optind++;
			break;
		}
		if (!strcmp(argv[optind], "-t"))
			cmd.tty = true;
		else if (!strcmp(argv[optind], "-T"))
			cmd.tty = false;
		else
			return usage_error("unknown option before the command");
	}
	if (optind >= argc)
		return usage_error("which command?");
	cmd.instance = instance;
	cmd.argv = argv + optind;
	return client_run(&cmd);
}
