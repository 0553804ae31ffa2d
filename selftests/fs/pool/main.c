// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/pool/ in user space:
 *   pool-asan [--seed N] [--rounds N] [--garbage ROUNDS] [--preemptions N]
 *	       [--only steps|explore|threads] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include "../../unit/options.h"
#include "test.h"

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, garbage = 20000, preemptions = 2;
	const struct test_number numbers[] = {
		{ "--rounds", &rounds }, { "--garbage", &garbage },
		{ "--preemptions", &preemptions }, { }
	};
	const struct test_options o = test_options(argc, argv, numbers);

	if (test_wanted(&o, "steps")) {
		test_section();
		test_pages();
		test_death();
		test_garbage(o.seed, garbage);
	}
	if (test_wanted(&o, "explore"))
		test_explore(preemptions);
	if (test_wanted(&o, "threads"))
		test_stress(o.seed, rounds);
	printf("all right\n");
	return 0;
}
