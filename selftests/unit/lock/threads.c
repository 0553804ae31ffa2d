// SPDX-License-Identifier: GPL-2.0
/*
 * Threads with one lock over a plain counter, so that TSan sees who else is
 * there.  Each ends after some rounds as a dead instance would: with the lock,
 * or in the queue, or between; once it has ended two others bury it.
 */
#include <pthread.h>

#include "futex.h"

#define THREADS	4
#define LIVES	8

struct life {
	pthread_t thread;
	u64 seed;
	u32 seat, epoch;
	unsigned long rounds, counted;
};

static u8 memory[2 * MIOS_LOCK_LINE + 8 * MIOS_LOCK_LINE]
	__attribute__((aligned(64)));
static unsigned long count, half;

static bool late_by_lot(void *ctx)
{
	struct life *life = ctx;

	return life && test_random(&life->seed) % 8 == 0;
}

static const struct mios_lock_wait by_lot = {
	.spins = 20, .pause = futex_pause, .sleep = futex_sleep,
	.wake = futex_wake, .late = late_by_lot,
};

static void attach(struct mios_qlock *lock, u32 seat, u32 epoch, void *ctx)
{
	CHECK(!mios_qlock_attach(lock, memory, sizeof(memory), seat, epoch));
	lock->wait = &by_lot;
	lock->ctx = ctx;
}

static void inside(struct life *life, int err)
{
	CHECK(!err || err == -EOWNERDEAD);
	if (err)
		half = count;
	CHECK(half == count);
	count++;
	life->counted++;
	half++;
}

static int get(struct mios_qlock *lock, struct life *life, bool share)
{
	if (test_random(&life->seed) % 4)
		return mios_qlock_lock(lock, share);
	return mios_qlock_try(lock, share);
}

/* With the lock, and the counter half changed; in the queue; or neither. */
static void end(struct mios_qlock *lock, struct life *life)
{
	bool share = test_random(&life->seed) % 2;
	int err;

	switch (test_random(&life->seed) % 3) {
	case 0:
		err = mios_qlock_lock(lock, share);
		if (share || err == -ETIMEDOUT)
			break;
		inside(life, err);
		half--;
		break;
	case 1:
		mios_qlock_join(lock, share);
	}
}

static void *live(void *arg)
{
	struct life *life = arg;
	struct mios_qlock lock;
	unsigned long i;
	bool share;
	int err;

	attach(&lock, life->seat, life->epoch, life);
	for (i = 0; i < life->rounds; i++) {
		share = test_random(&life->seed) % 2;
		err = get(&lock, life, share);
		if (err == -ETIMEDOUT || err == -EBUSY)
			continue;
		if (!share)
			inside(life, err);
		else
			CHECK(err == -EOWNERDEAD || (!err && half == count));
		CHECK(!mios_qlock_unlock(&lock));
	}
	end(&lock, life);
	return NULL;
}

static void *bury(void *arg)
{
	struct life *life = arg;
	struct mios_qlock lock;

	attach(&lock, THREADS + life->seat, 1, NULL);
	mios_qlock_recover(&lock, life->seat, life->epoch);
	return NULL;
}

/* The next life of a seat begins when the last one has been buried. */
static void *lives(void *arg)
{
	struct life *life = arg;
	pthread_t other;

	for (life->epoch = 1; life->epoch <= LIVES; life->epoch++) {
		CHECK(!pthread_create(&life->thread, NULL, live, life));
		pthread_join(life->thread, NULL);
		CHECK(!pthread_create(&other, NULL, bury, life));
		bury(life);
		pthread_join(other, NULL);
	}
	return NULL;
}

void test_threads(u64 seed, unsigned long rounds)
{
	struct life life[THREADS] = { };
	struct mios_qlock lock;
	pthread_t thread[THREADS];
	unsigned long counted = 0;
	u32 i;
	int err;

	CHECK(!mios_qlock_format(memory, 8));
	for (i = 0; i < THREADS; i++) {
		life[i].seat = i;
		life[i].seed = seed + i;
		life[i].rounds = rounds / LIVES;
		CHECK(!pthread_create(&thread[i], NULL, lives, &life[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		counted += life[i].counted;
	}
	attach(&lock, 2 * THREADS, 1, NULL);
	err = mios_qlock_lock(&lock, false);
	CHECK(!err || err == -EOWNERDEAD);
	CHECK(count == counted && count > rounds / 2);
	printf("threads: %lu times\n", count);
}
