// SPDX-License-Identifier: GPL-2.0
/*
 * Who runs which task.  Ready tasks stand in up to three queues: the team's, for
 * members that wait at a barrier; their parent's, for its taskwait; and that
 * of their group.  Whoever waits runs what it waits for, so waiting needs no
 * other thread.  One lock for all: a member that dies with it ends the job.
 */
#include <stdlib.h>

#include "gomp.h"

#define MANY		64	/* unfinished tasks for each member */

static void list_add(struct list *entry, struct list *after)
{
	entry->next = after->next;
	entry->prev = after;
	after->next->prev = entry;
	after->next = entry;
}

static void list_remove(struct list *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

#define entry_of(LIST, MEMBER)						\
	((struct task *)((char *)(LIST) - offsetof(struct task, MEMBER)))

/*
 * Under the lock, so it need not be one step.  Who waits for zero without the lock
 * sees what has been done before it.
 */
static void count_by(_Atomic uint32_t *count, uint32_t n)
{
	n += atomic_load_explicit(count, memory_order_relaxed);
	atomic_store_explicit(count, n, memory_order_release);
}

void tasks_init(struct tasks *tasks)
{
	list_init(&tasks->queue);
}

static uint32_t priority(const struct list *entry, size_t offset)
{
	return ((struct task *)((char *)entry - offset))->priority;
}

/* Behind those of a higher priority, and of its own. */
static void add_last(struct list *queue, struct list *entry, size_t offset)
{
	struct list *l = queue->prev;

	while (l != queue && priority(l, offset) < priority(entry, offset))
		l = l->prev;
	list_add(entry, l);
}

/* Behind those of a higher priority alone. */
static void add_first(struct list *queue, struct list *entry, size_t offset)
{
	struct list *l = queue;

	while (l->next != queue &&
	       priority(l->next, offset) > priority(entry, offset))
		l = l->next;
	list_add(entry, l);
}

static void add_ready(struct tasks *tasks, struct task *task)
{
	add_last(&tasks->queue, &task->in_team,
		 offsetof(struct task, in_team));
	add_first(&task->parent->ready, &task->in_parent,
		  offsetof(struct task, in_parent));
	if (task->in)
		add_first(&task->in->ready, &task->in_group,
			  offsetof(struct task, in_group));
	count_by(&tasks->ready, 1);
}

static void take(struct tasks *tasks, struct task *task)
{
	list_remove(&task->in_team);
	list_remove(&task->in_parent);
	if (task->in)
		list_remove(&task->in_group);
	count_by(&tasks->ready, -1);
}

static bool conflict(const struct depend *a, uint32_t nr_a,
		     const struct depend *b, uint32_t nr_b)
{
	uint32_t i, j;

	for (i = 0; i < nr_a; i++)
		for (j = 0; j < nr_b; j++)
			if (a[i].addr == b[j].addr && !(a[i].in && b[j].in))
				return true;
	return false;
}

/* How many children of @parent come before one with these? */
static uint32_t conflicts(const struct task *parent,
			  const struct depend *depend, uint32_t nr)
{
	const struct task *other;
	const struct list *l;
	uint32_t n = 0;

	for (l = parent->dependent.next; l != &parent->dependent; l = l->next) {
		other = entry_of(l, in_dependent);
		n += conflict(other->depend, other->nr_depend, depend, nr);
	}
	return n;
}

/* Those that were made after it and have waited for it. */
static void let_go(struct tasks *tasks, struct task *task)
{
	struct list *l, *end = &task->parent->dependent;
	struct task *other;

	for (l = task->in_dependent.next; l != end; l = l->next) {
		other = entry_of(l, in_dependent);
		if (conflict(task->depend, task->nr_depend, other->depend,
			     other->nr_depend) && !--other->blocked)
			add_ready(tasks, other);
	}
	list_remove(&task->in_dependent);
}

static void add_locked(struct tasks *tasks, struct task *task)
{
	struct task *parent = task->parent;

	count_by(&parent->children, 1);
	if (task->in)
		count_by(&task->in->count, 1);
	count_by(&tasks->unfinished, 1);
	if (task->nr_depend) {
		task->blocked = conflicts(parent, task->depend,
					  task->nr_depend);
		list_add(&task->in_dependent, parent->dependent.prev);
	}
	if (!task->blocked)
		add_ready(tasks, task);
}

/* From now on anybody may run it, and free it. */
void task_add(struct task *task)
{
	struct tasks *tasks = task->tasks;

	word_lock(&tasks->lock);
	add_locked(tasks, task);
	word_unlock(&tasks->lock);
	long_wake();
}

/*
 * What a count reaches zero for may be gone at once: a group, or a parent on its
 * member's stack, so nothing of them is touched after it.  A member's part of
 * the region stays until there is no task any more: "unfinished" comes last.
 */
static void finish(struct tasks *tasks, struct task *task)
{
	struct task *parent = task->parent;
	bool last, orphan, more = false;

	word_lock(&tasks->lock);
	task->ran = true;
	if (task->detached && !task->fulfilled) {	/* then, again */
		word_unlock(&tasks->lock);
		return;
	}
	task->ended = true;
	if (task->nr_depend) {
		let_go(tasks, task);
		more = atomic_load_explicit(&tasks->ready, memory_order_relaxed);
	}
	last = !task->children;
	orphan = parent->ended && parent->children == 1;
	count_by(&parent->children, -1);
	if (task->in)
		count_by(&task->in->count, -1);
	count_by(&tasks->unfinished, -1);
	word_unlock(&tasks->lock);
	if (more)
		long_wake();
	if (last)
		free(task);
	if (orphan)
		free(parent);
}

static void run(struct task *task)
{
	struct context *c = context();
	struct task *before = c->task;

	/* One that owns copies, whose destructors it calls, is run all the same. */
	if (!task->copied && tasks_cancelled(task->in)) {
		task->detached = false;		/* its event never comes */
		return;
	}
	c->task = task;
	task->fn(task->data);
	c->task = before;
}

/*
 * The first of those that stand in @queue, as @offset has it.  Who rests after a
 * region may find tasks of the next one, and leaves them alone until it has its
 * own part of that: it may have another number there or none, and has not set up
 * its copies for a reduction.  Where there is a task the region does not change,
 * and was counted before it stood there: the lock makes it seen.
 */
static bool run_first(struct tasks *tasks, struct list *queue, size_t offset)
{
	const struct context *c = context();
	struct task *task = NULL;

	if (!atomic_load_explicit(&tasks->ready, memory_order_relaxed))
		return false;
	word_lock(&tasks->lock);
	if (queue->next != queue && (!c->team || c->team->begun == c->region)) {
		task = (struct task *)((char *)queue->next - offset);
		take(tasks, task);
	}
	word_unlock(&tasks->lock);
	if (!task)
		return false;
	run(task);
	finish(tasks, task);
	return true;
}

/* One task of any kind, by a member that has nothing else to do. */
bool tasks_help(struct tasks *tasks)
{
	return run_first(tasks, &tasks->queue, offsetof(struct task, in_team));
}

/* By the last one at a barrier: there is none that could make others. */
void tasks_finish(struct tasks *tasks)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(&tasks->unfinished, memory_order_acquire)) {
		if (tasks_help(tasks))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

bool tasks_are_enough(const struct context *c)
{
	return atomic_load_explicit(&c->tasks->unfinished,
				    memory_order_relaxed) > MANY * c->size;
}

/*
 * A thread without a team runs its tasks as it makes them.  From the first one on
 * that ends with an event it has queues, too: that one and those that depend on it
 * may have to wait, and the event may come from a thread of the program's own.
 */
void tasks_alone(struct context *c)
{
	struct tasks *tasks = mios_omp_memalign(LINE, sizeof(*tasks));

	if (!tasks)
		omp_die("no memory left in the window for a task");
	memset(tasks, 0, sizeof(*tasks));
	tasks_init(tasks);
	c->tasks = tasks;
}

/* The end of its region.  Who has ended the last task may still hold the lock. */
void tasks_alone_end(struct context *c)
{
	if (!c->tasks)
		return;
	tasks_finish(c->tasks);
	word_lock(&c->tasks->lock);
	free(c->tasks);
}

static void await_children(struct task *task)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(&task->children, memory_order_acquire)) {
		if (context()->tasks &&
		    run_first(context()->tasks, &task->ready,
			      offsetof(struct task, in_parent)))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

void task_await_children(void)
{
	await_children(context()->task);
}

/* By anybody, once, whether it still runs or not. */
void task_fulfill(struct task *task)
{
	struct tasks *tasks = task->tasks;
	bool ran;

	word_lock(&tasks->lock);
	ran = task->ran;
	task->fulfilled = true;		/* one that was run here may go now */
	word_unlock(&tasks->lock);
	if (ran)
		finish(tasks, task);
}

static void await_event(struct task *task)
{
	struct omp_wait wait = { 0 };

	while (!task->fulfilled) {
		if (tasks_help(task->tasks))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

/* At once, by who makes it; its memory is the caller's, so until all is done. */
void task_run_here(struct task *task)
{
	run(task);
	if (atomic_load_explicit(&task->children, memory_order_acquire))
		await_children(task);
	if (task->detached)
		await_event(task);
}

void task_await_group(struct group *group)
{
	struct omp_wait wait = { 0 };

	while (atomic_load_explicit(&group->count, memory_order_acquire)) {
		if (context()->tasks &&
		    run_first(context()->tasks, &group->ready,
			      offsetof(struct task, in_group)))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

static bool is_blocked(struct tasks *tasks, const struct task *parent,
		       uint32_t nr, const struct depend *depend)
{
	bool blocked;

	word_lock(&tasks->lock);
	blocked = conflicts(parent, depend, nr) > 0;
	word_unlock(&tasks->lock);
	return blocked;
}

/* Until no child of this task is before one that would have these. */
void task_await_depend(uint32_t nr, struct depend *depend)
{
	struct tasks *tasks = context()->tasks;
	struct task *task = context()->task;
	struct omp_wait wait = { 0 };

	while (is_blocked(tasks, task, nr, depend)) {
		if (run_first(tasks, &task->ready,
			      offsetof(struct task, in_parent)))
			wait.looks = 0;
		else
			wait_once(&wait);
	}
}

struct group *group_create(struct group *outer)
{
	struct group *group = mios_omp_alloc(sizeof(*group));

	if (!group)
		omp_die("no memory left in the window for a task");
	*group = (struct group){
		.outer = outer,
		.reductions = outer ? outer->reductions : NULL,
		.ready = { &group->ready, &group->ready },
	};
	return group;
}

void GOMP_taskgroup_start(void)
{
	struct task *task = context()->task;

	task->group = group_create(task->group);
}

void GOMP_taskgroup_end(void)
{
	struct task *task = context()->task;
	struct group *group = task->group;

	task_await_group(group);
	task->group = group->outer;
	free(group);
}
