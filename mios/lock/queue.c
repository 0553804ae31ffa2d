// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of a queue lock: places are taken, left, come back to, and the lock
 * goes from one to the next.  Called by wait.c and recover.c, and by who has
 * means of its own to wait.  No lock; place.h says why the order is right.
 */
#include "place.h"

u32 mios_qlock_places(u32 seats)
{
	/*
	 * One for each, and one for each that died in the queue and has come
	 * back before its turn came.
	 */
	if (!seats || seats > MIOS_LOCK_SEATS)
		return 0;
	return seats < 8 ? 16 : roundup_pow_of_two(2 * seats);
}

size_t mios_qlock_size(u32 places)
{
	return sizeof(struct mios_lock_header) +
	       (size_t)places * sizeof(struct mios_lock_place);
}

static bool places_are_sane(u32 places)
{
	return places >= 2 && places <= MIOS_LOCK_PLACES_MAX &&
	       is_power_of_2(places);
}

int mios_qlock_format(void *memory, u32 places)
{
	struct mios_lock_header *header = memory;

	if (!places_are_sane(places) || (unsigned long)memory % MIOS_LOCK_LINE)
		return -EINVAL;
	memset(memory, 0, mios_qlock_size(places));
	header->version = MIOS_LOCK_VERSION;
	header->size = sizeof(*header);
	header->nr_places = places;
	header->place[0].word = MIOS_PLACE_OPEN;
	/* All of it, before anybody takes it for a lock. */
	smp_store_release(&header->magic, MIOS_LOCK_MAGIC);
	return 0;
}

int mios_qlock_attach(struct mios_qlock *lock, void *memory, size_t size,
		      u32 seat, u32 epoch)
{
	struct mios_lock_header *header = memory;
	u32 places;

	if (seat >= MIOS_LOCK_SEATS || epoch > EPOCH_MAX ||
	    (unsigned long)memory % MIOS_LOCK_LINE)
		return -EINVAL;
	if (size < sizeof(*header))
		return -EBADMSG;
	/* Its magic number came last. */
	if (smp_load_acquire(&header->magic) != MIOS_LOCK_MAGIC)
		return -EBADMSG;
	if (header->version != MIOS_LOCK_VERSION ||
	    header->size != sizeof(*header))
		return -EPROTO;
	places = READ_ONCE(header->nr_places);
	if (!places_are_sane(places) || size < mios_qlock_size(places))
		return -EBADMSG;
	memset(lock, 0, sizeof(*lock));
	lock->header = header;
	lock->who = (u64)seat << SEAT_SHIFT | (u64)epoch << EPOCH_SHIFT;
	lock->nr_places = places;
	lock->shift = ilog2(places);
	return 0;
}

/* Past a place that is taken. */
static void tail_follow(const struct mios_qlock *lock, u64 ticket)
{
	try_cmpxchg(&lock->header->tail, &ticket, ticket + 1); /* JOIN */
}

static int granted(struct mios_qlock *lock, u64 word)
{
	lock->state = MIOS_QLOCK_HOLDS;
	return word & DIED ? -EOWNERDEAD : 0;
}

/* May a place with this word be taken at this ticket? */
static int place_is_for(const struct mios_qlock *lock, u64 ticket, u64 word,
			bool queue)
{
	u32 lap = place_lap(lock, ticket, word);

	if (mios_lock_fault(MIOS_LOCK_FAULT_ANY_LAP))
		lap = 0;
	if (lap == LAP_MAX)
		return -ENOSPC; /* still used from the lap before */
	if (lap)
		return -EAGAIN; /* has been taken, and left behind */
	switch (place_state(word)) {
	case MIOS_PLACE_OPEN:
		return 0;
	case MIOS_PLACE_FREE:
		return queue ? 0 : -EBUSY;
	default:
		return mios_lock_fault(MIOS_LOCK_FAULT_WAIT_FOR_TAIL) ?
			-ENOSPC : -EAGAIN;
	}
}

/* Has it taken the place at the tail?  If not, @err says why. */
static bool place_take(struct mios_qlock *lock, bool queue, int *err)
{
	u64 ticket = READ_ONCE(lock->header->tail);
	u64 word = READ_ONCE(*place_at(lock, ticket)), mine;
	bool open = place_state(word) == MIOS_PLACE_OPEN;

	*err = place_is_for(lock, ticket, word, queue);
	if (*err == -EAGAIN)
		tail_follow(lock, ticket);
	if (*err)
		return false;
	*err = -EAGAIN;
	mine = place_word(lock, ticket,
			  open ? MIOS_PLACE_HOLDS : MIOS_PLACE_WAITS,
			  lock->who | (word & DIED));
	if (!try_cmpxchg(place_at(lock, ticket), &word, mine)) /* JOIN */
		return false;
	tail_follow(lock, ticket);
	lock->ticket = ticket;
	lock->state = MIOS_QLOCK_WAITS;
	*err = open ? granted(lock, word) : -EINPROGRESS;
	return true;
}

/* Each try more is one that somebody else was faster in. */
static int place_get(struct mios_qlock *lock, bool queue)
{
	u32 tries;
	int err;

	for (tries = 0; tries < 4 * lock->nr_places; tries++)
		if (place_take(lock, queue, &err) || err != -EAGAIN)
			return err;
	return -ENOSPC;
}

int mios_qlock_try(struct mios_qlock *lock, bool shared)
{
	int err;

	if (lock->state == MIOS_QLOCK_HOLDS || lock->state == MIOS_QLOCK_WAITS)
		return -EDEADLK;
	lock->shared = shared;
	err = place_get(lock, false);
	return err == -ENOSPC ? -EBUSY : err;
}

/* The own place becomes something else, if it is still there. */
static bool place_turn(const struct mios_qlock *lock, u32 from, u32 to)
{
	u64 word = place_word(lock, lock->ticket, from, lock->who);

	return try_cmpxchg(place_at(lock, lock->ticket), &word,
			   place_become(word, to));
}

int mios_qlock_join(struct mios_qlock *lock, bool shared)
{
	if (lock->state == MIOS_QLOCK_HOLDS || lock->state == MIOS_QLOCK_WAITS)
		return -EDEADLK;
	lock->shared = shared;
	if (lock->state == MIOS_QLOCK_LEFT &&
	    place_turn(lock, MIOS_PLACE_LEFT, MIOS_PLACE_WAITS)) {
		lock->state = MIOS_QLOCK_WAITS;
		return -EINPROGRESS;
	}
	lock->state = MIOS_QLOCK_NONE;
	return place_get(lock, true);
}

int mios_qlock_look(struct mios_qlock *lock)
{
	u64 word = smp_load_acquire(place_at(lock, lock->ticket)); /* CHAIN */

	lock->seen = word;
	if (!place_lap(lock, lock->ticket, word) &&
	    (word & WHO_MASK) == lock->who) {
		if (place_state(word) == MIOS_PLACE_HOLDS)
			return granted(lock, word);
		if (place_state(word) == MIOS_PLACE_WAITS ||
		    place_state(word) == MIOS_PLACE_SLEEPS)
			return -EINPROGRESS;
	}
	lock->state = MIOS_QLOCK_NONE;
	return -ESTALE;
}

int mios_qlock_doze(struct mios_qlock *lock)
{
	if (mios_lock_fault(MIOS_LOCK_FAULT_BLIND_SLEEP))
		WRITE_ONCE(*place_at(lock, lock->ticket),
			   place_word(lock, lock->ticket, MIOS_PLACE_SLEEPS,
				      lock->who));
	else
		place_turn(lock, MIOS_PLACE_WAITS, MIOS_PLACE_SLEEPS);
	return mios_qlock_look(lock);
}

int mios_qlock_leave(struct mios_qlock *lock)
{
	if (mios_lock_fault(MIOS_LOCK_FAULT_BLIND_LEAVE))
		WRITE_ONCE(*place_at(lock, lock->ticket),
			   place_word(lock, lock->ticket, MIOS_PLACE_LEFT,
				      lock->who));
	else if (!place_turn(lock, MIOS_PLACE_WAITS, MIOS_PLACE_LEFT) &&
		 !place_turn(lock, MIOS_PLACE_SLEEPS, MIOS_PLACE_LEFT))
		return mios_qlock_look(lock);
	lock->state = MIOS_QLOCK_LEFT;
	return -ETIMEDOUT;
}

/* The token to the place of a ticket; what stands there if it has to go on. */
static u64 place_grant(const struct mios_qlock *lock, u64 ticket, u64 died)
{
	u64 *place = place_at(lock, ticket);
	u64 word = READ_ONCE(*place), next;
	u32 lap, state;

	do {
		lap = place_lap(lock, ticket, word);
		state = place_state(word);
		if (mios_lock_fault(MIOS_LOCK_FAULT_GRANT_ANY_LAP))
			lap = 0;
		/* Free, or only called otherwise: its token has long gone on. */
		if (lap == LAP_MAX || (!lap && state == MIOS_PLACE_FREE))
			next = place_word(lock, ticket, MIOS_PLACE_OPEN, died);
		else if (lap)
			return 0; /* TOKEN: it has been here */
		else if (state == MIOS_PLACE_WAITS ||
			 state == MIOS_PLACE_SLEEPS)
			next = place_become(word, MIOS_PLACE_HOLDS) | died;
		else if (state == MIOS_PLACE_LEFT)
			next = place_word(lock, ticket, MIOS_PLACE_PASSES,
					  lock->who | died);
		else
			return 0; /* TOKEN: it is here */
	} while (!try_cmpxchg(place, &word, next)); /* TOKEN, CHAIN */
	if (!lap && state == MIOS_PLACE_SLEEPS)
		lock->wait->wake(lock->ctx, place); /* SLEEP */
	return place_state(next) == MIOS_PLACE_PASSES ? next : 0;
}

static void place_free(const struct mios_qlock *lock, u64 ticket, u64 word)
{
	u64 next = place_word(lock, ticket + lock->nr_places, MIOS_PLACE_FREE,
			      0);

	try_cmpxchg(place_at(lock, ticket), &word, next);
}

/* Each round more is one that has left the queue. */
void mios_place_pass(const struct mios_qlock *lock, u64 ticket, u64 word,
		     u64 died)
{
	u64 next;

	for (; word; ticket++, word = next) {
		if (mios_lock_fault(MIOS_LOCK_FAULT_FREE_FIRST))
			place_free(lock, ticket, word);
		next = place_grant(lock, ticket + 1, died);
		place_free(lock, ticket, word);
	}
}

int mios_qlock_unlock(struct mios_qlock *lock)
{
	u64 word;

	if (lock->state != MIOS_QLOCK_HOLDS)
		return -EPERM;
	lock->state = MIOS_QLOCK_NONE;
	word = READ_ONCE(*place_at(lock, lock->ticket));
	if ((word & ~DIED) != place_word(lock, lock->ticket, MIOS_PLACE_HOLDS,
					 lock->who))
		return -ESTALE;
	mios_place_pass(lock, lock->ticket, word, 0);
	return 0;
}
