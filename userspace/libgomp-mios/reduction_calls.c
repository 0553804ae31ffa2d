// SPDX-License-Identifier: GPL-2.0
/*
 * Constructs with reductions by tasks, whose records and memory reduction.c has.
 */
#include <stdlib.h>

#include "gomp.h"

/* The record's address stands first in what the members get. */
unsigned int GOMP_parallel_reductions(body_fn fn, void *data,
				      unsigned int threads, unsigned int flags)
{
	uint32_t size = team_size(threads);
	uintptr_t *record = *(uintptr_t **)data;
	struct group *group = group_create(NULL);

	reductions_make(record, NULL, NULL, size);
	group->reductions = record;
	size = team_run(fn, fn, data, size, group);
	free(group);
	return size;
}

void GOMP_scope_start(uintptr_t *record)
{
	struct context *c = context();
	struct extra extra = { record, NULL };

	share_begin(c, NULL, &extra);
	share_leave(c);
}

void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	struct context *c = context();
	uintptr_t *record = c->task->group->reductions;

	GOMP_taskgroup_end();
	if (!c->number)
		GOMP_taskgroup_reduction_unregister(record);
	if (!cancelled)
		GOMP_barrier();
}
