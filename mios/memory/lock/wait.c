// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for a queue lock: a few looks, then sleep, until it is late.  Called
 * by who wants a lock, never with interrupts off.
 */
#include "place.h"

/* On one's own cache line. */
static int own_turn(struct mios_qlock *lock)
{
	const struct mios_lock_wait *wait = lock->wait;
	u64 *place = place_at(lock, lock->ticket);
	u32 looks;
	int err;

	for (looks = 0; looks < wait->spins; looks++) {
		err = mios_qlock_look(lock);
		if (err != -EINPROGRESS)
			return err;
		wait->pause(lock->ctx, place, lock->seen);
	}
	for (;;) {
		if (wait->late(lock->ctx))
			return mios_qlock_leave(lock);
		err = mios_qlock_doze(lock);
		if (err != -EINPROGRESS)
			return err;
		wait->sleep(lock->ctx, place, lock->seen); /* SLEEP */
	}
}

int mios_qlock_lock(struct mios_qlock *lock, bool shared)
{
	u64 ticket, word;
	int err = mios_qlock_join(lock, shared);

	while (err == -ENOSPC) {
		if (lock->wait->late(lock->ctx))
			return -ETIMEDOUT;
		ticket = READ_ONCE(lock->header->tail);
		word = READ_ONCE(*place_at(lock, ticket));
		err = mios_qlock_join(lock, shared);
		if (err == -ENOSPC)
			lock->wait->pause(lock->ctx, place_at(lock, ticket),
					  word);
	}
	return err == -EINPROGRESS ? own_turn(lock) : err;
}
