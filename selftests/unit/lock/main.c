// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/lock/ in user space:
 *   lock-explore [--seed N] [--rounds N] [--kills N] [--deep 1]
 *	[--only steps|explore|meet|registers|threads|processes] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include "../options.h"
#include "test.h"

void (*test_point)(void);

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, kills = 200, deep = 0;
	const struct test_number numbers[] = {
		{ "--rounds", &rounds }, { "--kills", &kills },
		{ "--deep", &deep }, { }
	};
	const struct test_options o = test_options(argc, argv, numbers);

	if (test_wanted(&o, "steps")) {
		test_steps();
		test_meet_steps();
		test_garbage(o.seed, 10 * rounds);
	}
	if (test_wanted(&o, "explore"))
		test_explore(deep);
	if (test_wanted(&o, "meet"))
		test_meet(deep);
	if (test_wanted(&o, "registers"))
		test_registers(deep);
	if (test_wanted(&o, "threads")) {
		test_threads(o.seed, rounds);
		test_meet_threads(rounds / 10);
	}
	if (test_wanted(&o, "processes"))
		test_processes(o.seed, kills);
	printf("all right\n");
	return 0;
}
