/* SPDX-License-Identifier: GPL-2.0 */
/*
 * --quiet and --json of the commands that change something: boot, restart,
 * stop and kill.
 */
#ifndef MIOS_OUTPUT_H
#define MIOS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* For a command's table of long options, its letters and its usage. */
#define OUTPUT_QUIET	{ "quiet", no_argument, NULL, 'q' }
#define OUTPUT_JSON	{ "json", no_argument, NULL, 'J' }
#define OUTPUT_LETTERS	"qJ"
#define OUTPUT_USAGE \
"  -q, --quiet         say nothing but errors\n" \
"  -J, --json          print the result for programs, nothing else\n"

struct output {
	bool quiet, json;
};

/* What became of one node; lies in memory shared with the one who worked. */
struct outcome {
	double seconds;
	int status;		/* exit status of the work */
	char error[512];	/* the last line about it, or empty */
};

bool output_option(struct output *out, int c);
void output_begin(const struct output *out);
void output_result(const struct output *out, const char *command,
		   uint64_t nodes, const struct outcome *outcomes);

#endif /* MIOS_OUTPUT_H */
