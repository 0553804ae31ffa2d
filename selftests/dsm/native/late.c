// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: late TURNS [FILE].  All nodes count; and again, when FILE is there.
 * Until then there is nothing on the wire.
 */
#include "trial.h"

static void count(uint64_t *word, int turns, int times)
{
	for (int i = 0; i < turns; i++)
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	demand(!mios_dsm_barrier(), "barrier");
	demand(*(volatile uint64_t *)word ==
	       (uint64_t)turns * times * mios_dsm_nodes(),
	       "increments were lost");
	demand(!mios_dsm_barrier(), "barrier");
}

int main(int argc, char **argv)
{
	uint64_t *word;

	demand(argc > 1 && !mios_dsm_start(), "start");
	word = common(0, PAGE, 0);
	count(word, atoi(argv[1]), 1);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(10000);
	count(word, atoi(argv[1]), 2);
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
