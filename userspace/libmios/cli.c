// SPDX-License-Identifier: GPL-2.0
/*
 * Reading what a user typed, and one line on stderr for each mistake.
 * Called by every part of mios-dsm and of mios-lock; knows none of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

const char *cli_program = "mios-dsm";

int cli_error(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", cli_program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

bool cli_number(const char *option, const char *text, uint64_t low,
		uint64_t high, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *value < low ||
	    *value > high) {
		cli_error("%s: '%s' is not a number from %llu to %llu",
			  option, text, (unsigned long long)low,
			  (unsigned long long)high);
		return false;
	}
	return true;
}

uint32_t cli_numbers(const char *option, char *list, uint64_t low,
		     uint64_t high, uint32_t *value, uint32_t max)
{
	uint32_t nr = 0;
	uint64_t v;
	char *word;

	while ((word = strsep(&list, ","))) {
		if (nr == max) {
			cli_error("%s: more than %u numbers", option, max);
			return 0;
		}
		if (!cli_number(option, word, low, high, &v))
			return 0;
		value[nr++] = v;
	}
	return nr;
}

bool cli_choice(const char *option, const char *text,
		const char *const *names, int *value)
{
	char list[256] = "";

	for (int i = 0; names[i]; i++) {
		if (!strcmp(text, names[i])) {
			*value = i;
			return true;
		}
		strncat(list, " ", sizeof(list) - strlen(list) - 1);
		strncat(list, names[i], sizeof(list) - strlen(list) - 1);
	}
	cli_error("%s: '%s' is none of:%s", option, text, list);
	return false;
}

bool cli_create(const char *path)
{
	FILE *f;

	if (!path)
		return true;
	f = fopen(path, "w");
	if (!f) {
		cli_error("'%s': %s", path, strerror(errno));
		return false;
	}
	fclose(f);
	return true;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && !stat(a, &x) && !stat(b, &y) &&
		S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

/* One would overwrite the other. */
bool cli_files_differ(const struct cli_file *file, int nr)
{
	for (int i = 0; i < nr; i++)
		for (int j = i + 1; j < nr; j++)
			if (same_file(file[i].path, file[j].path)) {
				cli_error("%s and %s are the same file",
					  file[i].option, file[j].option);
				return false;
			}
	return true;
}

int cli_results_create(struct cli_results *r)
{
	const struct cli_file file[] = {
		{ "--json", r->json }, { "--plot", r->plot },
		{ r->option, r->other_plot },
	};

	if (r->json) {
		r->out = strcmp(r->json, "-") ? fopen(r->json, "w") : stdout;
		if (!r->out)
			return cli_error("'%s': %s", r->json, strerror(errno));
	}
	if (!cli_create(r->plot) || !cli_create(r->other_plot))
		return 2;
	return cli_files_differ(file, 3) ? 0 : 2;
}

int cli_close(FILE *file, const char *path)
{
	bool bad;

	if (file == stdout)
		return 0;
	bad = ferror(file);
	if (fclose(file) || bad)
		return cli_error("%s: cannot write: %s", path, strerror(errno));
	return 0;
}

int cli_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return cli_error("cannot write output: %s", strerror(errno));
}
