// SPDX-License-Identifier: GPL-2.0
/*
 * mios-lock: tools for locks.  One file per subcommand; this one finds it.
 */
#include <stdio.h>
#include <string.h>

#include "../libmios/cli.h"
#include "commands.h"

static const char usage[] =
"usage: mios-lock sim [options]   what locks cost, by a model of coherence\n"
"       mios-lock sim --help      its options\n";

int main(int argc, char **argv)
{
	int err;

	cli_program = "mios-lock";
	if (argc < 2)
		return cli_error("no command; try mios-lock --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return cli_flush();
	}
	if (strcmp(argv[1], "sim"))
		return cli_error("no command '%s'; try mios-lock --help",
				 argv[1]);
	err = cmd_sim(argc - 1, argv + 1);
	return err == 2 || !cli_flush() ? err : 2;
}
