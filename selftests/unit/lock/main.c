// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/lock/ in user space:
 *   lock-explore [--seed N] [--rounds N] [--kills N] [--deep]
 *	[--only steps|explore|meet|registers|threads|processes] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <time.h>

#include "../inject.h"
#include "test.h"

void (*test_point)(void);

static void break_on_purpose(const char *name)
{
	if (inject_on(name, -1))
		return;
	fprintf(stderr, "nothing to be broken by that name: %s\n", name);
	exit(2);
}

static bool wanted(const char *only, const char *name)
{
	return !*only || !strcmp(only, name);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, kills = 200;
	const char *only = "";
	u64 seed = time(NULL);
	bool deep = false;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--deep"))
			deep = true;
		else if (i + 1 == argc)
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--rounds"))
			rounds = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--kills"))
			kills = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--only"))
			only = argv[++i];
		else if (!strcmp(argv[i], "--break"))
			break_on_purpose(argv[++i]);
		else
			return fprintf(stderr, "unknown: %s\n", argv[i]), 2;
	}
	printf("seed %llu\n", seed);
	if (wanted(only, "steps")) {
		test_steps();
		test_meet_steps();
		test_garbage(seed, 10 * rounds);
	}
	if (wanted(only, "explore"))
		test_explore(deep);
	if (wanted(only, "meet"))
		test_meet(deep);
	if (wanted(only, "registers"))
		test_registers(deep);
	if (wanted(only, "threads")) {
		test_threads(seed, rounds);
		test_meet_threads(rounds / 10);
	}
	if (wanted(only, "processes"))
		test_processes(seed, kills);
	printf("all right\n");
	return 0;
}
