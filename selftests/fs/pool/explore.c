// SPDX-License-Identifier: GPL-2.0
/*
 * Each task is a coroutine.  Before an access to a hot word it asks whether to
 * go on, to let another one run, or to die.  The answers are a path in a tree,
 * which is walked depth first: every run repeats the path up to its last open
 * choice, takes the next answer there, and the first one from then on.
 */
#include <ucontext.h>

#include "explore.h"

#define STACK_SIZE	(64 << 10)
#define PATH_MAX_	4096
#define ALONE_MAX	8

struct task {
	ucontext_t context;
	void (*run)(void);
	u32 instance;
	u32 dead;		/* whom it buries */
	bool runs;
};

static struct {
	const struct scenario *scenario;
	struct task task[2 * TASKS_MAX];
	unsigned int nr;
	struct task *now;
	ucontext_t back;
	unsigned int preemptions, deaths, alone;
	u64 dead;
	const volatile void *hot[HOT_MAX];
	unsigned int nr_hot;
	struct { u8 taken, options; } path[PATH_MAX_];
	unsigned int length, at;
} x;

static u8 stacks[2 * TASKS_MAX][STACK_SIZE];

void explore_hot(const volatile void *word)
{
	CHECK(x.nr_hot < HOT_MAX);
	x.hot[x.nr_hot++] = word;
}

bool explore_is_dead(u32 instance)
{
	return x.dead >> instance & 1;
}

static unsigned int choose(unsigned int options)
{
	if (x.at == x.length) {
		CHECK(x.length < PATH_MAX_);
		x.path[x.length].taken = 0;
		x.path[x.length++].options = options;
	}
	CHECK(x.path[x.at].options == options);
	return x.path[x.at++].taken;
}

static void task_main(void)
{
	x.now->run();
	x.now->runs = false;
	setcontext(&x.back);
}

static void bury(void)
{
	x.scenario->bury(x.now->dead);
}

static void task_add(void (*run)(void), u32 instance)
{
	struct task *task = &x.task[x.nr];

	getcontext(&task->context);
	task->context.uc_stack.ss_sp = stacks[x.nr++];
	task->context.uc_stack.ss_size = STACK_SIZE;
	task->context.uc_link = NULL;
	makecontext(&task->context, task_main, 0);
	task->run = run;
	task->instance = instance;
	task->runs = true;
}

static void die(u32 instance)
{
	unsigned int i;

	x.deaths--;
	x.dead |= 1ull << instance;
	for (i = 0; i < x.nr; i++)
		if (x.task[i].instance == instance)
			x.task[i].runs = false;
	task_add(bury, ~0u);
	x.task[x.nr - 1].dead = instance;
}

static unsigned int others(struct task **list)
{
	unsigned int i, nr = 0;

	for (i = 0; i < x.nr; i++)
		if (x.task[i].runs && &x.task[i] != x.now)
			list[nr++] = &x.task[i];
	return nr;
}

static void point(const volatile void *address, bool write)
{
	struct task *list[2 * TASKS_MAX], *self = x.now;
	unsigned int i, nr, mortal, choice;

	for (i = 0; i < x.nr_hot && x.hot[i] != address; i++)
		;
	if (i == x.nr_hot) {
		CHECK(!write || explore_is_cold(address));
		return;
	}
	nr = x.preemptions ? others(list) : 0;
	mortal = x.deaths && self->instance != ~0u;
	if (!nr && !mortal)
		return;
	choice = choose(1 + nr + mortal);
	if (!choice)
		return;
	if (choice == 1 + nr) {
		die(self->instance);
		setcontext(&x.back);
	}
	x.preemptions--;
	x.now = list[choice - 1];
	swapcontext(&self->context, &x.now->context);
}

void explore_pause(void)
{
	struct task *list[2 * TASKS_MAX], *self = x.now;
	unsigned int nr = others(list);

	/* Nothing is explored: there are no others, and the caller gives up. */
	if (!self)
		return;
	/* What it waited for may just have happened. */
	CHECK(nr || x.alone++ < ALONE_MAX);
	if (!nr)
		return;
	x.now = list[nr > 1 ? choose(nr) : 0];
	swapcontext(&self->context, &x.now->context);
}

/* One run, along the path as far as it goes. */
static void run(const struct scenario *scenario, unsigned int preemptions)
{
	struct task *list[2 * TASKS_MAX];
	volatile unsigned int nr;
	unsigned int i;

	x.scenario = scenario;
	x.nr = x.nr_hot = x.at = x.alone = 0;
	x.dead = 0;
	x.preemptions = preemptions;
	x.deaths = scenario->deaths;
	scenario->setup();
	for (i = 0; i < TASKS_MAX && scenario->task[i]; i++)
		task_add(scenario->task[i], scenario->instance[i]);
	test_point = point;
	test_wait = explore_pause;
	getcontext(&x.back);
	x.now = NULL;
	nr = others(list);
	if (nr) {
		x.now = list[nr > 1 ? choose(nr) : 0];
		setcontext(&x.now->context);
	}
	test_point = NULL;
	scenario->end();
}

void explore(const struct scenario *scenario, unsigned int preemptions)
{
	unsigned long runs = 0;

	x.length = 0;
	do {
		run(scenario, preemptions);
		runs++;
		while (x.length && x.path[x.length - 1].taken + 1 ==
		       x.path[x.length - 1].options)
			x.length--;
		if (x.length)
			x.path[x.length - 1].taken++;
	} while (x.length);
	printf("%s: %lu runs\n", scenario->name, runs);
}
