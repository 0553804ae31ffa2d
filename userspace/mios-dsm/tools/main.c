// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm: the DSM engine's tools for users and developers.  One file per
 * subcommand; this one finds it.
 */
#include <stdio.h>
#include <string.h>

#include "../../libmios/cli.h"
#include "commands.h"

static const char usage[] =
"usage: mios-dsm litmus [options] FILE.litmus...   judge tests by x86-TSO\n"
"       mios-dsm sim [options]                     simulate a cluster\n"
"       mios-dsm run [options] PROGRAM [ARG...]    run a program on several nodes\n"
"       mios-dsm key FILE                          make a key for such a run\n"
"       mios-dsm top [options] [PID]               see what its nodes do\n"
"       mios-dsm report [options] FILE             see what a run has recorded\n"
"       mios-dsm COMMAND --help                    options of a command\n";

int main(int argc, char **argv)
{
	int err;

	if (argc < 2)
		return cli_error("no command; try mios-dsm --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return cli_flush();
	}
	if (!strcmp(argv[1], "litmus"))
		err = cmd_litmus(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "sim"))
		err = cmd_sim(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "run"))
		err = cmd_run(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "key"))
		err = cmd_key(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "top"))
		err = cmd_top(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "report"))
		err = cmd_report(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "tables"))
		err = cmd_tables(argc - 1, argv + 1);
	else
		return cli_error("no command '%s'; try mios-dsm --help",
				 argv[1]);
	return err == 2 || !cli_flush() ? err : 2;
}
