/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue lock in memory that several kernels, or several processes, share:
 *
 *   header        | tail          | place 0 | place 1 | ...
 *   64 bytes      | 64 bytes      | 64 bytes each: a cache line
 *
 * Who wants the lock takes the next place of the ring, and waits on that line
 * alone.  Who takes part has a seat: a number, which with an epoch says who it
 * is.  Among kernels the seat is the instance, and the epoch its epoch.
 *
 * The tickets of a place are those that leave its number as a rest; which one
 * its word is about is told by the lap, how often the ring had been gone round.
 */
#ifndef _MIOS_LOCK_LAYOUT_H
#define _MIOS_LOCK_LAYOUT_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif
#include <linux/types.h>

#define MIOS_LOCK_MAGIC		0x4b434f4c534f494dULL	/* "MIOSLOCK" */
#define MIOS_LOCK_VERSION	2

#define MIOS_LOCK_LINE		64u
#define MIOS_LOCK_PLACES_MAX	2048u
#define MIOS_LOCK_SEATS		1024u

/*
 * What a place is.  The token, which is the lock, lies at the furthest place
 * that is or has been open, held, passed or shared first.
 */
enum mios_place_state {
	MIOS_PLACE_FREE = 0,	/* nobody's */
	MIOS_PLACE_OPEN,	/* nobody's, and the lock is to be had here */
	MIOS_PLACE_WAITS,	/* the seat waits for the lock */
	MIOS_PLACE_SLEEPS,	/* it does, and has to be woken */
	MIOS_PLACE_HOLDS,	/* it has the lock */
	MIOS_PLACE_LEFT,	/* it waits no more; it may come back */
	MIOS_PLACE_PASSES,	/* it is handing the lock on from here */
	MIOS_PLACE_ADMITS,	/* nobody's; who only shares the lock may enter */
	MIOS_PLACE_ASKS,	/* the seat waits for a share */
	MIOS_PLACE_NAPS,	/* it does, and has to be woken */
	MIOS_PLACE_SHARES,	/* it has a share, as others before it have */
	MIOS_PLACE_SHARES_FIRST, /* the same; nobody before it has one any more */
	MIOS_PLACE_DONE,	/* nothing any more, until the token comes by */
	MIOS_PLACE_STATES
};

/*
 * The word of a place, from its lowest bit: state, whether who has had the lock
 * before died with it, seat, epoch, lap.  The lower half changes whenever the
 * lock is granted: that is what a sleeper's futex compares.
 */
#define MIOS_PLACE_STATE_BITS	4
#define MIOS_PLACE_DIED_BITS	1
#define MIOS_PLACE_SEAT_BITS	10
#define MIOS_PLACE_EPOCH_BITS	24
#define MIOS_PLACE_LAP_BITS	25

static_assert(MIOS_PLACE_STATE_BITS + MIOS_PLACE_DIED_BITS +
	      MIOS_PLACE_SEAT_BITS + MIOS_PLACE_EPOCH_BITS +
	      MIOS_PLACE_LAP_BITS == 64);
static_assert(MIOS_PLACE_STATES <= 1 << MIOS_PLACE_STATE_BITS);
static_assert(MIOS_LOCK_SEATS <= 1u << MIOS_PLACE_SEAT_BITS);

/**
 * struct mios_lock_place - a place in the queue (everybody)
 * @word:	see above; by compare-and-exchange only
 * @pad:	nothing else in its cache line
 */
struct mios_lock_place {
	__u64 word;
	__u64 pad[7];
};

static_assert(sizeof(struct mios_lock_place) == MIOS_LOCK_LINE);

/**
 * struct mios_lock_header - what the lock is (who makes it)
 * @magic:	MIOS_LOCK_MAGIC, released last
 * @version:	MIOS_LOCK_VERSION
 * @size:	bytes of this structure
 * @nr_places:	a power of two
 * @pad:	a cache line
 * @tail:	no place before this ticket's is to be had (everybody): by
 *		compare-and-exchange, further each time
 * @pad_tail:	a cache line
 * @place:	the ring
 */
struct mios_lock_header {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u32 nr_places;
	__u32 pad[11];
	__u64 tail;
	__u64 pad_tail[7];
	struct mios_lock_place place[];
};

static_assert(offsetof(struct mios_lock_header, tail) == MIOS_LOCK_LINE);
static_assert(offsetof(struct mios_lock_header, place) == 2 * MIOS_LOCK_LINE);
static_assert(sizeof(struct mios_lock_header) == 2 * MIOS_LOCK_LINE);

#endif /* _MIOS_LOCK_LAYOUT_H */
