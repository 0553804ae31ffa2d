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
 * (death.c); who waits may be killed.
 */
#include <linux/jiffies.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"
#include "../lock/place.h"

#include "vfs.h"

MIOS_INJECT_SWITCH(doze, "who waits for the lock does not look by itself");
MIOS_INJECT_SWITCH(no_wake,
		   "do not tell another instance that the lock is its");

/* Some five microseconds. */
#define TURN_SPINS	100

/* How long a wake that was lost is not missed. */
#define TURN_SLEEP	msecs_to_jiffies(500)

/* Before it says that the lock is not to be had: longer than any fence. */
#define TURN_MS		30000

/* Of all mounts: hardly anybody is here. */
static DECLARE_WAIT_QUEUE_HEAD(turns);

/* Where each place is taken there is nothing to sleep at. */
static void turn_pause(void *ctx, u64 *word, u64 value)
{
	struct mios_turn *turn = ctx;

	if (turn->looks++ < TURN_SPINS)
		cpu_relax();
	else
		usleep_range(500, 1000);
}

static void turn_sleep(void *ctx, u64 *word, u32 value)
{
	bool doze = inject_doze;

	wait_event_killable_timeout(turns, (u32)READ_ONCE(*word) != value,
				    doze ? msecs_to_jiffies(TURN_MS) :
				    TURN_SLEEP);
}

/* What stands there may be anything, and go to anybody. */
static void turn_wake(void *ctx, u64 *word)
{
	u32 instance = place_seat(READ_ONCE(*word)) % MIOS_FS_INSTANCES;

	if (instance == mios_link_self())
		wake_up_all(&turns);
	else if (!inject_no_wake)
		mios_send(instance, MIOS_MSG_TURN, NULL, 0);
}

static bool turn_late(void *ctx)
{
	const struct mios_turn *turn = ctx;

	return fatal_signal_pending(current) ||
	       time_after(jiffies, turn->until);
}

static const struct mios_lock_wait waits = {
	.spins = TURN_SPINS,
	.pause = turn_pause,
	.sleep = turn_sleep,
	.wake = turn_wake,
	.late = turn_late,
};

/**
 * mios_turn_init() - how this mount waits for the lock of its image
 * @m: attached
 */
void mios_turn_init(struct mios_mount *m)
{
	m->fs.lock.wait = &waits;
	m->fs.lock.ctx = &m->turn;
	m->fs.recovery.wait = &waits;
	m->fs.recovery.ctx = &m->recovery;
}

/**
 * mios_turn_wait() - begin to wait
 * @turn: who
 * @ms: no longer than this
 */
void mios_turn_wait(struct mios_turn *turn, unsigned int ms)
{
	turn->looks = 0;
	turn->until = jiffies + msecs_to_jiffies(ms);
}

/**
 * mios_turn_begin() - be the one of this kernel that makes a change
 * @m: the mount
 *
 * -EINTR: killed.
 */
int mios_turn_begin(struct mios_mount *m)
{
	int err = mutex_lock_killable(&m->lock);

	if (!err)
		mios_turn_wait(&m->turn, TURN_MS);
	return err;
}

void mios_turn_end(struct mios_mount *m)
{
	mutex_unlock(&m->lock);
}

static void turn_read(void *ctx, u32 instance, u32 incarnation,
		      const void *data, u32 length)
{
	wake_up_all(&turns);
}

static const struct mios_handler turn_handler = { .fn = turn_read };

int mios_turns_init(void)
{
	return mios_handler_register(MIOS_MSG_TURN, &turn_handler);
}

void mios_turns_exit(void)
{
	mios_handler_unregister(MIOS_MSG_TURN);
}
