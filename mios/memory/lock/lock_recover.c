// SPDX-License-Identifier: GPL-2.0
/*
 * Recovery of a queue lock after a death: called by any survivor, once the dead
 * is fenced.  No lock; place.h, BURY, says why several may do it.
 */
#include "../../inject/inject.h"
#include "place.h"

MIOS_INJECT_UNIT(any_epoch);
MIOS_INJECT_UNIT(let_wait);
MIOS_INJECT_UNIT(forget);
MIOS_INJECT_UNIT(always_tell);
MIOS_INJECT_UNIT(no_last_wake);

static bool is_of(u64 word, u32 seat, u32 epoch)
{
	if (place_state(word) == MIOS_PLACE_FREE ||
	    place_state(word) == MIOS_PLACE_OPEN ||
	    place_state(word) == MIOS_PLACE_ADMITS)
		return false;
	return place_seat(word) == seat &&
	       (place_epoch(word) <= epoch ||
		inject_any_epoch);
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
		if (inject_let_wait)
			return true;
		return try_cmpxchg(place_at(lock, at), &word,
				   place_become(word, MIOS_PLACE_LEFT));
	case MIOS_PLACE_HOLDS:
		if (!inject_forget)
			died = DIED;
		break;
	case MIOS_PLACE_SHARES:
		return try_cmpxchg(place_at(lock, at), &word,
				   place_become(word, MIOS_PLACE_DONE));
	case MIOS_PLACE_SHARES_FIRST:
		break;
	case MIOS_PLACE_PASSES:
		if (inject_always_tell)
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
		    !inject_no_last_wake)
			lock->wait->wake(lock->ctx, place_at(lock, at)); /* SLEEP */
	}
}
