/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks of a team.  A task is memory of the window; any member of any process
 * runs it.  All lists and counts below are changed under the team's task lock;
 * who waits reads counts without it.
 */
#ifndef MIOS_GOMP_TASK_H
#define MIOS_GOMP_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LINE		128		/* two cache lines: they are fetched so */

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *list)
{
	list->next = list->prev = list;
}

struct depend {
	void *addr;
	bool in;		/* only reads */
};

/* taskgroup: of the tasks made within it, and of theirs. */
struct group {
	_Atomic uint32_t count;		/* not finished */
	struct group *outer;
	struct list ready;
	uintptr_t *reductions;		/* see reduction.c */
	bool of_share;			/* made for a loop's reductions */
	atomic_bool cancelled;
};

enum schedule { STATIC = 1, DYNAMIC, GUIDED, AUTO };

/*
 * What omp_set_*() and clauses have made of the settings, for a task and those that it
 * makes: the data environment's internal control variables.
 */
struct icvs {
	uint32_t threads;		/* for the next region; 0: not said */
	uint32_t limit;			/* of threads at work; 0: none */
	int max_active, dynamic;
	int device;			/* the default one */
	enum schedule schedule;
	uint64_t chunk;
	uintptr_t allocator;		/* the default one */
	uint32_t nr_teams, team;	/* of the league that it is in */
};

/*
 * What a member runs: its part of the region, or what GOMP_task() has made.  It
 * is freed when it has ended and so have all that it has made.
 */
struct task {
	struct task *parent;
	struct tasks *tasks;		/* of its team, or of who is alone, or NULL */
	struct group *group;		/* where those that it makes belong */
	struct group *in;		/* where it belongs */
	void (*fn)(void *data);
	void *data;
	_Atomic uint32_t children;	/* not finished */
	uint32_t blocked;		/* by so many brothers made before it */
	uint32_t priority;
	atomic_bool fulfilled;		/* the event that it ends with has been */
	bool detached, ran;		/* it has such a one, and waits for it */
	bool final, ended;
	bool copied;			/* by a function: it owns what it has */
	uint32_t nr_depend;
	struct depend *depend;
	struct icvs icvs;
	/* all above is zero in a new one: see task_init() */
	struct list ready;		/* children that wait to be run */
	struct list dependent;		/* unfinished ones with depend, in order */
	struct list in_team, in_parent, in_group, in_dependent;
};

/* Of a team, or of a thread that is alone: see tasks_alone(). */
struct tasks {
	_Atomic uint32_t lock;
	struct list queue;		/* ready ones, the oldest first */
	/* who waits looks at these */
	_Atomic uint32_t unfinished __attribute__((aligned(LINE)));
	_Atomic uint32_t ready;
} __attribute__((aligned(LINE)));

struct context;

/* task.c APIs: */
void task_await_objects(int n, void **objects);
void GOMP_taskwait_depend(void **list);

/* context.c APIs: */
void task_init(struct task *task, struct task *parent);

/* task_run.c APIs: */
void tasks_init(struct tasks *tasks);
void tasks_alone(struct context *c);
void tasks_alone_end(struct context *c);
bool tasks_help(struct tasks *tasks);
void tasks_finish(struct tasks *tasks);
void task_add(struct task *task);
void task_run_here(struct task *task);
void task_fulfill(struct task *task);
void task_await_children(void);
void task_await_group(struct group *group);
void task_await_depend(uint32_t nr, struct depend *depend);
bool tasks_are_enough(const struct context *c);
struct group *group_create(struct group *outer);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);

#endif /* MIOS_GOMP_TASK_H */
