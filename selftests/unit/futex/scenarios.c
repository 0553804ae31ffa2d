// SPDX-License-Identifier: GPL-2.0
/*
 * Every state that tasks of three instances can reach which wait on futexes,
 * wake, move waiters, and take a lock whose owner may die.
 * None sleeps although there is something for him; a caller is told of as many
 * waiters as were woken for it; nobody has a lock that a living one has.
 */
#include "scenarios.h"

extern char __start_world[], __stop_world[];

static const struct play *play;

static void begins(void (*run)(u32 instance), u32 instance)
{
	w.left[instance]++;
	explore_task(run, instance);
}

static bool is(u32 set, u32 instance)
{
	return set >> instance & 1;
}

/* Is there something for who waits on it? */
static bool is_there(u32 place)
{
	return w.word[place] && play->what != LOCK;
}

static u32 load(u32 place)
{
	model_access();
	return w.word[place];
}

static bool swap(u32 place, u32 old, u32 new)
{
	model_barrier();
	test_access();
	if (w.word[place] != old)
		return false;
	w.word[place] = new;
	return true;
}

static void ends(u32 self)
{
	model_barrier();
	w.left[self]--;
}

/* --- a flag, and tokens of which each takes one */

static bool take(u32 self)
{
	bool leaves = is(play->leaves, self);
	u32 value;

	for (;;) {
		value = load(0);
		if (value && (play->what != TOKENS || swap(0, value, value - 1)))
			return true;
		if (!value &&
		    futex_wait(&w.waiter[self], 0, 0, leaves) == -ETIMEDOUT)
			return false;
	}
}

static void wait_for_it(u32 self)
{
	u32 times;

	for (times = 0; times <= play->again; times++)
		if (!take(self))
			break;
	ends(self);
}

static void give_once(u32 self)
{
	u32 value;
	int woken;

	if (play->what == FLAG) {
		model_hold(&w.word[0], 1);
		woken = futex_wake(self, 0, INT32_MAX);
	} else {
		do
			value = load(0);
		while (!swap(0, value, value + 1));
		woken = futex_wake(self, 0, 1);
		CHECK(woken <= 1);
	}
	CHECK(woken >= 0);
	w.counted += woken;
}

static void give(u32 self)
{
	u32 times;

	for (times = 0; times <= play->again; times++)
		give_once(self);
	ends(self);
}

/* --- a condition: who waits is moved to another futex, and woken there */

static void wait_for_both(u32 self)
{
	struct waiter *q = &w.waiter[self];

	/* Wherever it is woken, it looks at both. */
	while (!load(0))
		futex_wait(q, 0, 0, false);
	while (!load(1))
		futex_wait(q, 1, 0, false);
	ends(self);
}

static void move_them(u32 self)
{
	int count;

	model_hold(&w.word[0], 1);
	model_barrier();
	count = futex_requeue(self, 0, INT32_MAX);
	CHECK(count >= w.shifted);
	w.counted += count - w.shifted;
	test_access();
	w.moved = 1;
	ends(self);
}

/* After the requeue, as who unlocks the mutex of a condition. */
static void give_second(u32 self)
{
	explore_until_changed(&w.moved, 0);
	model_hold(&w.word[1], 1);
	w.counted += futex_wake(self, 1, INT32_MAX);
	ends(self);
}

/* --- a robust mutex, as C libraries have it */

static void inside(u32 self)
{
	u32 i;

	for (i = 0; i < NR; i++)
		CHECK(!w.inside[i]);
	w.inside[self] = true;
}

static void lock(u32 self)
{
	u32 tid = self << 16 | 1, waiters = 0, value;

	for (;;) {
		value = load(0);
		if (!(value & FUTEX_TID_MASK)) {
			if (!swap(0, value, tid | waiters |
				  (value & FUTEX_WAITERS)))
				continue;
			inside(self);
			CHECK(!(value & FUTEX_OWNER_DIED) == !w.must_tell);
			w.must_tell = false;
			return;
		}
		if (!(value & FUTEX_WAITERS) &&
		    !swap(0, value, value | FUTEX_WAITERS))
			continue;
		futex_wait(&w.waiter[self], 0, value | FUTEX_WAITERS, false);
		waiters = FUTEX_WAITERS;
	}
}

static void lock_and_unlock(u32 self)
{
	u32 value;

	lock(self);
	test_access();
	CHECK(w.inside[self]);
	value = load(0);
	while (!swap(0, value, 0))
		value = load(0);
	w.inside[self] = false;
	if (value & FUTEX_WAITERS)
		futex_wake(self, 0, 1);
	ends(self);
}

/* --- deaths */

static void bury(u32 self)
{
	u32 i;

	for (i = 0; i < NR; i++)
		if (w.over[i])
			instances[self]->dead(i);
	ends(self);
}

void scenario_died(u32 instance)
{
	u32 i;

	kernel_died(instance);
	w.must_tell |= w.inside[instance];
	w.inside[instance] = false;
	for (i = 0; i < NR; i++)
		if (!w.over[i])
			begins(bury, i);
}

/* Takes the silence of 2 for its death, if that is what is broken. */
static void suspect(u32 self)
{
	test_access();
	w.silent[2] = 1;
	ends(self);
}

/* The same of its waiters. */
static void bury_early(u32 self)
{
	test_access();
	instances[self]->dead(2);
	ends(self);
}

/* --- what they all do */

void scenario_setup(const struct scenario *scenario)
{
	void (*const wakes[])(u32) = { give, give, give_second, lock_and_unlock };
	void (*const waits[])(u32) = { wait_for_it, wait_for_it, wait_for_both };
	u32 i;

	play = scenario->own;
	kernel_boot();
	w.late = w.debts = play->late;
	w.turns = play->turns;
	for (i = 0; i < NR; i++) {
		w.waiter[i].instance = i;
		if (is(play->waits, i))
			begins(waits[play->what], i);
		if (is(play->wakes, i))
			begins(wakes[play->what], i);
		if (play->late && is(play->wakes, i))
			explore_task(kernel_pay, i);
		if (is(play->waits, i) || play->what == LOCK)
			explore_task(kernel_serve, i);
	}
	if (play->what == MOVE)
		begins(move_them, 1);
	if (model_fault[EARLY_DEATH] && play->what == LOCK)
		begins(suspect, 0);
	if (model_fault[EARLY_BURIAL])
		begins(bury_early, 0);
	explore_world(__start_world, __stop_world - __start_world);
}

static bool all_is_told(void)
{
	return play->late || w.over[0] || w.over[1] || w.over[2] ||
	       play->what == LOCK;
}

void scenario_end(void)
{
	CHECK(w.counted <= w.taken);
	CHECK(all_is_told() || w.counted == w.taken);
}

/* Daemons wait for work, and tasks for what has not come. */
bool scenario_rests(void)
{
	u32 i, asleep = 0, left = 0;

	for (i = 0; i < NR; i++) {
		const struct waiter *q = &w.waiter[i];

		if (q->queued && is_there(q->place))
			return false;
		asleep += q->queued;
		left += w.left[i];
		if (!w.over[i] && (w.rung[i] || w.work[i]))
			return false;
	}
	if (play->what == LOCK)
		return !left;
	/* Who waits for the mover, which has died. */
	return left == asleep || (play->what == MOVE && w.over[1]);
}
