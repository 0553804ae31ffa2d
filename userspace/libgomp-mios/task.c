// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks, groups of them, and loops by tasks: the entry points.  A thread that is
 * alone, and whoever makes a task that is not to be put off, runs it at once; an event
 * may have it wait.
 */
#include <stdlib.h>

#include "gomp.h"

#define FLAG_FINAL	(1u << 1)
#define FLAG_DEPEND	(1u << 3)
#define FLAG_PRIORITY	(1u << 4)
#define FLAG_UP		(1u << 8)	/* of taskloop: the step is positive */
#define FLAG_GRAIN	(1u << 9)	/* the number is one of iterations */
#define FLAG_IF		(1u << 10)
#define FLAG_NOGROUP	(1u << 11)
#define FLAG_REDUCTION	(1u << 12)
#define FLAG_DETACH	(1u << 13)
#define FLAG_STRICT	(1u << 14)	/* exactly so many iterations */

typedef void (*copy_fn)(void *to, void *from);

/* What a task is made of, as the compiler says it. */
struct source {
	body_fn fn;
	void *data;
	copy_fn copy;
	long size, align;
	bool final;
	uint32_t priority;
	bool is_loop;
	uint64_t bounds[2];		/* of that: first in the task's data */
	void **event;			/* that it ends with, or NULL */
};

static void *allocate(size_t size)
{
	void *p = mios_omp_alloc(size);

	if (!p)
		omp_die("no memory left in the window for a task");
	return p;
}

/* What the task has for itself: a copy, which @copy makes if it must. */
static void *own_copy(char *room, const struct source *s)
{
	char *at;

	at = (char *)(((uintptr_t)room + s->align - 1) & ~(s->align - 1ul));
	if (s->copy)
		s->copy(at, s->data);
	else if (s->size)
		memcpy(at, s->data, s->size);
	if (s->is_loop)
		memcpy(at, s->bounds, sizeof(s->bounds));
	return at;
}

static void prepare(struct task *task, const struct source *s,
		    const struct context *c)
{
	task_init(task, c->task);
	task->final |= s->final;
	task->priority = s->priority;
	task->copied = s->copy;
	task->tasks = c->tasks;
	task->fn = s->fn;
	task->data = s->data;
	if (!s->event)
		return;
	/* the handle, which stands first in the data, too */
	task->detached = true;
	*s->event = task;
	if (s->data)
		*(void **)s->data = task;
}

/*
 * The compiler's list: how many, how many of them are written, addresses.  Or,
 * after a zero: how many, how many of them are written, are written by one at a
 * time, are read; addresses; then depend objects, of an address and a kind.
 */
static uint32_t count_depend(void **list)
{
	return (uintptr_t)(list[0] ? list[0] : list[1]);
}

/* An address that is NULL stands for all memory: then false. */
static bool read_depend(void **list, struct depend *depend)
{
	bool with_objects = !list[0];
	uintptr_t written = (uintptr_t)list[with_objects ? 2 : 1];
	uintptr_t plain = count_depend(list), i;
	void **object;
	bool all = false;

	if (with_objects) {
		written += (uintptr_t)list[3];
		plain = written + (uintptr_t)list[4];
	}
	for (i = 0; i < count_depend(list); i++) {
		depend[i].addr = list[i + (with_objects ? 5 : 2)];
		depend[i].in = i >= written;
		if (i < plain) {
			all |= !depend[i].addr;
			continue;
		}
		object = depend[i].addr;
		depend[i].addr = object[0];
		depend[i].in = (uintptr_t)object[1] == 1;
		all |= !object[0];
	}
	return !all;
}

static void await_depend(void **list)
{
	uint32_t n = count_depend(list);
	struct depend depend[n + 1];

	if (read_depend(list, depend))
		task_await_depend(n, depend);
	else
		task_await_children();
}

static void run_copy(const struct source *s, struct task *task)
{
	char *room = allocate(s->size + s->align);

	task->data = own_copy(room, s);
	task_run_here(task);
	free(room);
}

/* Of it nothing is left when this returns; an event has come by then. */
static void run_here(const struct source *s, const struct context *c)
{
	struct task task;

	prepare(&task, s, c);
	if (s->copy || s->is_loop)
		run_copy(s, &task);
	else
		task_run_here(&task);
}

/* Task, dependences and data are one block of memory. */
static struct task *make_block(const struct source *s, const struct context *c,
			       uint32_t nr_depend, const struct depend *depend)
{
	size_t listed = nr_depend * sizeof(*depend);
	struct task *task;

	task = allocate(sizeof(*task) + listed + s->size + s->align);
	prepare(task, s, c);
	task->nr_depend = nr_depend;
	task->depend = (struct depend *)(task + 1);
	if (nr_depend)
		memcpy(task->depend, depend, listed);
	task->data = own_copy((char *)(task + 1) + listed, s);
	return task;
}

static void put_off(const struct source *s, const struct context *c,
		    uint32_t nr_depend, const struct depend *depend)
{
	if (c->team)
		team_demand(c->team, s->fn);
	task_add(make_block(s, c, nr_depend, depend));
	while (!c->team && tasks_help(c->tasks))
		;	/* nobody else would before it waits */
}

/* No task has a higher one than the user allows, which is 0 unless he says so. */
static uint32_t allowed(unsigned int flags, int priority)
{
	if (!(flags & FLAG_PRIORITY) || priority < 0)
		return 0;
	return priority < settings->max_priority ? priority :
	       settings->max_priority;
}

/* Who waits for an event must not keep from its work who brings it about. */
static bool is_deferred(const struct context *c, bool if_clause,
			const struct source *s)
{
	return c->tasks && if_clause && !c->task->final &&
	       (s->event || !tasks_are_enough(c));
}

static void make_dependent(const struct source *s, const struct context *c,
			   bool if_clause, void **list)
{
	uint32_t n = count_depend(list);
	struct depend depend[n + 1];

	if (is_deferred(c, if_clause, s) && read_depend(list, depend)) {
		put_off(s, c, n, depend);
		return;
	}
	if (c->tasks && !c->task->final)
		await_depend(list);
	run_here(s, c);
}

/* Nothing is made any more where everything is given up. */
static void make(const struct source *s, bool if_clause, void **list)
{
	struct context *c = context();

	if (tasks_cancelled(c->task->group))
		return;
	if (s->event && !c->tasks)
		tasks_alone(c);
	if (list && count_depend(list))
		make_dependent(s, c, if_clause, list);
	else if (is_deferred(c, if_clause, s))
		put_off(s, c, 0, NULL);
	else
		run_here(s, c);
}

void GOMP_task(body_fn fn, void *data, copy_fn copy, long size, long align,
	       bool if_clause, unsigned int flags, void **list, int priority,
	       void **event)
{
	struct source s = { .fn = fn, .data = data, .copy = copy,
			    .size = size, .align = align,
			    .priority = allowed(flags, priority),
			    .final = flags & FLAG_FINAL };

	if (flags & FLAG_DETACH)
		s.event = event;
	make(&s, if_clause, flags & FLAG_DEPEND ? list : NULL);
}

void omp_fulfill_event(struct task *task)
{
	task_fulfill(task);
}

/* Fortran's, by value as well */
void omp_fulfill_event_(struct task *task)
{
	task_fulfill(task);
}

static void nothing(void *data)
{
}

/* A task that does nothing, but comes after some and before others. */
void GOMP_taskwait_depend_nowait(void **list)
{
	struct source s = { .fn = nothing, .align = 1 };

	if (context()->tasks)
		make(&s, true, list);
}

void GOMP_taskwait(void)
{
	if (context()->tasks)
		task_await_children();
}

void GOMP_taskwait_depend(void **list)
{
	if (context()->tasks)
		await_depend(list);
}

/* Of depend objects, of an address and a kind each. */
void task_await_objects(int n, void **objects)
{
	void *list[5 + (n > 0 ? n : 0)];
	int i;

	if (n <= 0)
		return;
	memset(list, 0, sizeof(list));
	list[1] = (void *)(uintptr_t)n;
	for (i = 0; i < n; i++)
		list[5 + i] = objects + 2 * i;
	GOMP_taskwait_depend(list);
}

void GOMP_taskyield(void)
{
}

/* So many tasks for @total iterations, at least one. */
static uint64_t how_many(uint64_t total, unsigned long number,
			 unsigned int flags)
{
	uint64_t n = number;

	if (flags & FLAG_GRAIN)
		n = flags & FLAG_STRICT ? (total - 1) / number + 1 :
		    total / number;
	else if (!number)
		n = context()->size;
	return n > total ? total : n ? n : 1;
}

static void loop_tasks(struct source *s, unsigned int flags,
		       unsigned long number, const struct loop *loop)
{
	uint64_t n = how_many(loop->total, number, flags);
	uint64_t each = loop->total / n, more = loop->total % n, at = 0, i;

	if (flags & FLAG_GRAIN && flags & FLAG_STRICT) {
		each = number;
		more = 0;
	}
	s->is_loop = true;
	for (i = 0; i < n; i++) {
		s->bounds[0] = loop->start + at * loop->step;
		at += each + (i < more);
		if (at > loop->total)
			at = loop->total;
		s->bounds[1] = loop->start + at * loop->step;
		make(s, flags & FLAG_IF, NULL);
	}
}

static void taskloop(struct source *s, unsigned int flags,
		     unsigned long number, struct loop loop)
{
	if (!loop.total) {
		if ((flags & (FLAG_NOGROUP | FLAG_REDUCTION)) == FLAG_REDUCTION)
			reductions_none(((uintptr_t **)s->data)[2]);
		return;
	}
	s->final = flags & FLAG_FINAL;
	if (!(flags & FLAG_NOGROUP))
		GOMP_taskgroup_start();
	if (flags & FLAG_REDUCTION)	/* the record follows the bounds */
		reductions_add(((uintptr_t **)s->data)[2], NULL);
	loop_tasks(s, flags, number, &loop);
	if (!(flags & FLAG_NOGROUP))
		GOMP_taskgroup_end();
}

void GOMP_taskloop(body_fn fn, void *data, copy_fn copy, long size, long align,
		   unsigned int flags, unsigned long tasks, int priority,
		   long start, long end, long step)
{
	struct source s = { .fn = fn, .data = data, .copy = copy,
			    .size = size, .align = align,
			    .priority = allowed(flags, priority) };

	taskloop(&s, flags, tasks, loop_signed(start, end, step));
}

void GOMP_taskloop_ull(body_fn fn, void *data, copy_fn copy, long size,
		       long align, unsigned int flags, unsigned long tasks,
		       int priority, unsigned long long start,
		       unsigned long long end, unsigned long long step)
{
	struct source s = { .fn = fn, .data = data, .copy = copy,
			    .size = size, .align = align,
			    .priority = allowed(flags, priority) };

	taskloop(&s, flags, tasks,
		 loop_unsigned(flags & FLAG_UP, start, end, step));
}
