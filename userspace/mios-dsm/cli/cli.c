// SPDX-License-Identifier: GPL-2.0
/*
 * Reading what a user typed, and one line on stderr for each mistake.
 * Called by every part of mios-dsm, and of mios-lock; knows none of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int cli_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return cli_error("cannot write output: %s", strerror(errno));
}
