/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seats of a lock: who is there, and who has died.  In shared memory a header,
 * the seats, and then the lock itself (mios/memory/lock/).
 *
 * A seat is taken by having its mutex (life.h), for as long as it is taken.
 */
#ifndef SEAT_H
#define SEAT_H

#include "os.h"

#include "../../mios/memory/lock/place.h"
#include "life.h"
#include "mios_lock.h"

#define SEATS_MAGIC	0x535441455353494dULL
#define SEATS_VERSION	1

/**
 * struct seat_record - a seat (whoever has its mutex)
 * @life:	robust; taken while the seat is
 * @epoch:	how often it has been taken
 * @pad:	nothing else in its cache line
 */
struct seat_record {
	pthread_mutex_t life;
	u32 epoch;
	u32 pad[5];
};

/**
 * struct seats_header - what is there (who makes it)
 * @magic:	SEATS_MAGIC, released last
 * @version:	SEATS_VERSION
 * @size:	bytes of this structure
 * @nr_seats:	how many
 * @pad:	a cache line
 * @record:	the seats
 */
struct seats_header {
	u64 magic;
	u32 version, size, nr_seats;
	u32 pad[11];
	struct seat_record record[];
};

static_assert(sizeof(struct seat_record) == MIOS_LOCK_LINE);
static_assert(sizeof(struct seats_header) == MIOS_LOCK_LINE);

/**
 * struct seat - what is in a struct mios_lock_seat
 * @lock:	this seat's view
 * @seats:	where they are mapped here
 * @until:	when it is late, if @timed
 * @nr_seats:	checked copy
 * @number:	of this seat
 * @pauses:	while the ring was full
 * @timed:	will it ever be late?
 */
struct seat {
	struct mios_qlock lock;
	struct seats_header *seats;
	struct timespec until;
	u32 nr_seats;
	u32 number;
	u32 pauses;
	bool timed;
};

static_assert(sizeof(struct seat) <= sizeof(struct mios_lock_seat));

static inline struct seat *seat_of(struct mios_lock_seat *opaque)
{
	return (struct seat *)opaque;
}

/* Takes it out of the queue if whoever had it has died: was that so? */
bool seat_bury(struct seat *seat, u32 number);

/* All seats; how many had died. */
int seat_bury_all(struct seat *seat);

/* wait.c */
extern const struct mios_lock_wait seat_wait;

#endif
