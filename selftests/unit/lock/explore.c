// SPDX-License-Identifier: GPL-2.0
/*
 * Each task is a coroutine on a stack of its own.  Between two steps, each of
 * them one access to shared memory, a state is copied away: the world, and of
 * each task what its stack pointer leaves above it, which has its registers,
 * too.  Depth first: a step is taken, and if the state is new, its own steps;
 * then the state is put back and the next step is taken.
 */
#include <stdlib.h>

#include "../../../userspace/mios-lock/stack.h"
#include "explore.h"

#define STACK_SIZE	(64 << 10)
#define SHOT_SIZE	(16 << 10)
#define DEPTH_MAX	4096
#define BELOW		1024	/* what a step may need of its stack */

enum task_state { ENDED, RUNS, CHOOSES, WATCHES, SLEEPS };

struct task {
	void *sp;
	void (*run)(u32 instance);
	const u64 *word;	/* that it watches, or sleeps on */
	u64 value;
	u32 instance;
	u32 options;
	u32 state;
	u32 pad;
};

/* All but stacks and world that a state is made of. */
struct tasks {
	struct task task[TASKS_MAX];
	u32 nr, deaths;
};

struct snapshot {
	struct tasks tasks;
	u32 used[TASKS_MAX];
	u32 next, pad;		/* which way to try from here */
	u8 memory[];		/* the world, then the stacks */
};

static struct tasks x;
static const struct scenario *now;
static struct task *current;
static void *scheduler;
static void *world;
static size_t world_size;
static u32 answer;
static u64 *seen;
static unsigned long seen_max, nr_seen;
static u8 stacks[TASKS_MAX][STACK_SIZE] __attribute__((aligned(64)));

void explore_world(void *memory, size_t size)
{
	CHECK(size % 8 == 0);
	world = memory;
	world_size = size;
}

static void yield(u32 state)
{
	struct task *self = current;

	self->state = state;
	stack_switch(&self->sp, scheduler);
}

static void task_main(void)
{
	current->run(current->instance);
	yield(ENDED);
}

static u8 *stack_top(u32 task)
{
	return stacks[task] + STACK_SIZE;
}

void explore_task(void (*run)(u32 instance), u32 instance)
{
	struct task *task = &x.task[x.nr];

	CHECK(x.nr < TASKS_MAX);
	*task = (struct task) { .sp = stack_begin(stack_top(x.nr), task_main),
				.run = run, .state = RUNS,
				.instance = instance };
	x.nr++;
}

static void point(void)
{
	if (current)
		yield(RUNS);
}

u32 explore_self(void)
{
	return current - x.task;
}

u32 explore_choose(u32 options)
{
	current->options = options;
	yield(CHOOSES);
	current->options = 0;
	return answer;
}

void explore_until_changed(const u64 *word, u64 value)
{
	current->word = word;
	current->value = value;
	yield(WATCHES);
	current->word = NULL;
	current->value = 0;
}

void explore_pause(void *ctx, u64 *word, u64 value)
{
	(void)ctx;
	/* It may look again before anything has changed: once is enough. */
	if (explore_choose(2))
		explore_until_changed(word, value);
}

void explore_sleep(void *ctx, u64 *word, u32 value)
{
	(void)ctx;
	point();
	if ((u32)*word != value)
		return;
	current->word = word;
	yield(SLEEPS);
	current->word = NULL;
}

void explore_wake(void *ctx, u64 *word)
{
	u32 i;

	(void)ctx;
	point();
	for (i = 0; i < x.nr; i++)
		if (x.task[i].state == SLEEPS && x.task[i].word == word)
			x.task[i].state = RUNS;
}

bool explore_late(u32 who, u32 leaves, u32 *was_late)
{
	u32 bit = 1u << who;

	if (!(leaves & bit) || *was_late & bit || !explore_choose(2))
		return false;
	*was_late |= bit;
	return true;
}

static void die(u32 instance)
{
	u32 i;

	x.deaths--;
	for (i = 0; i < x.nr; i++)
		if (x.task[i].instance == instance)
			x.task[i].state = ENDED;
	now->died(instance);
}

/* Ways to go on with a task; the last is its death, also where it waits. */
static u32 task_ways(const struct task *task, bool *mortal)
{
	u32 ways = task->state == CHOOSES ? task->options : 0;

	if (task->state == RUNS ||
	    (task->state == WATCHES && *task->word != task->value))
		ways = 1;
	*mortal = task->state != ENDED && x.deaths;
	return ways + *mortal;
}

static bool step(u32 way)
{
	bool mortal;
	u32 i, ways;

	for (i = 0; i < x.nr; i++) {
		ways = task_ways(&x.task[i], &mortal);
		if (way < ways)
			break;
		way -= ways;
	}
	if (i == x.nr)
		return false;
	if (mortal && way == ways - 1) {
		die(x.task[i].instance);
		return true;
	}
	current = &x.task[i];
	answer = way;
	/* What others have left there is no part of a state. */
	memset((u8 *)current->sp - BELOW, 0, BELOW);
	stack_switch(&scheduler, current->sp);
	current = NULL;
	return true;
}

/* Nobody is left, or rests; nobody may wait for what never comes. */
static bool all_ended(void)
{
	bool goes_on = false, mortal;
	u32 i, left = 0;

	for (i = 0; i < x.nr; i++) {
		left += x.task[i].state != ENDED;
		goes_on |= task_ways(&x.task[i], &mortal) > mortal;
	}
	if (left && !goes_on && now->rests && now->rests())
		return true;
	CHECK(goes_on || !left);
	return !left;
}

static const u8 *snapshot_take(struct snapshot *shot)
{
	u8 *to = shot->memory + world_size;
	u32 i;

	CHECK(to + x.nr * sizeof(shot->tasks) < (u8 *)shot + SHOT_SIZE);
	shot->tasks = x;
	shot->next = 0;
	memcpy(shot->memory, world, world_size);
	memset(shot->used, 0, sizeof(shot->used));
	for (i = 0; i < x.nr; i++) {
		if (x.task[i].state == ENDED) {
			/* Of no more interest: the same for all who are. */
			shot->tasks.task[i] = (struct task) { .state = ENDED };
			continue;
		}
		shot->used[i] = stack_top(i) - (u8 *)x.task[i].sp;
		CHECK(to + shot->used[i] <= (u8 *)shot + SHOT_SIZE);
		memcpy(to, x.task[i].sp, shot->used[i]);
		to += shot->used[i];
	}
	return to;
}

static void snapshot_restore(const struct snapshot *shot)
{
	const u8 *from = shot->memory + world_size;
	u32 i;

	x = shot->tasks;
	memcpy(world, shot->memory, world_size);
	for (i = 0; i < x.nr; i++) {
		if (shot->used[i])
			memcpy(x.task[i].sp, from, shot->used[i]);
		from += shot->used[i];
	}
}

/* Two states look the same once in 10^19 pairs. */
static bool is_new(const struct snapshot *shot, const u8 *end)
{
	const u64 *at = (const u64 *)shot;
	u64 hash = 0x9e3779b97f4a7c15ull;
	size_t slot;

	/* Most words are 0 where the world is large. */
	for (; (const u8 *)at < end; at++) {
		if (!*at)
			continue;
		hash = (hash ^ *at) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
		hash += at - (const u64 *)shot;
	}
	for (slot = (hash += !hash) & seen_max; seen[slot]; slot = (slot + 1) & seen_max)
		if (seen[slot] == hash)
			return false;
	seen[slot] = hash;
	CHECK(++nr_seen < seen_max / 4 * 3);
	return true;
}

/* Depth first, from the state that the tasks are in. */
static void walk(u8 *arena)
{
	struct snapshot *shot = (struct snapshot *)arena;
	u32 depth = 0;

	is_new(shot, snapshot_take(shot));
	for (;;) {
		shot = (struct snapshot *)(arena + (size_t)depth * SHOT_SIZE);
		snapshot_restore(shot);
		if (step(shot->next++)) {
			CHECK(++depth < DEPTH_MAX);
			shot = (struct snapshot *)((u8 *)shot + SHOT_SIZE);
			if (!is_new(shot, snapshot_take(shot)))
				depth--;
			continue;
		}
		if (all_ended())
			now->end();
		if (!depth--)
			return;
	}
}

unsigned long explore(const struct scenario *scenario, u32 states_shift)
{
	u8 *arena = malloc((size_t)DEPTH_MAX * SHOT_SIZE);

	seen_max = (1ul << states_shift) - 1;
	seen = calloc(seen_max + 1, sizeof(*seen));
	CHECK(arena && seen);
	nr_seen = 0;
	now = scenario;
	memset(&x, 0, sizeof(x));
	x.deaths = scenario->deaths;
	scenario->setup(scenario);
	test_point = point;
	walk(arena);
	test_point = NULL;
	free(seen);
	free(arena);
	return nr_seen;
}

#define QUICK_SHIFT	21
#define DEEP_SHIFT	26

void explore_list(const struct scenario *common, const struct entry *list,
		  u32 nr, bool deep)
{
	struct scenario scenario = *common;
	u32 i;

	for (i = 0; i < nr; i++) {
		if (list[i].deep != deep)
			continue;
		scenario.name = list[i].name;
		scenario.deaths = list[i].deaths;
		scenario.own = list[i].own;
		printf("%s: ", scenario.name);
		fflush(stdout);
		printf("%lu states\n", explore(&scenario, deep ? DEEP_SHIFT :
						QUICK_SHIFT));
		if (scenario.all)
			scenario.all(&scenario);
	}
}
