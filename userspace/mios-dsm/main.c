// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm: the DSM engine's tools for users and developers.  One file per
 * subcommand; this one finds it and reports mistakes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char usage[] =
"usage: mios-dsm litmus [options] FILE.litmus...   judge tests by x86-TSO\n"
"       mios-dsm sim [options]                     simulate a cluster\n"
"       mios-dsm COMMAND --help                    options of a command\n";

int cli_error(const char *fmt, ...)
{
	va_list ap;

	fputs("mios-dsm: ", stderr);
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
	else if (!strcmp(argv[1], "tables"))
		err = cmd_tables(argc - 1, argv + 1);
	else
		return cli_error("no command '%s'; try mios-dsm --help",
				 argv[1]);
	return err == 2 || !cli_flush() ? err : 2;
}
