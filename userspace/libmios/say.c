// SPDX-License-Identifier: GPL-2.0
/*
 * One line per error, and the ends of commands.  Text that may come
 * from another instance or from a user is printed without control
 * characters, so that it cannot drive the reader's terminal.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios.h"

static char *copy;			/* of the last line, see mios_errors_to() */
static size_t copy_size;

static void print_line(const char *who, const char *fmt, va_list ap)
{
	char line[1024];
	size_t head, len;
	char *c;

	/* One write, so that the lines of parallel processes do not mix. */
	snprintf(line, sizeof(line) - 1, "%s: ", who);
	head = strlen(line);
	vsnprintf(line + head, sizeof(line) - 1 - head, fmt, ap);
	mios_utf8(line);
	for (c = line; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	len = c - line;
	if (copy)
		snprintf(copy, copy_size, "%s", line);
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return;		/* nobody is left to be told */
}

/* From now on the last error is kept there, too: for --json. */
void mios_errors_to(char *to, size_t size)
{
	copy = to;
	copy_size = size;
}

void mios_error(const char *who, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(who, fmt, ap);
	va_end(ap);
}

/* For the commands of mios(1): says it and ends. */
void mios_die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line("mios", fmt, ap);
	va_end(ap);
	exit(status);
}

/*
 * For the commands of mios(1), about a command line that is not understood:
 * says it in the one form of all of them, and ends.
 */
void mios_usage(const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	mios_die(MIOS_EXIT_USAGE, "%s: %s (try 'mios %s --help')",
		 command, text, command);
}

static const char *option_name(const void *options, size_t i)
{
	return ((const struct option *)options)[i].name;
}

/* The long option that may have been meant, of a letter one that begins so. */
static const char *option_guess(const char *word, const struct option *options)
{
	const char *name = word + strspn(word, "-");

	return mios_guess(name, strcspn(name, "="), option_name, options);
}

/*
 * What getopt_long() did not understand; @c is what it returned.  It wants an
 * option string that starts with ':', which keeps getopt_long() silent.
 */
void mios_bad_option(const char *command, char **argv, int c,
		     const struct option *options)
{
	const char letter[] = { '-', optopt, '\0' };
	const char *word = argv[optind - 1], *meant;

	/* Of a word such as -xJ it is not at the end yet. */
	if (c == '?' && optopt && !strchr(word, '='))
		word = letter;
	if (c == ':')
		mios_usage(command, "a value is missing after '%.40s'", word);
	meant = option_guess(word, options);
	if (meant)
		mios_usage(command, "unknown or ambiguous option '%.40s', did "
			   "you mean '--%s'?", word, meant);
	mios_usage(command, "unknown or ambiguous option '%.40s'", word);
}

/* A full disk behind "mios status >file" must not look like success. */
void mios_flush_stdout(void)
{
	if (fflush(stdout) || ferror(stdout))
		mios_die(MIOS_EXIT_FAILED, "cannot write the output: %m");
}

/* What --help asks for. */
void mios_help(const char *usage)
{
	fputs(usage, stdout);
	mios_flush_stdout();
	exit(MIOS_EXIT_OK);
}

/* --help, which every command has as 'h', or what none of @options is. */
void mios_other_option(const char *command, const char *usage, char **argv,
		       int c, const struct option *options)
{
	if (c == 'h')
		mios_help(usage);
	mios_bad_option(command, argv, c, options);
}
