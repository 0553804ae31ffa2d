// SPDX-License-Identifier: GPL-2.0
/*
 * Robust mutexes as a sign of life, and sleeping on a futex.  Called by locks
 * and barriers.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

int life_init(pthread_mutex_t *life)
{
	pthread_mutexattr_t attr;
	int err = pthread_mutexattr_init(&attr);

	if (err)
		return -err;
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	err = pthread_mutex_init(life, &attr);
	pthread_mutexattr_destroy(&attr);
	return -err;
}

/* It goes to sleep, for no time: only then is the owner's instance looked at. */
int life_take(pthread_mutex_t *life)
{
	static const struct timespec past = { 0, 1 };
	int err = pthread_mutex_clocklock(life, CLOCK_MONOTONIC, &past);

	return err == ETIMEDOUT ? -EBUSY : -err;
}

int life_begin(pthread_mutex_t *life)
{
	static const struct timespec bit = { 0, 1000000 };
	int err = life_take(life), i;

	for (i = 0; i < 100 && err == -EBUSY; i++) {
		nanosleep(&bit, NULL);
		err = life_take(life);
	}
	return err;
}

void life_sleep(u64 *word, u32 value, long ns, void (*watch)(void *ctx),
		void *ctx)
{
	struct timespec left = { 0, ns };

	if (syscall(SYS_futex, word, FUTEX_WAIT, value, &left, NULL, 0) &&
	    errno == ETIMEDOUT)
		watch(ctx);
}

void life_wake(void *ctx, u64 *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
