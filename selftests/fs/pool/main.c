// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/pool/ in user space:
 *   pool-asan [--seed N] [--rounds N] [--garbage ROUNDS] [--preemptions N]
 *	       [--only steps|explore|threads] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <time.h>

#include "../../unit/inject.h"
#include "test.h"

static void break_on_purpose(const char *name)
{
	if (inject_on(name, -1))
		return;
	fprintf(stderr, "nothing to be broken by that name: %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, garbage = 20000, preemptions = 2;
	const char *only = "";
	u64 seed = time(NULL);
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
			rounds = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--garbage") && i + 1 < argc)
			garbage = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--preemptions") && i + 1 < argc)
			preemptions = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--break") && i + 1 < argc)
			break_on_purpose(argv[++i]);
		else
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
	}
	printf("seed %llu\n", seed);
	if (!*only || !strcmp(only, "steps")) {
		test_section();
		test_pages();
		test_death();
		test_garbage(seed, garbage);
	}
	if (!*only || !strcmp(only, "explore"))
		test_explore(preemptions);
	if (!*only || !strcmp(only, "threads"))
		test_stress(seed, rounds);
	printf("all right\n");
	return 0;
}
