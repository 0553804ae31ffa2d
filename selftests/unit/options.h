/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of a unit test, which is the same for all of them: --seed N,
 * --only PART, --break NAME, and numbers of its own.
 */
#ifndef _TEST_OPTIONS_H
#define _TEST_OPTIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inject.h"

/**
 * struct test_number - an option of the test's own
 * @name:	with its dashes
 * @value:	how it is if nobody says otherwise
 */
struct test_number {
	const char *name;
	unsigned long *value;
};

/**
 * struct test_options - what all have
 * @seed:	of what is drawn by lot; printed
 * @only:	the part to run; "": all
 */
struct test_options {
	unsigned long long seed;
	const char *only;
};

static inline bool test_option(struct test_options *o,
			       const struct test_number *numbers,
			       const char *name, const char *value)
{
	if (!strcmp(name, "--seed")) {
		o->seed = strtoull(value, NULL, 0);
		return true;
	}
	if (!strcmp(name, "--only")) {
		o->only = value;
		return true;
	}
	if (!strcmp(name, "--break"))
		return inject_on(value, -1);
	for (; numbers->name; numbers++) {
		if (strcmp(name, numbers->name))
			continue;
		*numbers->value = strtoul(value, NULL, 0);
		return true;
	}
	return false;
}

/* Each has a value; ends with 2 at one that nobody knows. */
static inline struct test_options test_options(int argc, char **argv,
					       const struct test_number *numbers)
{
	struct test_options o = { .seed = time(NULL), .only = "" };
	int i;

	for (i = 1; i < argc; i += 2) {
		if (i + 1 < argc && test_option(&o, numbers, argv[i], argv[i + 1]))
			continue;
		fprintf(stderr, "unknown: %s\n", argv[i]);
		exit(2);
	}
	printf("seed %llu\n", o.seed);
	return o;
}

static inline bool test_wanted(const struct test_options *o, const char *part)
{
	return !*o->only || !strcmp(o->only, part);
}

#endif /* _TEST_OPTIONS_H */
