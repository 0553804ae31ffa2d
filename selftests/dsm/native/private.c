// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: private [end].  A pointer to memory of node 0's own, found in shared
 * memory, leads node 1 to where it has none; with "end" both touch shared memory
 * after the end.  Either dies of SIGSEGV, with a line that says why.
 */
#include <sys/mman.h>

#include "trial.h"

/* Where no layout puts anything by itself. */
#define OWN	((void *)0x210000000000)

int main(int argc, char **argv)
{
	volatile char *volatile *shared;
	void *own;

	(void)argv;
	demand(!mios_dsm_start(), "start");
	shared = common(0, PAGE, 0);
	if (!mios_dsm_node()) {
		own = mmap(OWN, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		demand(own == OWN, "memory of its own");
		shared[0] = own;
		*shared[0] = 1;
	}
	/* Node 1 may have died before node 0 gets on. */
	demand(!mios_dsm_barrier() || argc < 2, "barrier");
	if (argc < 2 && mios_dsm_node())
		(void)*shared[0];
	demand(!mios_dsm_finish() || argc < 2, "finish");
	if (argc > 1)
		(void)shared[0];
	return 0;
}
