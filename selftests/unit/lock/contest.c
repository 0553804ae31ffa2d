// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer's tasks do, and what is checked at each step: that one has
 * the lock at a time, in the order of places, and who is told of which death;
 * and at the end, that nobody waits and the ring is whole.
 */
#include "contest.h"

#define PLACES_MAX	4
#define UNDERTAKER	5	/* and the next one */
#define REBORN		8	/* more than its earlier life */
#define VISITOR		7

static struct {
	u8 memory[2 * MIOS_LOCK_LINE + PLACES_MAX * MIOS_LOCK_LINE];
	u64 last, last_alone;	/* tickets after those that had it */
	u64 dead;		/* instances */
	u64 readers;		/* instances */
	u32 holder;
	u32 must_tell, may_tell;
	u32 was_late;		/* instances */
	u32 born;
	u32 pad;
} w __attribute__((aligned(64)));

static const struct contest *contest;
bool contest_together;

static void wait_for_change(void *ctx, u64 *word, u64 value)
{
	(void)ctx;
	explore_until_changed(word, value);
}

static bool late_perhaps(void *ctx)
{
	return explore_late((unsigned long)ctx, contest->leaves, &w.was_late);
}

static const struct mios_lock_wait sleeps = {
	.spins = 0, .pause = wait_for_change, .sleep = explore_sleep,
	.wake = explore_wake, .late = late_perhaps,
};

static const struct mios_lock_wait spins = {
	.spins = 1, .pause = explore_pause, .sleep = explore_sleep,
	.wake = explore_wake, .late = late_perhaps,
};

static void attach(struct mios_qlock *lock, u32 instance)
{
	CHECK(!mios_qlock_attach(lock, w.memory, sizeof(w.memory),
				 instance % REBORN, 1 + instance / REBORN));
	lock->wait = contest->spins ? &spins : &sleeps;
	lock->ctx = (void *)(unsigned long)instance;
}

static u64 word_now(const struct mios_qlock *lock, u64 ticket)
{
	return *place_at(lock, ticket);
}

static bool is_waiting(u64 word)
{
	return place_state(word) == MIOS_PLACE_WAITS ||
	       place_state(word) == MIOS_PLACE_SLEEPS ||
	       place_state(word) == MIOS_PLACE_ASKS ||
	       place_state(word) == MIOS_PLACE_NAPS;
}

/* Who waits has come later. */
static bool overtakes(const struct mios_qlock *lock)
{
	u64 word, ticket;
	u32 at;

	for (at = 0; at < contest->places; at++) {
		word = word_now(lock, at);
		ticket = word >> LAP_SHIFT << lock->shift | at;
		if (is_waiting(word) && ticket < lock->ticket)
			return true;
	}
	return false;
}

/* Each who has a share is told, until one who has it alone is. */
static void is_told(const struct mios_qlock *lock, bool told)
{
	CHECK(told || !w.must_tell);
	CHECK(!told || w.must_tell || w.may_tell);
	if (told)
		w.must_tell = lock->shared;
	if (told && !lock->shared && w.may_tell)
		w.may_tell--;
}

static void shares_it(u32 instance)
{
	contest_together |= !!(w.readers & ~w.dead);
	w.readers |= 1ull << instance;
	test_access();
	CHECK(w.holder == NOBODY || w.dead >> w.holder & 1);
	w.readers &= ~(1ull << instance);
}

static void has_it_alone(struct mios_qlock *lock, u32 instance)
{
	CHECK(!(w.readers & ~w.dead));
	w.last_alone = lock->ticket + 1;
	w.holder = instance;
	test_access();
	CHECK(w.holder == instance);
	w.holder = NOBODY;
}

static void has_it(struct mios_qlock *lock, u32 instance, int err)
{
	CHECK(!err || err == -EOWNERDEAD);
	CHECK(w.holder == NOBODY || w.dead >> w.holder & 1);
	CHECK(!overtakes(lock));
	is_told(lock, err);
	/* Those who share may find out in another order. */
	CHECK(lock->ticket >= (lock->shared ? w.last_alone : w.last));
	if (lock->ticket >= w.last)
		w.last = lock->ticket + 1;
	if (lock->shared)
		shares_it(instance);
	else
		has_it_alone(lock, instance);
	CHECK(!mios_qlock_unlock(lock));
}

static void contend(u32 instance)
{
	struct mios_qlock lock;
	u32 i, rounds = contest->rounds[instance % REBORN];
	bool share = contest->shares >> instance % REBORN & 1;
	int err;

	attach(&lock, instance);
	for (i = 0; i < rounds; i++) {
		if (contest->tries >> instance & 1)
			err = mios_qlock_try(&lock, share);
		else
			err = mios_qlock_lock(&lock, share);
		if (err == -ETIMEDOUT && contest->returns)
			err = mios_qlock_lock(&lock, share);
		if (err == -ETIMEDOUT || err == -EBUSY)
			continue;
		has_it(&lock, instance, err);
	}
}

static void bury_all(u32 instance)
{
	struct mios_qlock lock;
	u32 dead;

	attach(&lock, instance);
	for (dead = 0; dead < REBORN; dead++)
		if (w.dead >> dead & 1)
			mios_qlock_recover(&lock, dead, 1);
	if (contest->reborn && !w.born && w.dead & 1) {
		w.born = 1;
		explore_task(contend, REBORN);
	}
}

/* Has the token gone on from here? */
static bool is_passed(const struct mios_qlock *lock, u64 ticket)
{
	u64 next = word_now(lock, ticket + 1);
	u32 lap = place_lap(lock, ticket + 1, next);

	if (lap)
		return lap != LAP_MAX;
	return place_state(next) == MIOS_PLACE_OPEN ||
	       place_state(next) == MIOS_PLACE_HOLDS ||
	       place_state(next) == MIOS_PLACE_PASSES ||
	       place_state(next) == MIOS_PLACE_SHARES_FIRST;
}

/* Of whose death will somebody be told, by what the ring says now? */
static void remember(u32 seat, u32 epoch)
{
	struct mios_qlock lock;
	u64 word;
	u32 at;

	attach(&lock, VISITOR);
	for (at = 0; at < contest->places; at++) {
		word = word_now(&lock, at);
		if (place_seat(word) != seat || place_epoch(word) != epoch)
			continue;
		if (place_state(word) == MIOS_PLACE_WAITS ||
		    place_state(word) == MIOS_PLACE_SLEEPS)
			w.may_tell++;
		if (place_state(word) == MIOS_PLACE_HOLDS &&
		    !is_passed(&lock, (word >> LAP_SHIFT << lock.shift) + at))
			w.must_tell = 1;
	}
}

void contest_died(u32 instance)
{
	u32 i;

	remember(instance % REBORN, 1 + instance / REBORN);
	if (instance == UNDERTAKER || instance == UNDERTAKER + 1)
		explore_task(bury_all, 2 * UNDERTAKER + 1 - instance);
	else if (w.dead)
		explore_task(bury_all, UNDERTAKER);
	else
		for (i = 0; i < contest->buries; i++)
			explore_task(bury_all, UNDERTAKER + i);
	w.dead |= 1ull << instance;
}

void contest_end(void)
{
	struct mios_qlock visitor;
	u32 at, open = 0;
	int err;

	attach(&visitor, VISITOR);
	for (at = 0; at < contest->places; at++) {
		u64 word = word_now(&visitor, at);

		CHECK(place_state(word) <= MIOS_PLACE_OPEN);
		open += place_state(word) == MIOS_PLACE_OPEN;
	}
	CHECK(open == 1);
	err = mios_qlock_try(&visitor, false);
	CHECK(!err || err == -EOWNERDEAD);
	CHECK(err ? w.must_tell || w.may_tell : !w.must_tell);
	CHECK(!mios_qlock_unlock(&visitor));
}

void contest_setup(const struct scenario *scenario)
{
	u32 i;

	contest = scenario->own;
	contest_together = false;
	memset(&w, 0, sizeof(w));
	w.holder = NOBODY;
	CHECK(!mios_qlock_format(w.memory, contest->places));
	explore_world(&w, sizeof(w));
	for (i = 0; i < 3; i++)
		if (contest->rounds[i])
			explore_task(contend, i);
}
