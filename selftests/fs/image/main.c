// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/fs/ in user space:
 *   fs-asan [--seed N] [--garbage ROUNDS] [--preemptions N]
 *	     [--only steps|kills|explore] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include <time.h>

#include "../../unit/inject.h"
#include "fstest.h"

static void break_on_purpose(const char *name)
{
	if (inject_on(name, -1))
		return;
	fprintf(stderr, "nothing to be broken by that name: %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned long garbage = 20000, preemptions = 1;
	const char *only = "";
	u64 seed = time(NULL);
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
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
		test_names();
		test_files();
		test_segments();
		test_places();
		test_fs_garbage(seed, garbage);
	}
	if (!*only || !strcmp(only, "kills"))
		test_kills(seed);
	if (!*only || !strcmp(only, "explore"))
		test_fs_explore(preemptions);
	printf("all right\n");
	return 0;
}
