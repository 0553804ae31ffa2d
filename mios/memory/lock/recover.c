// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery of a queue lock after a death: called by any survivor, once the dead
 * is fenced.  No lock; place.h, BURY, says why several may do it.
 */
#include "place.h"

static bool is_of(u64 word, u32 seat, u32 epoch)
{
	if (place_state(word) == MIOS_PLACE_FREE ||
	    place_state(word) == MIOS_PLACE_OPEN ||
	    place_state(word) == MIOS_PLACE_ADMITS)
		return false;
	return place_seat(word) == seat &&
	       (place_epoch(word) <= epoch ||
		mios_lock_fault(MIOS_LOCK_FAULT_ANY_EPOCH));
}

/* False if it has to be looked at again: somebody has changed it. */
static bool bury(const struct mios_qlock *lock, u32 at, u64 word)
{
	/* Only its lowest bits count, and they are in the word. */
	u64 ticket = (word >> LAP_SHIFT) << lock->shift | at;
	u64 died = word & DIED;

	switch (place_state(word)) {
	case MIOS_PLACE_WAITS:
	case MIOS_PLACE_SLEEPS:
	case MIOS_PLACE_ASKS:
	case MIOS_PLACE_NAPS:
		if (mios_lock_fault(MIOS_LOCK_FAULT_LET_WAIT))
			return true;
		return try_cmpxchg(place_at(lock, at), &word,
				   place_become(word, MIOS_PLACE_LEFT));
	case MIOS_PLACE_HOLDS:
		if (!mios_lock_fault(MIOS_LOCK_FAULT_FORGET))
			died = DIED;
		break;
	case MIOS_PLACE_SHARES:
		return try_cmpxchg(place_at(lock, at), &word,
				   place_become(word, MIOS_PLACE_DONE));
	case MIOS_PLACE_SHARES_FIRST:
		break;
	case MIOS_PLACE_PASSES:
		if (mios_lock_fault(MIOS_LOCK_FAULT_ALWAYS_TELL))
			died = DIED;
		break;
	default:
		return true;
	}
	mios_place_pass(lock, ticket, word, died);
	return true;
}

static bool has_been_granted(u64 word)
{
	return place_state(word) == MIOS_PLACE_HOLDS ||
	       place_state(word) == MIOS_PLACE_SHARES ||
	       place_state(word) == MIOS_PLACE_SHARES_FIRST;
}

void mios_qlock_recover(struct mios_qlock *lock, u32 seat, u32 epoch)
{
	u64 word;
	u32 at;

	for (at = 0; at < lock->nr_places; at++) {
		for (;;) {
			word = smp_load_acquire(place_at(lock, at)); /* CHAIN */
			if (!is_of(word, seat, epoch) || bury(lock, at, word))
				break;
		}
		/* The dead may have granted it, and not lived to wake. */
		if (has_been_granted(word) &&
		    !mios_lock_fault(MIOS_LOCK_FAULT_NO_LAST_WAKE))
			lock->wait->wake(lock->ctx, place_at(lock, at)); /* SLEEP */
	}
}
