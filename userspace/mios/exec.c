// SPDX-License-Identifier: GPL-2.0
/*
 * mios exec: a command on another instance, as if it ran here; or one that is
 * started there and goes on by itself.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
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
"  -d, --detach   start it, print its PID, and leave it alone: it goes on, its\n"
"                 input and output are /dev/null; mios ps finds and ends it\n"
"  -h, --help     print this\n";

static const struct option options[] = {
	{ "tty", no_argument, NULL, 't' },
	{ "no-tty", no_argument, NULL, 'T' },
	{ "no-input", no_argument, NULL, 'n' },
	{ "detach", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

struct wish {
	bool tty, no_tty, no_input, detach;
};

static void take_options(int argc, char **argv, struct wish *wish)
{
	int c;

	while ((c = getopt_long(argc, argv, "+:tTndh", options, NULL)) != -1)
		switch (c) {
		case 't':
			wish->tty = true;
			wish->no_tty = false;
			break;
		case 'T':
			wish->tty = false;
			wish->no_tty = true;
			break;
		case 'n':
			wish->no_input = true;
			break;
		case 'd':
			wish->detach = true;
			break;
		default:
			mios_other_option("exec", help, argv, c, options);
		}
}

static int detach(int instance, char **argv)
{
	struct unattended u = { .instance = instance };

	if (unattended_detach(&u, argv)) {
		mios_error("mios", "exec: %s", u.why);
		return u.status;
	}
	printf("%u\n", u.pid);
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}

static int attend(int instance, char **argv, const struct wish *wish)
{
	struct client_command cmd = {
		.who = "mios: exec",
		.instance = instance,
		.argv = argv,
		.envp = environ,
	};

	/* Taking it from the background would stop this. */
	cmd.tty = wish->tty ||
		  (!wish->no_tty && isatty(STDIN_FILENO) &&
		   isatty(STDOUT_FILENO) && !in_background(STDIN_FILENO));
	if (wish->no_input)
		mios_no_input();
	return client_run(&cmd);
}

int cmd_exec(int argc, char **argv)
{
	struct wish wish = { 0 };
	long instance;

	take_options(argc, argv, &wish);
	if (optind >= argc)
		mios_usage("exec", "on which instance?");
	if (mios_number(argv[optind], 0, MIOS_MAX_INSTANCES - 1, &instance))
		mios_usage("exec", "'%.40s' is no instance: they are numbered "
			   "from 0 to %d", argv[optind],
			   MIOS_MAX_INSTANCES - 1);
	/* They may follow the number, too: mios exec 1 -t -- top */
	optind++;
	take_options(argc, argv, &wish);
	if (optind >= argc)
		mios_usage("exec", "which command?");
	if (!wish.detach)
		return attend(instance, argv + optind, &wish);
	if (wish.tty)
		mios_usage("exec", "what is detached has no terminal: --detach "
			   "or --tty, not both");
	return detach(instance, argv + optind);
}
