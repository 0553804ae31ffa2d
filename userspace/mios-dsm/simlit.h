/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Litmus tests on random schedules of the simulator's network.
 */
#ifndef SIMLIT_H
#define SIMLIT_H

#include "explore.h"

struct simlit {
	const struct lit_test *t;
	const struct lit_set *allowed;
	struct lit_set *seen;
	uint64_t runs, seed, configs, events;
	int protocol, order;
	struct world world;	/* options; the rest is the plan's */
	struct explored worst;
	char where[160];
};

int simlit_run(struct simlit *s);

#endif /* SIMLIT_H */
