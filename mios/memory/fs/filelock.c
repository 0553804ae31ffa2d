// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of files, as flock(2) and fcntl(2) have them, in the image: so that they
 * keep out programs of all instances, and none of them is the server.  Each step
 * is one change of tx.c, which nobody sees half.  Under the lock chains
 * are walked, and for a deadlock the table, which has an end; what one owner has is
 * changed piece by piece.  Called by filelock_vfs.c, and after a death.
 *
 * Turns: a wish that waits lies in the table with a ticket.  It is granted by who
 * has it, when he looks again and nothing is in the way; but wishes with smaller
 * tickets come first, if they could be had now.  Those that could not are passed,
 * as on one kernel: who has what they wait for may be waiting for us.
 */
#include "../../inject/inject.h"
#include "filelock_table.h"

MIOS_INJECT_SWITCH(no_turns, "a lock of a file goes to whoever comes by first");
MIOS_INJECT_UNIT(no_deadlock);
MIOS_INJECT_UNIT(keep_filelocks);

/* As long a chain of who waits for whom is followed, as fs/locks.c does. */
#define DEADLOCK_STEPS	10u

/* As many that wait are looked at; who comes behind more of them does not mind. */
#define TURNS		64u

/* Of the dead, that are taken out at once. */
#define PIECE		16u

/* Do they not go together, if of different owners? */
static bool conflicts(const struct mios_fs_filelock *lock, u64 who,
		      const struct mios_fs_lock_wish *wish)
{
	return mios_filelock_meets(lock, wish) &&
	       !mios_filelock_is_owners(lock, who, wish) &&
	       mios_filelock_overlaps(lock, wish) &&
	       (wish->exclusive ||
		filelock_flags(lock) & MIOS_FS_FILELOCK_EXCLUSIVE);
}

/* Which lock is in the way of a wish of @who, 0: none. */
static u64 in_the_way(struct mios_fs *fs, u64 who,
		      const struct mios_fs_lock_wish *wish)
{
	struct mios_fs_filelock lock;
	u32 steps;
	u64 at;

	for_each_lock(fs, wish->inode, lock, at, steps)
		if (!(filelock_flags(&lock) & MIOS_FS_FILELOCK_WAITS) &&
		    conflicts(&lock, who, wish))
			return at;
	return 0;
}

/* A wish that came before @ticket, and could be had now; 0: none. */
static u64 whose_turn(struct mios_fs *fs, u64 who,
		      const struct mios_fs_lock_wish *wish, u64 ticket)
{
	struct mios_fs_filelock lock;
	struct mios_fs_lock_wish other;
	u32 steps, left = TURNS;
	u64 at;

	for_each_lock(fs, wish->inode, lock, at, steps) {
		if (!(filelock_flags(&lock) & MIOS_FS_FILELOCK_WAITS) ||
		    lock.ticket >= ticket || !conflicts(&lock, who, wish))
			continue;
		if (inject_no_turns || !left--)
			return 0;
		other = mios_filelock_wish(&lock);
		if (!in_the_way(fs, lock.who, &other))
			return at;
	}
	return 0;
}

static u64 blocker_in_turn(struct mios_fs *fs, u64 who,
			   const struct mios_fs_lock_wish *wish, u64 ticket)
{
	return in_the_way(fs, who, wish) ?: whose_turn(fs, who, wish, ticket);
}

static bool waits_in_process(const struct mios_fs_filelock *lock)
{
	return (filelock_flags(lock) & ~MIOS_FS_FILELOCK_EXCLUSIVE) ==
	       (MIOS_FS_FILELOCK_POSIX | MIOS_FS_FILELOCK_WAITS);
}

static u64 wish_waits_for(struct mios_fs *fs,
			  const struct mios_fs_filelock *lock)
{
	const struct mios_fs_lock_wish wish = mios_filelock_wish(lock);

	return blocker_in_turn(fs, lock->who, &wish, lock->ticket);
}

/* For what a wish waits, or who has a lock; 0: for nothing. */
static u64 waits_for(struct mios_fs *fs, u64 of)
{
	const struct mios_fs_filelock has = mios_filelock_read(fs, of);
	u64 at;

	if (filelock_flags(&has) & MIOS_FS_FILELOCK_WAITS)
		return wish_waits_for(fs, &has);
	for (at = 1; at < MIOS_FS_FILELOCKS; at++) {
		const struct mios_fs_filelock lock = mios_filelock_read(fs, at);

		if ((u32)lock.file && lock.who == has.who &&
		    lock.owner == has.owner && waits_in_process(&lock))
			return wish_waits_for(fs, &lock);
	}
	return 0;
}

/* Would who asks wait for himself?  Of processes; as fs/locks.c looks. */
static bool is_deadlock(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
			u64 by)
{
	struct mios_fs_filelock lock;
	u32 steps;

	if (wish->kind != MIOS_FS_FILELOCK_POSIX || inject_no_deadlock)
		return false;
	for (steps = 0; by && steps < DEADLOCK_STEPS; steps++) {
		lock = mios_filelock_read(fs, by);
		/* Another thread's wish is not what has to go first. */
		if (mios_filelock_is_owners(&lock, mios_filelock_who(fs), wish) &&
		    (!(filelock_flags(&lock) & MIOS_FS_FILELOCK_WAITS) ||
		     lock.ticket == wish->ticket))
			return true;
		by = waits_for(fs, by);
	}
	return false;
}

/* Which instances have somebody who waits for a lock of this file? */
static u64 waiters_of(struct mios_fs *fs, const struct mios_fs_lock_wish *wish)
{
	struct mios_fs_filelock lock;
	u64 tell = 0;
	u32 steps;
	u64 at;

	for_each_lock(fs, wish->inode, lock, at, steps)
		if (mios_filelock_meets(&lock, wish) &&
		    filelock_flags(&lock) & MIOS_FS_FILELOCK_WAITS)
			tell |= 1ull << mios_filelock_instance(&lock);
	return tell;
}

/* Nobody is in the way: what the owner had there before goes. */
static int grant(struct mios_fs *fs, struct mios_fs_lock_wish *wish)
{
	struct mios_fs_lock_wish all = *wish;
	int err;

	mios_filelock_join(fs, &all);
	all.ticket = mios_filelock_ticket(fs);
	err = mios_filelock_new(fs, &all, mios_filelock_flags(&all));
	if (err)
		return err;
	*wish = all;
	return mios_filelock_carve(fs, wish, wish->ticket);
}

/* The wish with its ticket out of the table; false: it is not there. */
static bool unqueue(struct mios_fs *fs, const struct mios_fs_lock_wish *wish)
{
	u64 *link = mios_filelock_chain(fs, wish->inode);
	u32 steps = 0;
	u64 at;

	while ((at = mios_filelock_next(fs, link, &steps))) {
		const struct mios_fs_filelock lock = mios_filelock_read(fs, at);

		if (mios_filelock_meets(&lock, wish) && lock.ticket == wish->ticket &&
		    filelock_flags(&lock) & MIOS_FS_FILELOCK_WAITS &&
		    lock.who == mios_filelock_who(fs)) {
			mios_filelock_free(fs, link, at);
			return true;
		}
		link = &mios_filelock_at(fs, at)->next;
	}
	return false;
}

/* It had none yet. */
static int take_first(struct mios_fs *fs, struct mios_fs_lock_wish *wish,
		      bool wait)
{
	u32 taken = mios_filelocks_taken(fs);
	u64 by;
	int err = 0;

	/* flock() lets go of what one has before it asks for another one. */
	if (wish->kind == MIOS_FS_FILELOCK_FLOCK)
		err = mios_filelock_carve(fs, wish, ~0ull);
	/* It has one at most. */
	if (err)
		return -ENOLCK;
	by = wait ? blocker_in_turn(fs, mios_filelock_who(fs), wish, ~0ull) :
	     in_the_way(fs, mios_filelock_who(fs), wish);
	if (by && !wait)
		return -EAGAIN;
	/* One for another there always is. */
	if (mios_filelocks_taken(fs) == taken &&
	    !mios_filelock_replaces(fs, wish) && !mios_filelock_room(fs, wish))
		return -ENOLCK;
	if (!by)
		return grant(fs, wish);
	if (is_deadlock(fs, wish, by))
		return -EDEADLK;
	wish->ticket = mios_filelock_ticket(fs);
	err = mios_filelock_new(fs, wish, mios_filelock_flags(wish) |
				MIOS_FS_FILELOCK_WAITS);
	return err ? err : MIOS_FS_LOCK_WAITS;
}

static int take_again(struct mios_fs *fs, struct mios_fs_lock_wish *wish)
{
	u64 by = blocker_in_turn(fs, mios_filelock_who(fs), wish, wish->ticket);

	if (by && !is_deadlock(fs, wish, by))
		return MIOS_FS_LOCK_WAITS;
	/* Whom it waits for now is not whom it has waited for at first. */
	if (by)
		return unqueue(fs, wish) ? -EDEADLK : -ESTALE;
	/* Else a fence has been too early for this instance. */
	return unqueue(fs, wish) ? grant(fs, wish) : -ESTALE;
}

/* Also what -EAGAIN has let go of. */
static int finish(struct mios_fs *fs, struct mios_fs_lock_wish *wish, int err)
{
	if (fs->too_many)
		err = -EIO;
	if (err >= 0 || err == -EAGAIN || err == -EDEADLK)
		mios_tx_apply(fs);
	wish->tell = waiters_of(fs, wish);
	mios_tx_end(fs);
	return err;
}

int mios_fs_lock_take(struct mios_fs *fs, struct mios_fs_lock_wish *wish,
		      bool wait)
{
	struct mios_fs_lock_wish now = *wish;
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	err = wish->ticket ? take_again(fs, &now) : take_first(fs, &now, wait);
	/* Else the table has it as before: with its ticket, or not at all. */
	if (err >= 0)
		*wish = now;
	return finish(fs, wish, err);
}

int mios_fs_lock_trim(struct mios_fs *fs, struct mios_fs_lock_wish *wish)
{
	int err = mios_tx_begin(fs);

	return err ? err : finish(fs, wish, mios_filelock_carve(fs, wish,
								wish->ticket));
}

int mios_fs_lock_drop(struct mios_fs *fs, struct mios_fs_lock_wish *wish)
{
	int err;

	/* What comes after this is not meant, also where it is late. */
	if (!wish->ticket)
		wish->ticket = READ_ONCE(filelocks_of(fs)->ticket);
	err = mios_tx_begin(fs);
	if (err)
		return err;
	return finish(fs, wish, mios_filelock_carve(fs, wish, wish->ticket));
}

int mios_fs_lock_forgo(struct mios_fs *fs, struct mios_fs_lock_wish *wish)
{
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	unqueue(fs, wish);
	return finish(fs, wish, 0);
}

int mios_fs_lock_test(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
		      struct mios_fs_lock_wish *other)
{
	int err = mios_tx_begin(fs);
	struct mios_fs_filelock lock;
	u64 by;

	if (err)
		return err;
	by = in_the_way(fs, mios_filelock_who(fs), wish);
	if (by) {
		lock = mios_filelock_read(fs, by);
		*other = mios_filelock_wish(&lock);
	}
	mios_tx_end(fs);
	return !!by;
}

/* Of one chain, of the dead; is there more? */
static bool chain_forget(struct mios_fs *fs, u64 *link, u32 instance, u32 epoch,
			 u32 *nr)
{
	u32 steps = 0;
	u64 at;

	while ((at = mios_filelock_next(fs, link, &steps))) {
		const struct mios_fs_filelock lock = mios_filelock_read(fs, at);

		/* What is free already would come round again for ever. */
		if (!(u32)lock.file ||
		    mios_filelock_instance(&lock) != instance ||
		    lock.who >> MIOS_FS_FILELOCK_EPOCH > epoch) {
			link = &mios_filelock_at(fs, at)->next;
			continue;
		}
		if ((*nr)++ == PIECE)
			return true;
		mios_filelock_free(fs, link, at);
	}
	return false;
}

bool mios_filelocks_forget(struct mios_fs *fs, u32 instance, u32 epoch)
{
	u64 *chain = filelocks_of(fs)->chain;
	bool more = false;
	u32 i, nr = 0;

	for (i = 0; i < MIOS_FS_FILELOCK_CHAINS && !more &&
	     !inject_keep_filelocks; i++)
		more = chain_forget(fs, &chain[i], instance, epoch, &nr);
	mios_tx_apply(fs);
	return more;
}
