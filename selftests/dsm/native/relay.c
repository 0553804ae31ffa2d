// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: relay [TURNS].  Node 2 writes x; node 1 sees that and writes y; node 0
 * sees y, and must see x: what somebody has acted upon is not overtaken by what
 * he did.  Each variable is on a page of its own, of which all have copies.  Node
 * 0 writes to x's page as well, or write-update would leave it to node 2.
 */
#include <sched.h>
#include <stdint.h>

#include "trial.h"

#define WORDS	8
#define LOOK	100000000	/* ns */

static volatile uint64_t *x, *y, *z;

static void await(const volatile uint64_t *word, uint64_t value)
{
	uint64_t look = now_ns() + LOOK;

	while (*word < value) {
		sched_yield();
		if (now_ns() < look)
			continue;
		/* One that fails leaves the others waiting. */
		demand(!mios_dsm_lock(0) && !mios_dsm_unlock(0),
		       "a node has died");
		look = now_ns() + LOOK;
	}
}

static void turn(uint64_t i)
{
	switch (mios_dsm_node()) {
	case 2:
		await(z, i - 1);
		for (int k = 0; k < WORDS; k++)
			x[k] = i;
		break;
	case 1:
		await(&x[WORDS - 1], i);
		*y = i;
		break;
	case 0:
		await(y, i);
		for (int k = 0; k < WORDS; k++)
			demand(x[k] == i, "an effect is here before its cause");
		x[WORDS] = i;
		*z = i;
	}
}

int main(int argc, char **argv)
{
	int turns = argc == 2 ? atoi(argv[1]) : 60;

	demand(!mios_dsm_start(), "start");
	x = common(0, PAGE, 0);
	y = common(1, PAGE, 0);
	z = common(2, PAGE, 0);
	alarm(20);
	demand(!*x && !*y && !*z, "no zeros");
	demand(!mios_dsm_barrier(), "barrier");
	for (int i = 1; i <= turns; i++)
		turn(i);
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
