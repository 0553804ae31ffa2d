// SPDX-License-Identifier: GPL-2.0
/*
 * To wait for a lock with a futex.  Whoever sleeps watches who is before it in
 * the queue: ten times a second it asks whether that one has died.  So a death
 * is found by the one that it would keep waiting, and costs nobody else
 * anything.
 */
#include "seat.h"

#define SECOND_NS	1000000000l
#define PAUSE_NS	1000000l
#define PAUSES		100

/* At most WATCH_NS. */
static long time_left(const struct seat *seat)
{
	struct timespec now;
	time_t seconds;
	long ns;

	if (!seat->timed)
		return WATCH_NS;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = seat->until.tv_sec - now.tv_sec;
	if (seconds > 1)
		return WATCH_NS;
	if (seconds < -1)
		return 0;
	ns = seconds * SECOND_NS + seat->until.tv_nsec - now.tv_nsec;
	return ns < 0 ? 0 : ns < WATCH_NS ? ns : WATCH_NS;
}

static bool is_late(void *ctx)
{
	return !time_left(ctx);
}

/* The nearest before it who is not done: those before that one are waited for next. */
static void watch(void *ctx)
{
	struct seat *seat = ctx;
	const struct mios_qlock *lock = &seat->lock;
	u64 ticket, word;
	u32 i, state;

	for (i = 1; i < lock->nr_places; i++) {
		ticket = lock->ticket - i;
		word = READ_ONCE(*place_at(lock, ticket));
		state = place_state(word);
		/* The lock has gone on from there: it is nearer. */
		if (place_lap(lock, ticket, word))
			return;
		if (state != MIOS_PLACE_LEFT && state != MIOS_PLACE_DONE) {
			seat_bury(seat, place_seat(word));
			return;
		}
	}
}

static void sleep_on(void *ctx, u64 *word, u32 value)
{
	life_sleep(word, value, time_left(ctx), watch, ctx);
}

/* Spinning; or each place is taken, also by those who died there. */
static void pause_a_bit(void *ctx, u64 *word, u64 value)
{
	static const struct timespec bit = { 0, PAUSE_NS };
	struct seat *seat = ctx;

	if (seat->lock.state == MIOS_QLOCK_WAITS) {
		__builtin_ia32_pause();
		return;
	}
	nanosleep(&bit, NULL);
	if (++seat->pauses % PAUSES == 0)
		seat_bury_all(seat);
}

const struct mios_lock_wait seat_wait = {
	.spins = SPINS, .pause = pause_a_bit, .sleep = sleep_on, .wake = life_wake,
	.late = is_late,
};

static int lock_for_ever(struct mios_lock_seat *opaque, bool shared)
{
	struct seat *seat = seat_of(opaque);

	seat->timed = false;
	return mios_qlock_lock(&seat->lock, shared);
}

static int lock_until(struct mios_lock_seat *opaque, bool shared,
		      const struct timespec *until)
{
	struct seat *seat = seat_of(opaque);

	if (until->tv_nsec < 0 || until->tv_nsec >= SECOND_NS)
		return -EINVAL;
	seat->timed = true;
	seat->until = *until;
	return mios_qlock_lock(&seat->lock, shared);
}

int mios_lock(struct mios_lock_seat *seat)
{
	return lock_for_ever(seat, false);
}

int mios_rdlock(struct mios_lock_seat *seat)
{
	return lock_for_ever(seat, true);
}

int mios_timedlock(struct mios_lock_seat *seat, const struct timespec *until)
{
	return lock_until(seat, false, until);
}

int mios_timedrdlock(struct mios_lock_seat *seat, const struct timespec *until)
{
	return lock_until(seat, true, until);
}

int mios_trylock(struct mios_lock_seat *seat)
{
	return mios_qlock_try(&seat_of(seat)->lock, false);
}

int mios_tryrdlock(struct mios_lock_seat *seat)
{
	return mios_qlock_try(&seat_of(seat)->lock, true);
}

int mios_unlock(struct mios_lock_seat *seat)
{
	return mios_qlock_unlock(&seat_of(seat)->lock);
}
