// SPDX-License-Identifier: GPL-2.0
/* Memory: a task's store may be held back until a barrier; its loads pass it. */
#include "model.h"

struct world w;

static void reach(void)
{
	struct held *held = &w.held[explore_self()];

	memcpy(held->where, &held->value, held->size);
	*held = (struct held) { 0 };
}

void model_access(void)
{
	if (!w.started)
		return;
	test_access();
	if (w.held[explore_self()].where && explore_choose(2)) {
		reach();
		test_access();
	}
}

/* On the way of instance SELF's smp_mb(), which may be left out. */
void model_barrier(u32 self)
{
	if (!w.started || !w.held[explore_self()].where)
		return;
	test_access();
	reach();
}

void model_hold(void *where, u64 value, size_t size)
{
	if (!w.started) {
		memcpy(where, &value, size);
		return;
	}
	model_barrier(0);
	w.held[explore_self()] = (struct held) {
		.where = where, .value = value, .size = size,
	};
}
