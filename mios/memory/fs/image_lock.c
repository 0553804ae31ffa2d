// SPDX-License-Identifier: GPL-2.0
/*
 * How tasks of this kernel wait for the lock of an image, and how those of
 * others are told that it is theirs: a few looks, then sleep until a message
 * comes.  Tasks of one kernel queue at a mutex, and one of them in the lock's
 * queue for all; whoever recovers the dead waits there for himself, as the task
 * before him may be waiting for the dead.
 *
 * A message that does not arrive costs no more than the sleep of whom it was to
 * wake.  A holder that stops is dead, some time, and then its lock goes on
 * (survivor.c); who waits may be killed.
 */
#include <linux/jiffies.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../../core/link/count.h"
#include "../../core/link/link.h"
#include "../lock/place.h"

#include "fs_trace.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(doze, "who waits for the lock does not look by itself");
MIOS_INJECT_SWITCH(no_wake,
		   "do not tell another instance that the lock is its");

MIOS_INJECT_VALUE(linger, "ms from what is judged to the lock");

/* Some five microseconds. */
#define LOCK_SPINS	100

/* How long a wake that was lost is not missed. */
#define LOCK_SLEEP	msecs_to_jiffies(500)

/* Before it says that the lock is not to be had: longer than any fence. */
#define LOCK_MS		30000

/* Of all mounts: hardly anybody is here. */
static DECLARE_WAIT_QUEUE_HEAD(waiters);

/* Where each place is taken there is nothing to sleep at. */
static void lock_pause(void *ctx, u64 *word, u64 value)
{
	struct mios_image_waiter *waiter = ctx;

	if (!waiter->looks) {
		trace_mios_lock_wait(mios_link_self());
		mios_count(MIOS_COUNT_LOCK_WAITS);
	}
	if (waiter->looks++ < LOCK_SPINS)
		cpu_relax();
	else
		usleep_range(500, 1000);
}

static void lock_sleep(void *ctx, u64 *word, u32 value)
{
	const struct mios_image_waiter *waiter = ctx;
	long sleep = inject_doze ? msecs_to_jiffies(LOCK_MS) : LOCK_SLEEP;

	if (waiter->stubborn)
		wait_event_timeout(waiters, (u32)READ_ONCE(*word) != value,
				   sleep);
	else
		wait_event_killable_timeout(waiters,
					    (u32)READ_ONCE(*word) != value,
					    sleep);
}

/* What stands there may be anything, and go to anybody. */
static void lock_wake(void *ctx, u64 *word)
{
	u32 instance = place_seat(READ_ONCE(*word)) % MIOS_FS_INSTANCES;

	trace_mios_lock_pass(instance);
	if (instance == mios_link_self())
		wake_up_all(&waiters);
	else if (!inject_no_wake)
		mios_send(instance, MIOS_MSG_LOCK_WAKE, NULL, 0);
}

static bool lock_late(void *ctx)
{
	const struct mios_image_waiter *waiter = ctx;

	return (!waiter->stubborn && fatal_signal_pending(current)) ||
	       time_after(jiffies, waiter->until);
}

static const struct mios_lock_wait waits = {
	.spins = LOCK_SPINS,
	.pause = lock_pause,
	.sleep = lock_sleep,
	.wake = lock_wake,
	.late = lock_late,
};

/**
 * mios_image_lock_init() - how this mount waits for the lock of its image
 * @m: attached
 */
void mios_image_lock_init(struct mios_mount *m)
{
	m->fs.lock.wait = &waits;
	m->fs.lock.ctx = &m->waiter;
	m->fs.recovery.wait = &waits;
	m->fs.recovery.ctx = &m->recovery;
}

/**
 * mios_image_lock_wait() - begin to wait
 * @waiter: who
 * @ms: no longer than this
 */
void mios_image_lock_wait(struct mios_image_waiter *waiter, unsigned int ms)
{
	waiter->looks = 0;
	waiter->stubborn = false;
	waiter->until = jiffies + msecs_to_jiffies(ms);
}

/**
 * mios_image_lock() - be the one of this kernel that makes a change
 * @m: the mount
 *
 * -EINTR: killed.
 */
int mios_image_lock(struct mios_mount *m)
{
	int err;

	if (inject_linger)
		msleep(inject_linger);
	err = mutex_lock_killable(&m->lock);
	if (!err)
		mios_image_lock_wait(&m->waiter, LOCK_MS);
	return err;
}

/**
 * mios_image_lock_stubborn() - the same, whoever is killed
 * @m: the mount
 */
void mios_image_lock_stubborn(struct mios_mount *m)
{
	mutex_lock(&m->lock);
	mios_image_lock_wait(&m->waiter, LOCK_MS);
	m->waiter.stubborn = true;
}

void mios_image_unlock(struct mios_mount *m)
{
	mutex_unlock(&m->lock);
}

static void lock_read(void *ctx, u32 instance, u32 incarnation,
		      const void *data, u32 length)
{
	wake_up_all(&waiters);
}

static const struct mios_handler lock_handler = { .fn = lock_read };

int mios_image_locks_init(void)
{
	return mios_handler_register(MIOS_MSG_LOCK_WAKE, &lock_handler);
}

void mios_image_locks_exit(void)
{
	mios_handler_unregister(MIOS_MSG_LOCK_WAKE);
}
