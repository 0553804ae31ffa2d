// SPDX-License-Identifier: GPL-2.0
/*
 * kernel/futex/ below mios/memory/ipc/futex.c, and memory.  What a bucket's
 * lock protects is its kernel's own, and changes in one step with the lock;
 * whatever other instances see, words and columns, is a step of its own.
 */
#include "../lock/explore.h"
#include "model.h"

struct world w;

/* --- memory: stores may be held back until a barrier, and loads pass them */

static void reach(void)
{
	struct held *held = &w.held[explore_self()];

	*held->where += held->add;
	*held = (struct held) { 0 };
}

void model_access(void)
{
	test_access();
	if (w.held[explore_self()].where && explore_choose(2)) {
		reach();
		test_access();
	}
}

/* Where nobody owes anything only this task looks at it. */
void model_access_debts(void)
{
	if (w.debts)
		model_access();
}

void model_barrier(void)
{
	if (!w.held[explore_self()].where)
		return;
	test_access();
	reach();
}

void model_hold(u32 *where, u32 add)
{
	model_barrier();
	w.held[explore_self()] = (struct held) { .where = where, .add = add };
}

/* An atomic operation with a result, which is a barrier. */
u32 model_turn(void)
{
	model_barrier();
	return w.turns ? explore_choose(NR) : 1;
}

/* --- kernel/futex/ */

static union futex_key key_of(u32 place)
{
	return (union futex_key) { .shared = {
		.i_seq = 1ull << 63 | 7, .offset = place * 4 | 1,
	} };
}

static void bucket_lock(u32 self, u32 place)
{
	test_access();
	while (w.lock[self][place])
		explore_until_changed(&w.lock[self][place], 1);
	w.lock[self][place] = 1;
}

static void bucket_unlock(u32 self, u32 place)
{
	w.lock[self][place] = 0;
}

/* futex_remote_enter() */
static void enter(struct waiter *q)
{
	union futex_key key = key_of(q->place);

	q->remote = instances[q->instance]->ops->enter(&key);
}

static void uncount(atomic_t *count)
{
	if (!count)
		return;
	model_barrier();
	test_access();
	count->counter--;
}

/* futex_hb_waiters_dec() and futex_remote_leave() */
static void leave(struct waiter *q)
{
	atomic_t *count = q->remote;

	w.hb[q->instance][q->place]--;
	q->remote = NULL;
	uncount(count);
}

/* futex_remote_dead(): with the bucket's lock held */
static bool owner_is_dead(u32 self, u32 place, u32 value)
{
	if (!(value & FUTEX_WAITERS) || !(value & FUTEX_TID_MASK) ||
	    !instances[self]->ops->dead(value & FUTEX_TID_MASK))
		return false;
	test_access();
	if (w.word[place] == value)
		w.word[place] = FUTEX_WAITERS | FUTEX_OWNER_DIED;
	return true;
}

/* futex_unqueue(); nothing but the queue says which bucket it is in by now */
static bool unqueue(struct waiter *q)
{
	u32 place;

	do {
		place = q->place;
		bucket_lock(q->instance, place);
		if (q->place == place)
			break;
		bucket_unlock(q->instance, place);
	} while (true);
	if (q->queued) {
		q->queued = 0;
		leave(q);
		bucket_unlock(q->instance, place);
		return true;
	}
	bucket_unlock(q->instance, place);
	return false;
}

/* futex_wait_setup(), futex_queue(), futex_unqueue() */
int futex_wait(struct waiter *q, u32 place, u32 value, bool leaves)
{
	u32 self = q->instance;
	bool looks;

	q->place = place;
	w.hb[self][place]++;
	if (!model_broken[LATE_ENTER])
		enter(q);
	bucket_lock(self, place);
	model_access();
	looks = w.word[place] != value;
	if (looks || owner_is_dead(self, place, value)) {
		bucket_unlock(self, place);
		leave(q);
		return -EAGAIN;
	}
	if (model_broken[LATE_ENTER])
		enter(q);
	q->queued = 1;
	bucket_unlock(self, place);
	model_barrier();
	if (leaves && explore_choose(2))
		return unqueue(q) || model_broken[LEAVE_WOKEN] ? -ETIMEDOUT : 0;
	explore_until_changed(&q->queued, 1);
	return 0;
}

/* futex_wake_mark(): it may run at once, and be gone */
static void take(struct waiter *q)
{
	leave(q);
	q->queued = 0;
}

static bool waits(const struct waiter *q, u32 self, u32 place)
{
	return q->queued && q->instance == self && q->place == place;
}

/* With the bucket's lock. */
static int take_some(u32 self, u32 place, int nr)
{
	int woken = 0;
	u32 i;

	for (i = 0; i < WAITERS && woken < nr; i++) {
		if (!waits(&w.waiter[i], self, place))
			continue;
		take(&w.waiter[i]);
		w.taken++;
		woken++;
	}
	return woken;
}

int model_wake_key(u32 self, const union futex_key *key, int nr)
{
	u32 place = key->shared.offset / 4;
	int woken;

	test_access();
	if (!w.hb[self][place])
		return 0;
	bucket_lock(self, place);
	woken = take_some(self, place, nr);
	bucket_unlock(self, place);
	return woken;
}

/* futex_wake_remote_keys() */
void model_wake_all(u32 self)
{
	u32 place, i;

	for (place = 0; place < FUTEXES; place++) {
		test_access();
		if (!w.hb[self][place])
			continue;
		bucket_lock(self, place);
		for (i = 0; i < WAITERS; i++)
			if (waits(&w.waiter[i], self, place))
				take(&w.waiter[i]);
		bucket_unlock(self, place);
	}
}

int futex_wake(u32 self, u32 place, int nr)
{
	union futex_key key = key_of(place);

	return instances[self]->ops->wake(&key, nr, ~0u);
}

/* futex_remote_move(), at the end of requeue_futex() */
static void move(struct waiter *q)
{
	atomic_t *old = q->remote;

	w.hb[q->instance][q->place]--;
	q->place = 1;
	w.shifted++;
	w.hb[q->instance][q->place]++;
	q->remote = NULL;
	if (!model_broken[NO_MOVE])
		enter(q);
	uncount(old);
}

/* futex_requeue(), from the first futex to the second; futex_remote_rest() */
int futex_requeue(u32 self, int nr_wake, int nr_requeue)
{
	union futex_key key = key_of(0);
	int count = 0, rest;
	u32 i;

	bucket_lock(self, 0);
	bucket_lock(self, 1);
	for (i = 0; i < WAITERS && count < nr_wake + nr_requeue; i++) {
		struct waiter *q = &w.waiter[i];

		if (!waits(q, self, 0))
			continue;
		if (++count > nr_wake) {
			move(q);
			continue;
		}
		take(q);
	}
	bucket_unlock(self, 0);
	bucket_unlock(self, 1);
	rest = nr_wake + nr_requeue - count;
	if (rest > 0)
		count += instances[self]->ops->wake(&key, rest, ~0u);
	return count;
}

/* futex_remote_rest(), where all are to be woken */
static int wake_rest(u32 self, u32 place)
{
	union futex_key key = key_of(place);

	if (model_broken[NO_OP_REST] || (place && model_broken[NO_OP_SECOND]))
		return 0;
	return instances[self]->ops->wake(&key, INT32_MAX, ~0u);
}

/* One more in the second futex; who waits there is woken if it was 0. */
static u32 op(void)
{
	model_barrier();
	test_access();
	return w.word[1]++;
}

/* futex_wake_op(): wakes all */
int futex_wake_op(u32 self)
{
	bool late = model_broken[LATE_OP];
	int count;
	u32 old;

	bucket_lock(self, 0);
	bucket_lock(self, 1);
	old = late ? w.word[1] : op();
	count = take_some(self, 0, INT32_MAX);
	if (!old)
		count += take_some(self, 1, INT32_MAX);
	bucket_unlock(self, 0);
	bucket_unlock(self, 1);
	count += wake_rest(self, 0);
	if (!old)
		count += wake_rest(self, 1);
	if (late)
		op();
	return count;
}
