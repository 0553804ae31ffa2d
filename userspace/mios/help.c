// SPDX-License-Identifier: GPL-2.0
/*
 * mios help: the manual page of mios(1) or of one of its commands; where man(1)
 * or the page is missing, what --help prints.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios help [COMMAND]\n"
"Shows the manual page of COMMAND, or of mios itself; what --help prints where\n"
"there is no page.\n\n"
"  -h, --help  print this\n";

/* "man -w" finds the page without showing it. */
static bool page_exists(const char *page)
{
	int null, status;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("man", "man", "-w", page, NULL);
		_exit(MIOS_EXIT_FAILED);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int cmd_help(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const struct command *command = NULL;
	char *words[3] = { };
	char page[64] = "mios";
	int c;

	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		mios_other_option("help", usage, argv, c, longs);
	if (argc - optind > 1)
		mios_usage("help", "it takes one command, what is '%.40s'?",
			   argv[optind + 1]);
	if (optind < argc) {
		command = command_find(argv[optind]);
		snprintf(page, sizeof(page), "mios-%s", command->name);
	}
	if (page_exists(page)) {
		execlp("man", "man", page, NULL);
		mios_die(MIOS_EXIT_FAILED, "help: cannot run man: %m");
	}
	if (command) {
		words[0] = argv[optind];
		words[1] = (char *)"--help";
		optind = 1;
		return command->run(2, words);
	}
	print_commands();
	return MIOS_EXIT_OK;
}
