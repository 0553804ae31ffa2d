// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks, run at once by whoever makes them.  Then all that came before is done
 * when a task begins, so dependences, groups and waits are kept as they are.
 */
#include <stdlib.h>

#include "gomp.h"

#define FLAG_UP		(1u << 8)	/* of taskloop: the step is positive */
#define FLAG_FINAL	(1u << 1)
#define FLAG_REDUCTION	(1u << 12)
#define FLAG_DETACH	(1u << 13)

typedef void (*copy_fn)(void *to, void *from);

static void refuse_flags(unsigned int flags)
{
	if (flags & FLAG_REDUCTION)
		omp_die("reductions by tasks are not there yet");
	if (flags & FLAG_DETACH)
		omp_die("detached tasks are not there yet");
}

/* What the task has for itself: a copy, which @copy makes if it must. */
static void *own_copy(char *room, void *data, copy_fn copy, long size,
		      long align)
{
	char *at;

	at = (char *)(((uintptr_t)room + align - 1) & ~(align - 1ul));
	if (copy)
		copy(at, data);
	else
		memcpy(at, data, size);
	return at;
}

static void run(body_fn fn, void *data, bool final)
{
	struct context *c = context();
	bool before = c->task->final;

	c->task->final |= final;
	fn(data);
	c->task->final = before;
}

void GOMP_task(body_fn fn, void *data, copy_fn copy, long size, long align,
	       bool if_clause, unsigned int flags, void **depend, int priority,
	       void *detach)
{
	char *room;

	refuse_flags(flags);
	if (!copy && !if_clause) {
		run(fn, data, flags & FLAG_FINAL);
		return;
	}
	room = malloc(size + align);
	if (!room)
		omp_die("no memory left in the window for a task");
	run(fn, own_copy(room, data, copy, size, align), flags & FLAG_FINAL);
	free(room);
}

/* One task for all iterations; the bounds stand first in its data. */
static void loop_task(body_fn fn, void *data, copy_fn copy, long size,
		      long align, unsigned int flags, uint64_t start,
		      uint64_t end)
{
	uint64_t *bounds;
	char *room;

	refuse_flags(flags);
	room = malloc(size + align);
	if (!room)
		omp_die("no memory left in the window for a task");
	bounds = own_copy(room, data, copy, size, align);
	bounds[0] = start;
	bounds[1] = end;
	run(fn, bounds, flags & FLAG_FINAL);
	free(room);
}

void GOMP_taskloop(body_fn fn, void *data, copy_fn copy, long size, long align,
		   unsigned int flags, unsigned long tasks, int priority,
		   long start, long end, long step)
{
	if (step > 0 ? start < end : start > end)
		loop_task(fn, data, copy, size, align, flags, start, end);
}

void GOMP_taskloop_ull(body_fn fn, void *data, copy_fn copy, long size,
		       long align, unsigned int flags, unsigned long tasks,
		       int priority, unsigned long long start,
		       unsigned long long end, unsigned long long step)
{
	if (flags & FLAG_UP ? start < end : start > end)
		loop_task(fn, data, copy, size, align, flags, start, end);
}

void GOMP_taskwait(void)
{
}

void GOMP_taskwait_depend(void **depend)
{
}

void GOMP_taskyield(void)
{
}

void GOMP_taskgroup_start(void)
{
}

void GOMP_taskgroup_end(void)
{
}
