// SPDX-License-Identifier: GPL-2.0
/*
 * A heap of events, and tasks that change stacks.  Called by sim.c and world.c;
 * one run at a time.
 */
#include <stdlib.h>

#include "stack.h"
#include "tasks.h"

#define STACK_SIZE	(16 << 10)

struct event {
	u64 at, number;
	void (*fire)(u32 arg);
	u32 arg;
};

static struct {
	struct event *heap;
	size_t nr, size;
	u64 now, asked;
	void **sp;		/* of each task */
	void (*run)(u32 task);
	void *scheduler;
	u32 current;
	bool stop;
} t = { .current = NOBODY };

u64 now(void)
{
	return t.now;
}

u32 myself(void)
{
	return t.current;
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->number < b->number);
}

void event_at(u64 at, void (*fire)(u32 arg), u32 arg)
{
	struct event event = { at, t.asked++, fire, arg };
	size_t i;

	if (t.nr == t.size) {
		t.size = t.size ? 2 * t.size : 64;
		t.heap = realloc(t.heap, t.size * sizeof(*t.heap));
		if (!t.heap)
			abort();
	}
	for (i = t.nr++; i && is_before(&event, &t.heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		t.heap[i] = t.heap[(i - 1) / 2];
	t.heap[i] = event;
}

static struct event event_next(void)
{
	struct event first = t.heap[0], last = t.heap[--t.nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < t.nr) {
		if (child + 1 < t.nr &&
		    is_before(&t.heap[child + 1], &t.heap[child]))
			child++;
		if (!is_before(&t.heap[child], &last))
			break;
		t.heap[i] = t.heap[child];
		i = child;
	}
	t.heap[i] = last;
	return first;
}

static void task_go(u32 task)
{
	t.current = task;
	stack_switch(&t.scheduler, t.sp[task]);
	t.current = NOBODY;
}

void task_resume_at(u64 at, u32 task)
{
	event_at(at, task_go, task);
}

void task_block(void)
{
	stack_switch(&t.sp[t.current], t.scheduler);
}

void task_wait(u64 ns)
{
	task_resume_at(t.now + ns, t.current);
	task_block();
}

void tasks_stop(void)
{
	t.stop = true;
	task_block();
}

static void task_begin(void)
{
	t.run(t.current);
	abort();
}

static void tasks_happen(void)
{
	struct event event;

	while (t.nr && !t.stop) {
		event = event_next();
		t.now = event.at;
		event.fire(event.arg);
	}
}

int tasks_run(u32 nr, void (*run)(u32 task))
{
	u8 *stacks = aligned_alloc(64, (size_t)nr * STACK_SIZE);
	int err = -ENOMEM;
	u32 i;

	t.nr = t.now = t.asked = 0;
	t.stop = false;
	t.run = run;
	t.sp = calloc(nr, sizeof(*t.sp));
	if (stacks && t.sp) {
		for (i = 0; i < nr; i++) {
			t.sp[i] = stack_begin(stacks + (i + 1ul) * STACK_SIZE,
					      task_begin);
			task_resume_at(0, i);
		}
		tasks_happen();
		err = t.stop ? 0 : -EDEADLK;
	}
	free(t.sp);
	free(stacks);
	return err;
}
