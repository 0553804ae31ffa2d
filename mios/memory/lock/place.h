/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The word of a place, and finding a place: for the files of mios/memory/lock/.
 *
 * Ordering, by name.  Every change of a word is a compare-and-exchange, which
 * is a full barrier, of one word of a certain lap that never comes back.
 *   TOKEN	it moves on by one change of the next place's word: to open, held
 *		or passed.  Only then does its place before become free.  So it
 *		is never nowhere, and who finds the next place so, or in a later
 *		lap, knows that it is gone from here.
 *   CHAIN	who has the lock: its stores, then the next place's word; who is
 *		given it: that word, then its loads.  The dead may be given it,
 *		and do neither: so who recovers loads their words with acquire.
 *		So does who ends a share, to which the token may have come.
 *   JOIN	a place is taken by one change of its own word, which says who,
 *		and only by one that has seen the place before it taken: so they
 *		are taken in the order of tickets.  The tail follows, and is behind
 *		if whoever took one has died before it moved it; who comes next
 *		walks on from there, and moves it past all that it saw taken.
 *   SLEEP	who sleeps: SLEEPS into the word, then sleeps if its lower half is
 *		still so; who grants: the word, then wakes if it was SLEEPS.  Who
 *		dies between leaves a word that says HOLDS: recovery wakes each.
 *   SHARE	who has a share admits the next places before it can end it.  So
 *		the token is not beyond it meanwhile, and nobody has the lock alone
 *		there; it goes past no place whose seat may want that yet.
 *   BURY	who recovers: does for the dead what is left of that, each step one
 *		change that can be made once only, by whoever comes first.
 */
#ifndef _MIOS_LOCK_PLACE_H
#define _MIOS_LOCK_PLACE_H

#include "lock.h"

#define SEAT_SHIFT	(MIOS_PLACE_STATE_BITS + MIOS_PLACE_DIED_BITS)
#define EPOCH_SHIFT	(SEAT_SHIFT + MIOS_PLACE_SEAT_BITS)
#define LAP_SHIFT	(EPOCH_SHIFT + MIOS_PLACE_EPOCH_BITS)
#define DIED		(1ull << MIOS_PLACE_STATE_BITS)
#define WHO_MASK	((1ull << LAP_SHIFT) - (1ull << SEAT_SHIFT))
#define EPOCH_MAX	((1u << MIOS_PLACE_EPOCH_BITS) - 1)
#define LAP_MAX		((1u << MIOS_PLACE_LAP_BITS) - 1)

static inline u32 place_state(u64 word)
{
	return word & ((1u << MIOS_PLACE_STATE_BITS) - 1);
}

static inline u32 place_seat(u64 word)
{
	return word >> SEAT_SHIFT & (MIOS_LOCK_SEATS - 1);
}

static inline u32 place_epoch(u64 word)
{
	return word >> EPOCH_SHIFT & EPOCH_MAX;
}

static inline u64 *place_at(const struct mios_qlock *lock, u64 ticket)
{
	return &lock->header->place[ticket & (lock->nr_places - 1)].word;
}

/* What stands at a ticket's place, @who: with the died bit, if need be. */
static inline u64 place_word(const struct mios_qlock *lock, u64 ticket,
			     u32 state, u64 who)
{
	return ticket >> lock->shift << LAP_SHIFT | who | state;
}

/* The same seat in the same lap, as something else. */
static inline u64 place_become(u64 word, u32 state)
{
	return (word & ~(u64)((1u << MIOS_PLACE_STATE_BITS) - 1)) | state;
}

/* Laps between the ticket's and the word's; LAP_MAX: the one before. */
static inline u32 place_lap(const struct mios_qlock *lock, u64 ticket, u64 word)
{
	return (u32)((word >> LAP_SHIFT) - (ticket >> lock->shift)) & LAP_MAX;
}

/* qlock.c: from @ticket, where @word stands; DIED: its holder did not unlock */
void mios_place_pass(const struct mios_qlock *lock, u64 ticket, u64 word,
		     u64 died);

#endif /* _MIOS_LOCK_PLACE_H */
