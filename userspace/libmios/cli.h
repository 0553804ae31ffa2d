/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a user's mistake is told, for every part of the command.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Who says it: another command than mios-dsm tells so in its main(). */
extern const char *cli_program;

/* One line on stderr; returns 2, the exit status of a usage error. */
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A whole number between low and high, or cli_error() and false. */
bool cli_number(const char *option, const char *text, uint64_t low,
		uint64_t high, uint64_t *value);
/*
 * A list of such numbers with commas between them, which is taken apart: how
 * many, or cli_error() and 0.
 */
uint32_t cli_numbers(const char *option, char *list, uint64_t low,
		     uint64_t high, uint32_t *value, uint32_t max);
bool cli_choice(const char *option, const char *text,
		const char *const *names, int *value);
/*
 * Creates a file that is to be written when all work is done, or cli_error()
 * and false: a mistake in its name is told before the work.  NULL is none.
 */
bool cli_create(const char *path);
/*
 * Of files that are written, NULL: none, those that are the same one: then
 * cli_error() and false.  What is no file, /dev/null, may be.
 */
struct cli_file {
	const char *option, *path;
};

bool cli_files_differ(const struct cli_file *file, int nr);
/*
 * What a simulator writes: results as JSON, "-" is standard output, and two
 * plots, the second by @option; NULL: not that.  @out is where JSON goes.
 */
struct cli_results {
	const char *json, *plot, *other_plot, *option;
	FILE *out;
};

/* Creates them, or cli_error() and 2: before the work, as cli_create(). */
int cli_results_create(struct cli_results *r);
/* Ends what was written to a file other than stdout: 0, or cli_error(). */
int cli_close(FILE *file, const char *path);
/* Everything written must have arrived: 0, or cli_error(). */
int cli_flush(void);

#endif /* CLI_H */
