/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mios/memory/lock/ offers: a lock that goes round in the order of asking,
 * among kernels or among processes, and survives the death of any of them at
 * any instruction.  Portable: it allocates nothing; how to wait is the caller's
 * (struct mios_lock_wait).  docs/locks.md explains it.
 *
 * A struct mios_qlock is one seat's view and has one user at a time: a kernel
 * puts a lock of its own before it, a process has one for each thread.  Never
 * to be taken with interrupts off: the holder is another kernel's.
 */
#ifndef _MIOS_LOCK_H
#define _MIOS_LOCK_H

#include "os.h"

#include <mios/lock.h>

/**
 * struct mios_lock_wait - how to wait
 * @spins:	how often to look before sleeping
 * @pause:	between two looks: shortly, or until *word is not @value
 * @sleep:	until woken, or for some time, unless the lower half of *word is
 *		not @value any more by then
 * @wake:	who sleeps on this word
 * @late:	is it time to give up?
 */
struct mios_lock_wait {
	u32 spins;
	void (*pause)(void *ctx, u64 *word, u64 value);
	void (*sleep)(void *ctx, u64 *word, u32 value);
	void (*wake)(void *ctx, u64 *word);
	bool (*late)(void *ctx);
};

/* What the owner of a view is to the lock. */
enum mios_qlock_state {
	MIOS_QLOCK_NONE = 0,
	MIOS_QLOCK_LEFT,	/* has a place that it does not wait at */
	MIOS_QLOCK_WAITS,
	MIOS_QLOCK_HOLDS,
};

/**
 * struct mios_qlock - a lock as one seat sees it
 * @header:	where it is mapped here
 * @who:	seat and epoch, as in the word of a place
 * @ticket:	of its place, unless @state is MIOS_QLOCK_NONE
 * @wait:	how to wait
 * @ctx:	first argument of @wait's
 * @seen:	the word of its place when mios_qlock_look() said not yet
 * @nr_places:	checked copy
 * @shift:	its logarithm
 * @shared:	a share is wanted, or had
 * @state:	enum mios_qlock_state
 */
struct mios_qlock {
	struct mios_lock_header *header;
	u64 who;
	u64 ticket;
	const struct mios_lock_wait *wait;
	void *ctx;
	u64 seen;
	u32 nr_places;
	u32 shift;
	bool shared;
	enum mios_qlock_state state;
};

/* qlock.c: the ring, which nobody waits in */

/* How many places are enough for so many seats; 0: for none are. */
u32 mios_qlock_places(u32 seats);

/* Bytes of a lock. */
size_t mios_qlock_size(u32 places);

/**
 * mios_qlock_format() - make a lock, open
 * @memory: where, 64 bytes aligned
 * @places: a power of two, 2 to MIOS_LOCK_PLACES_MAX
 *
 * The caller is alone.
 */
int mios_qlock_format(void *memory, u32 places);

/**
 * mios_qlock_attach() - see a lock, which somebody has made
 * @lock: out
 * @memory: where it is mapped
 * @size: how much is
 * @seat: nobody else has it, under
 * @epoch: this epoch or an earlier one that is not recovered yet
 *
 * The caller sets @lock->wait and @lock->ctx.  0; -EPROTO: another version;
 * -EBADMSG: no lock, or damaged; -EINVAL: no such seat or epoch.
 */
int mios_qlock_attach(struct mios_qlock *lock, void *memory, size_t size,
		      u32 seat, u32 epoch);

/**
 * mios_qlock_try() - take it if it is open
 * @lock: not held
 * @shared: share it with others who do
 *
 * 0; -EOWNERDEAD: taken, and its holder died; -EBUSY; -EDEADLK: held already.
 */
int mios_qlock_try(struct mios_qlock *lock, bool shared);

/*
 * A place in the queue, the old one if it is still there.  As mios_qlock_try(),
 * or -EINPROGRESS: waiting; -ENOSPC: each place is taken, or others were faster.
 */
int mios_qlock_join(struct mios_qlock *lock, bool shared);

/* 0, -EOWNERDEAD; -EINPROGRESS: not yet; -ESTALE: taken for dead. */
int mios_qlock_look(struct mios_qlock *lock);

/* The same, and it has to be woken from now on. */
int mios_qlock_doze(struct mios_qlock *lock);

/* Wait no more: -ETIMEDOUT; or it has just been given: 0, -EOWNERDEAD. */
int mios_qlock_leave(struct mios_qlock *lock);

/**
 * mios_qlock_unlock() - the next one's
 * @lock: held; whatever its holder before had left half done is well again,
 *	unless it was only shared: then all are told until one has had it alone
 *
 * 0; -EPERM: not held; -ESTALE: taken away, since its holder was taken for dead.
 */
int mios_qlock_unlock(struct mios_qlock *lock);

/* wait.c */

/**
 * mios_qlock_lock() - wait for it
 * @lock: not held
 * @shared: share it with others who do, but for those who came after one who
 *	does not
 *
 * 0; -EOWNERDEAD: taken, and its holder died; -ETIMEDOUT: it was late, and the
 * place is kept until it comes to its turn; -EDEADLK: held already; -ESTALE.
 */
int mios_qlock_lock(struct mios_qlock *lock, bool shared);

/* lock_recover.c: death */

/**
 * mios_qlock_recover() - take the dead out of the queue
 * @lock: any view but that of the dead
 * @seat: whose tasks run no more: it has been fenced
 * @epoch: its last one; earlier ones are over, too
 *
 * Several may do it at once, and for the same one; who dies in it has begun
 * nothing that the recovery of that one does not finish.
 */
void mios_qlock_recover(struct mios_qlock *lock, u32 seat, u32 epoch);

#endif /* _MIOS_LOCK_H */
