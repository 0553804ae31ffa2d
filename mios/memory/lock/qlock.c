// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of a queue lock: places are taken, left, come back to, and the lock
 * goes from one to the next.  Called by wait.c and lock_recover.c, and by who has
 * means of its own to wait.  No lock; place.h says why the order is right.
 */
#include "../../inject/inject.h"
#include "place.h"

MIOS_INJECT_UNIT(past_writers);
MIOS_INJECT_UNIT(any_lap);
MIOS_INJECT_UNIT(wait_for_tail);
MIOS_INJECT_UNIT(skip_place);
MIOS_INJECT_UNIT(blind_sleep);
MIOS_INJECT_UNIT(blind_leave);
MIOS_INJECT_UNIT(grant_any_lap);
MIOS_INJECT_UNIT(free_first);
MIOS_INJECT_UNIT(blind_done);
MIOS_INJECT_UNIT(share_forgets);

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

/* Past a place that is taken; somebody else may have done it, or more. */
static void tail_follow(const struct mios_qlock *lock, u64 ticket)
{
	u64 tail = ticket;

	while (!try_cmpxchg(&lock->header->tail, &tail, ticket + 1) && /* JOIN */
	       tail <= ticket)
		;
}

/*
 * Whoever may share the lock with one who does, from the ticket on.  It is no
 * more than a favour: who is forgotten here has its turn when the token comes.
 */
static void places_admit(const struct mios_qlock *lock, u64 ticket, u64 died)
{
	u64 word, next, end = ticket + lock->nr_places;
	u32 state;

	while (ticket != end) {
		word = READ_ONCE(*place_at(lock, ticket));
		state = place_state(word);
		if (place_lap(lock, ticket, word))
			return;
		if (state == MIOS_PLACE_FREE)
			next = place_become(word, MIOS_PLACE_ADMITS) | died;
		else if (state == MIOS_PLACE_ASKS || state == MIOS_PLACE_NAPS)
			next = place_become(word, MIOS_PLACE_SHARES) | died;
		else if (state == MIOS_PLACE_LEFT)
			next = place_become(word, MIOS_PLACE_DONE);
		else if (state == MIOS_PLACE_DONE ||
			 inject_past_writers)
			next = word;
		else
			return; /* it sees to the next itself, or waits */
		if (next != word &&
		    !try_cmpxchg(place_at(lock, ticket), &word, next)) /* SHARE */
			continue;
		if (state == MIOS_PLACE_NAPS)
			lock->wait->wake(lock->ctx, place_at(lock, ticket));
		if (state != MIOS_PLACE_LEFT && next != word)
			return;
		ticket++;
	}
}

static int granted(struct mios_qlock *lock, u64 word)
{
	lock->state = MIOS_QLOCK_HOLDS;
	if (lock->shared)
		places_admit(lock, lock->ticket + 1, word & DIED);
	return word & DIED ? -EOWNERDEAD : 0;
}

/* What a place with this word becomes for who takes it, or -errno. */
static int place_will_be(const struct mios_qlock *lock, u64 ticket, u64 word)
{
	u32 lap = place_lap(lock, ticket, word);

	if (inject_any_lap)
		lap = 0;
	if (lap == LAP_MAX)
		return -ENOSPC; /* still used from the lap before */
	if (lap)
		return -ESTALE; /* has been taken, and left behind */
	switch (place_state(word)) {
	case MIOS_PLACE_OPEN:
		return lock->shared ? MIOS_PLACE_SHARES_FIRST :
				      MIOS_PLACE_HOLDS;
	case MIOS_PLACE_ADMITS:
		return lock->shared ? MIOS_PLACE_SHARES : MIOS_PLACE_WAITS;
	case MIOS_PLACE_FREE:
		return lock->shared ? MIOS_PLACE_ASKS : MIOS_PLACE_WAITS;
	default:
		return inject_wait_for_tail ?
			-ENOSPC : -EAGAIN;
	}
}

/* -EAGAIN: somebody has taken it; -ESTALE: and is gone. */
static int place_take(struct mios_qlock *lock, u64 ticket, bool queue)
{
	u64 word = READ_ONCE(*place_at(lock, ticket)), died, mine;
	bool waits;
	int state;

	for (;;) {
		state = place_will_be(lock, ticket, word);
		if (state < 0)
			return state;
		waits = state == MIOS_PLACE_WAITS || state == MIOS_PLACE_ASKS;
		if (waits && !queue)
			return -EBUSY;
		died = waits ? 0 : word & DIED;
		mine = place_word(lock, ticket, state, lock->who | died);
		if (try_cmpxchg(place_at(lock, ticket), &word, mine)) /* JOIN */
			break;
		if (inject_skip_place)
			return -EAGAIN;
	}
	tail_follow(lock, ticket);
	lock->ticket = ticket;
	if (!waits)
		return granted(lock, mine);
	lock->state = MIOS_QLOCK_WAITS;
	return -EINPROGRESS;
}

/*
 * Each try more is one that somebody else was faster in.  Who is not the first
 * goes on to the next place without another look at the tail: those who come at
 * the same instant walk behind each other, and do not fight for each place.
 */
static int place_get(struct mios_qlock *lock, bool queue)
{
	u64 tail = READ_ONCE(lock->header->tail), ticket = tail;
	int err = -EAGAIN;
	u32 tries;

	for (tries = 0; tries < 4 * lock->nr_places; tries++) {
		err = place_take(lock, ticket, queue);
		if (err == -EAGAIN) {
			ticket++; /* JOIN */
		} else if (err == -ESTALE) {
			tail_follow(lock, ticket);
			ticket = tail = READ_ONCE(lock->header->tail);
		} else {
			break;
		}
	}
	/* Whoever waits for a place looks at the one at the tail. */
	if (err == -ENOSPC && ticket != tail)
		tail_follow(lock, ticket - 1);
	return err == -EAGAIN || err == -ESTALE ? -ENOSPC : err;
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

static u32 waits_as(const struct mios_qlock *lock)
{
	return lock->shared ? MIOS_PLACE_ASKS : MIOS_PLACE_WAITS;
}

static u32 sleeps_as(const struct mios_qlock *lock)
{
	return lock->shared ? MIOS_PLACE_NAPS : MIOS_PLACE_SLEEPS;
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
	    place_turn(lock, MIOS_PLACE_LEFT, waits_as(lock))) {
		lock->state = MIOS_QLOCK_WAITS;
		return -EINPROGRESS;
	}
	lock->state = MIOS_QLOCK_NONE;
	return place_get(lock, true);
}

/* Is this the own place, in the own lap? */
static bool is_own(const struct mios_qlock *lock, u64 word)
{
	return !place_lap(lock, lock->ticket, word) &&
	       (word & WHO_MASK) == lock->who;
}

static bool has_lock(const struct mios_qlock *lock, u64 word)
{
	u32 state = place_state(word);

	if (lock->shared)
		return state == MIOS_PLACE_SHARES ||
		       state == MIOS_PLACE_SHARES_FIRST;
	return state == MIOS_PLACE_HOLDS;
}

int mios_qlock_look(struct mios_qlock *lock)
{
	u64 word = smp_load_acquire(place_at(lock, lock->ticket)); /* CHAIN */

	if (is_own(lock, word) && has_lock(lock, word))
		return granted(lock, word);
	lock->seen = word;
	if (is_own(lock, word) && (place_state(word) == waits_as(lock) ||
				   place_state(word) == sleeps_as(lock)))
		return -EINPROGRESS;
	lock->state = MIOS_QLOCK_NONE;
	return -ESTALE;
}

int mios_qlock_doze(struct mios_qlock *lock)
{
	if (inject_blind_sleep)
		WRITE_ONCE(*place_at(lock, lock->ticket),
			   place_word(lock, lock->ticket, sleeps_as(lock),
				      lock->who));
	else
		place_turn(lock, waits_as(lock), sleeps_as(lock));
	return mios_qlock_look(lock);
}

int mios_qlock_leave(struct mios_qlock *lock)
{
	if (inject_blind_leave)
		WRITE_ONCE(*place_at(lock, lock->ticket),
			   place_word(lock, lock->ticket, MIOS_PLACE_LEFT,
				      lock->who));
	else if (!place_turn(lock, waits_as(lock), MIOS_PLACE_LEFT) &&
		 !place_turn(lock, sleeps_as(lock), MIOS_PLACE_LEFT))
		return mios_qlock_look(lock);
	lock->state = MIOS_QLOCK_LEFT;
	return -ETIMEDOUT;
}

/* What a place in this lap becomes when the token comes; 0: it has been here. */
static u64 place_with_token(const struct mios_qlock *lock, u64 ticket, u64 word,
			    u64 died)
{
	switch (place_state(word)) {
	case MIOS_PLACE_FREE:
	case MIOS_PLACE_ADMITS:
		return place_word(lock, ticket, MIOS_PLACE_OPEN, died);
	case MIOS_PLACE_WAITS:
	case MIOS_PLACE_SLEEPS:
		return place_become(word, MIOS_PLACE_HOLDS) | died;
	case MIOS_PLACE_ASKS:
	case MIOS_PLACE_NAPS:
	case MIOS_PLACE_SHARES:
		return place_become(word, MIOS_PLACE_SHARES_FIRST) | died;
	case MIOS_PLACE_LEFT:
	case MIOS_PLACE_DONE:
		return place_word(lock, ticket, MIOS_PLACE_PASSES,
				  lock->who | died);
	default:
		return 0;
	}
}

/* The token to the place of a ticket; what stands there if it has to go on. */
static u64 place_grant(const struct mios_qlock *lock, u64 ticket, u64 died)
{
	u64 *place = place_at(lock, ticket);
	u64 word = READ_ONCE(*place), next;
	u32 lap;

	do {
		lap = place_lap(lock, ticket, word);
		if (inject_grant_any_lap)
			lap = 0;
		if (!lap)
			next = place_with_token(lock, ticket, word, died);
		else if (lap == LAP_MAX)
			/* Only slow to be freed: its token has gone on. */
			next = place_word(lock, ticket, MIOS_PLACE_OPEN, died);
		else
			next = 0;
		if (!next)
			return 0; /* TOKEN: it has been here */
	} while (!try_cmpxchg(place, &word, next)); /* TOKEN, CHAIN */
	if (!lap && (place_state(word) == MIOS_PLACE_SLEEPS ||
		     place_state(word) == MIOS_PLACE_NAPS))
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
		if (inject_free_first)
			place_free(lock, ticket, word);
		next = place_grant(lock, ticket + 1, died);
		place_free(lock, ticket, word);
	}
}

/* With the token it goes on; without it, that comes by some time. */
static int share_end(const struct mios_qlock *lock, u64 word)
{
	u64 died;

	if (inject_blind_done) {
		WRITE_ONCE(*place_at(lock, lock->ticket),
			   place_become(word, MIOS_PLACE_DONE));
		return 0;
	}
	if (place_state(word) == MIOS_PLACE_SHARES) {
		if (try_cmpxchg(place_at(lock, lock->ticket), &word,
				place_become(word, MIOS_PLACE_DONE)))
			return 0;
		word = smp_load_acquire(place_at(lock, lock->ticket)); /* CHAIN */
	}
	if (!is_own(lock, word) ||
	    place_state(word) != MIOS_PLACE_SHARES_FIRST)
		return -ESTALE;
	died = inject_share_forgets ? 0 : word & DIED;
	mios_place_pass(lock, lock->ticket, word, died);
	return 0;
}

int mios_qlock_unlock(struct mios_qlock *lock)
{
	u64 word;

	if (lock->state != MIOS_QLOCK_HOLDS)
		return -EPERM;
	lock->state = MIOS_QLOCK_NONE;
	/* CHAIN: the token may have come while there was but a share. */
	word = smp_load_acquire(place_at(lock, lock->ticket));
	if (!is_own(lock, word) || !has_lock(lock, word))
		return -ESTALE;
	if (lock->shared)
		return share_end(lock, word);
	mios_place_pass(lock, lock->ticket, word, 0);
	return 0;
}
