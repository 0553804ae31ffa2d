// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tests of mios/memory/fs/ in user space:
 *   fs-asan [--seed N] [--garbage ROUNDS] [--preemptions N]
 *	     [--only steps|kills|large|grow|explore|explore-growth] [--break NAME]
 * --break breaks a guarantee: the tests must then fail.  Exit status 0:
 * all right; 1: the line that failed has been printed.
 */
#include "../../unit/options.h"
#include "fstest.h"

int main(int argc, char **argv)
{
	unsigned long garbage = 20000, preemptions = 1;
	const struct test_number numbers[] = {
		{ "--garbage", &garbage }, { "--preemptions", &preemptions }, { }
	};
	const struct test_options o = test_options(argc, argv, numbers);

	if (test_wanted(&o, "steps")) {
		test_names();
		test_files();
		test_rights();
		test_exchange();
		test_bounds();
		test_attributes();
		test_segments();
		test_filelocks();
		test_filelock_shares();
		test_filelocks_random(o.seed, 20000);
		test_faults();
		test_believed();
		test_places();
		test_shares();
		test_large();
		test_fs_garbage(o.seed, garbage);
	}
	if (test_wanted(&o, "kills"))
		test_kills(o.seed);
	if (test_wanted(&o, "large"))
		test_large_kills();
	if (test_wanted(&o, "grow"))
		test_grow(o.seed);
	if (test_wanted(&o, "explore"))
		test_fs_explore(preemptions);
	if (test_wanted(&o, "explore-growth"))
		test_grow_explore(preemptions);
	printf("all right\n");
	return 0;
}
