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

static bool is(u32 set, u32 number)
{
	return set >> number & 1;
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

static bool take(u32 number)
{
	bool leaves = is(play->leaves, number);
	u32 value;

	for (;;) {
		value = load(0);
		if (value && (play->what != TOKENS || swap(0, value, value - 1)))
			return true;
		if (!value &&
		    futex_wait(&w.waiter[number], 0, 0, leaves) == -ETIMEDOUT)
			return false;
	}
}

static void wait_for_it(u32 number)
{
	u32 times;

	for (times = 0; times <= play->again; times++)
		if (!take(number))
			break;
	ends(number % NR);
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

static void wait_for_both(u32 number)
{
	struct waiter *q = &w.waiter[number];

	/* Wherever it is woken, it looks at both. */
	while (!load(0))
		futex_wait(q, 0, 0, false);
	while (!load(1))
		futex_wait(q, 1, 0, false);
	ends(number % NR);
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

/* --- FUTEX_WAKE_OP: the second ones of instances wait for the second futex */

static void wait_for_one(u32 number)
{
	u32 place = number / NR;

	while (!load(place))
		futex_wait(&w.waiter[number], place, 0, false);
	ends(number % NR);
}

static void give_both(u32 self)
{
	model_hold(&w.word[0], 1);
	w.counted += futex_wake_op(self);
	ends(self);
}

/* --- a robust mutex, as C libraries have it */

static void inside(u32 number)
{
	u32 i;

	for (i = 0; i < WAITERS; i++)
		CHECK(!w.inside[i]);
	w.inside[number] = true;
}

static u32 tid_of(u32 number)
{
	return (number % NR) << 16 | (number / NR + 1);
}

/* False: it has given up. */
static bool lock(u32 number)
{
	u32 tid = tid_of(number), waiters = 0, value;

	for (;;) {
		value = load(0);
		if (!(value & FUTEX_TID_MASK)) {
			if (!swap(0, value, tid | waiters |
				  (value & FUTEX_WAITERS)))
				continue;
			inside(number);
			CHECK(!(value & FUTEX_OWNER_DIED) == !w.must_tell);
			w.must_tell = false;
			return true;
		}
		if (!(value & FUTEX_WAITERS) &&
		    !swap(0, value, value | FUTEX_WAITERS))
			continue;
		if (futex_wait(&w.waiter[number], 0, value | FUTEX_WAITERS,
			       is(play->leaves, number)) == -ETIMEDOUT)
			return false;
		waiters = FUTEX_WAITERS;
	}
}

static void unlock(u32 number)
{
	u32 value;

	test_access();
	CHECK(w.inside[number]);
	value = load(0);
	while (!swap(0, value, 0))
		value = load(0);
	w.inside[number] = false;
	if (value & FUTEX_WAITERS)
		futex_wake(number % NR, 0, 1);
}

static void lock_and_unlock(u32 number)
{
	if ((play->held && !number) || lock(number))
		unlock(number);
	ends(number % NR);
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
	for (i = instance; i < WAITERS; i += NR) {
		w.must_tell |= w.inside[i];
		w.inside[i] = false;
	}
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

static void (*const wakes[])(u32) = {
	give, give, give_second, lock_and_unlock, give_both
};

static void (*const waits[])(u32) = {
	wait_for_it, wait_for_it, wait_for_both, NULL, wait_for_one
};

static void second_waits(u32 self)
{
	waits[play->what](self + NR);
}

static void second_wakes(u32 self)
{
	wakes[play->what](self + NR);
}

void scenario_setup(const struct scenario *scenario)
{
	u32 i;

	play = scenario->own;
	kernel_boot();
	w.late = w.debts = play->late;
	w.turns = play->turns;
	if (play->held) {
		w.word[0] = tid_of(0);
		w.inside[0] = true;
	}
	for (i = 0; i < NR; i++) {
		w.waiter[i].instance = w.waiter[NR + i].instance = i;
		if (is(play->waits, i))
			begins(waits[play->what], i);
		if (is(play->waits, NR + i))
			begins(second_waits, i);
		if (is(play->wakes, i))
			begins(wakes[play->what], i);
		if (is(play->wakes, NR + i))
			begins(second_wakes, i);
		if (play->late && is(play->wakes, i))
			explore_task(kernel_pay, i);
		if (is(play->waits | play->waits >> NR, i) || play->what == LOCK)
			explore_task(kernel_serve, i);
	}
	if (play->what == MOVE)
		begins(move_them, 1);
	if (model_broken[EARLY_DEATH] && play->what == LOCK)
		begins(suspect, 0);
	if (model_broken[EARLY_BURIAL])
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

	for (i = 0; i < WAITERS; i++) {
		const struct waiter *q = &w.waiter[i];

		if (q->queued && is_there(q->place))
			return false;
		asleep += q->queued;
	}
	for (i = 0; i < NR; i++) {
		left += w.left[i];
		if (!w.over[i] && (w.rung[i] || w.work[i]))
			return false;
	}
	if (play->what == LOCK)
		return !left;
	/* Who waits for the mover, which has died. */
	return left == asleep || (play->what == MOVE && w.over[1]);
}
