// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm report: a record of a run as a page for people.
 */
#include <getopt.h>
#include <stdio.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "results/record.h"

static const char help[] =
"usage: mios-dsm report [-o FILE.html] RECORD\n"
"Draws what mios-dsm run --record RECORD has written: what threads waited for,\n"
"messages over time, the hottest pages.  One file, which needs no other.\n"
"  -o, --output FILE  instead of RECORD.html; - for standard output\n"
"Exit status: 0, or 2 for a mistake.\n";

int cmd_report(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *output = NULL;
	char name[4096];
	int c;

	while ((c = getopt_long(argc, argv, "ho:", options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c != 'o')
			return 2;
		output = optarg;
	}
	if (argc - optind != 1)
		return cli_error("report: one record; try mios-dsm report --help");
	if (snprintf(name, sizeof(name), "%s.html", argv[optind]) >=
	    (int)sizeof(name))
		return cli_error("report: a name that is too long");
	return report_draw(argv[optind], output ? output : name);
}
