// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the numbers and node lists that people type: "2", "1-3,5", "all".
 * Nothing but plain decimal numbers inside their bounds passes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmios.h"

static int number(const char **text, unsigned long max, unsigned long *value)
{
	char *end;

	/* strtoul() would take " 1", "+1" and, worse, "-1". */
	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*value = strtoul(*text, &end, 10);
	if (errno || *value > max)
		return -ERANGE;
	*text = end;
	return 0;
}

/* A decimal number in [min, max], and nothing before or after it. */
int mios_number(const char *text, long min, long max, long *value)
{
	unsigned long n;
	int ret = number(&text, max, &n);

	if (ret)
		return ret;
	if (*text)
		return -EINVAL;
	if ((long)n < min)
		return -ERANGE;
	*value = n;
	return 0;
}

/* "1-3,5" into a mask; -EINVAL not understood, -ERANGE no such number. */
int mios_parse_nodes(const char *text, uint64_t *nodes)
{
	unsigned long first, last;
	int ret;

	*nodes = 0;
	for (;;) {
		ret = number(&text, MIOS_MAX_INSTANCES - 1, &first);
		if (ret)
			return ret;
		last = first;
		if (*text == '-') {
			text++;
			ret = number(&text, MIOS_MAX_INSTANCES - 1, &last);
			if (ret)
				return ret;
		}
		if (last < first)
			return -EINVAL;
		for (; first <= last; first++)
			*nodes |= 1ULL << first;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

/* The one instance, 0 included, that a command is about; ends like the next. */
int mios_parse_target(const char *command, int argc, char **argv)
{
	long instance;

	if (argc != 1)
		mios_usage(command, "of which instance? Name one, as in 'mios "
			   "%s 1'", command);
	if (mios_number(argv[0], 0, MIOS_MAX_INSTANCES - 1, &instance))
		mios_usage(command, "'%.40s' is no instance: they are numbered "
			   "from 0 to %d", argv[0], MIOS_MAX_INSTANCES - 1);
	return instance;
}

static int parse_lists(const char *command, int argc, char **argv, int lowest,
		       uint64_t *nodes)
{
	uint64_t one;
	int i, ret;

	*nodes = 0;
	if (!argc)
		mios_usage(command, "which instance? Name some, as in 'mios %s "
			   "1-3', or all", command);
	if (argc == 1 && !strcmp(argv[0], "all"))
		return 1;
	for (i = 0; i < argc; i++) {
		ret = mios_parse_nodes(argv[i], &one);
		if (ret == -ERANGE)
			mios_usage(command, "'%.40s': instances are numbered "
				   "from %d to %d", argv[i], lowest,
				   MIOS_MAX_INSTANCES - 1);
		if (ret)
			mios_usage(command, "'%.40s' is no list of instances: "
				   "write 1, 1-3,5 or all", argv[i]);
		*nodes |= one;
	}
	return 0;
}

/*
 * The instances that a command is told to work on: lists, or the one word
 * "all", for which it returns 1.  Ends with a line about what it does not
 * understand; instance 0 is never a target, the caller says why.
 */
int mios_parse_targets(const char *command, int argc, char **argv,
		       uint64_t *nodes)
{
	return parse_lists(command, argc, argv, 1, nodes);
}

/* The same for a command that only looks, at instance 0 as at any other. */
int mios_parse_instances(const char *command, int argc, char **argv,
			 uint64_t *nodes)
{
	return parse_lists(command, argc, argv, 0, nodes);
}
