// SPDX-License-Identifier: GPL-2.0
/*
 * The table of locks of files: finding one, adding, cutting and joining those of
 * one owner.  All of it with the lock of the image, as parts of a change (tx.c).
 */
#include "filelock_table.h"

/* Of one owner, that are changed at once. */
#define PIECE		16u

/* Of the table: for who lets go of the middle of one and so has two; and for root. */
#define RESERVE		64u
#define RESERVE_ROOT	64u
/* What one user may have when half of it is taken. */
#define SHARE		(MIOS_FS_FILELOCKS / 8)

struct mios_fs_filelock *mios_filelock_at(const struct mios_fs *fs, u64 at)
{
	return &filelocks_of(fs)->lock[at];
}

u64 *mios_filelock_chain(const struct mios_fs *fs, u64 inode)
{
	return &filelocks_of(fs)->chain[inode % MIOS_FS_FILELOCK_CHAINS];
}

/* As it is with what this change has already put there; but for ->next. */
struct mios_fs_filelock mios_filelock_read(struct mios_fs *fs, u64 at)
{
	const struct mios_fs_filelock *lock = mios_filelock_at(fs, at);

	return (struct mios_fs_filelock) {
		.file = mios_tx_get(fs, &lock->file),
		.id = mios_tx_get(fs, &lock->id),
		.who = mios_tx_get(fs, &lock->who),
		.owner = mios_tx_get(fs, &lock->owner),
		.first = mios_tx_get(fs, &lock->first),
		.last = mios_tx_get(fs, &lock->last),
		.ticket = mios_tx_get(fs, &lock->ticket),
		.pid = mios_tx_get(fs, &lock->pid),
		.uid = mios_tx_get(fs, &lock->uid),
	};
}

u64 mios_filelock_who(const struct mios_fs *fs)
{
	return fs->pool->self | (u64)fs->pool->epoch << MIOS_FS_FILELOCK_EPOCH;
}

u32 mios_filelock_instance(const struct mios_fs_filelock *lock)
{
	return lock->who % MIOS_FS_INSTANCES;
}

/* Where to go on in a chain; 0: nowhere.  What lies there may be anything. */
u64 mios_filelock_next(struct mios_fs *fs, const u64 *link, u32 *steps)
{
	u64 at = mios_tx_get(fs, link);

	return at < MIOS_FS_FILELOCKS && (*steps)++ < MIOS_FS_FILELOCKS ? at :
		0;
}

/* Of the same file, and flock() or not: else they do not know of each other. */
bool mios_filelock_meets(const struct mios_fs_filelock *lock,
			 const struct mios_fs_lock_wish *wish)
{
	u32 whole = MIOS_FS_FILELOCK_FLOCK;

	return (u32)lock->file == wish->inode && lock->id == wish->id &&
	       (filelock_flags(lock) & whole) == (wish->kind & whole);
}

/* @wish: of @who. */
bool mios_filelock_is_owners(const struct mios_fs_filelock *lock, u64 who,
			     const struct mios_fs_lock_wish *wish)
{
	return lock->who == who && lock->owner == wish->owner &&
	       (filelock_flags(lock) & MIOS_FILELOCK_KINDS) == wish->kind;
}

bool mios_filelock_overlaps(const struct mios_fs_filelock *lock,
			    const struct mios_fs_lock_wish *wish)
{
	return lock->first <= wish->last && wish->first <= lock->last;
}

struct mios_fs_lock_wish mios_filelock_wish(const struct mios_fs_filelock *lock)
{
	return (struct mios_fs_lock_wish) {
		.inode = (u32)lock->file, .id = lock->id,
		.kind = filelock_flags(lock) & MIOS_FILELOCK_KINDS,
		.exclusive = filelock_flags(lock) & MIOS_FS_FILELOCK_EXCLUSIVE,
		.owner = lock->owner, .first = lock->first, .last = lock->last,
		.pid = lock->pid, .uid = lock->uid, .instance = mios_filelock_instance(lock),
		.ticket = lock->ticket,
	};
}

/* Out of the table, of which @link leads to it. */
void mios_filelock_free(struct mios_fs *fs, u64 *link, u64 at)
{
	struct mios_fs_filelock *lock = mios_filelock_at(fs, at);
	u64 *free = &filelocks_of(fs)->free;
	u64 was = mios_tx_get(fs, free);

	mios_tx_put(fs, link, mios_tx_get(fs, &lock->next));
	mios_tx_put(fs, &lock->file, 0);
	mios_tx_put(fs, &lock->next, (u32)was);
	mios_tx_put(fs, free, upper_lower((was >> 32) - 1, at));
}

u64 mios_filelock_ticket(struct mios_fs *fs)
{
	u64 *next = &filelocks_of(fs)->ticket;
	u64 ticket = mios_tx_get(fs, next);

	mios_tx_put(fs, next, ticket + 1);
	return ticket;
}

/* A lock of this instance, of the bytes that @wish names, with its ticket. */
int mios_filelock_new(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
		      u32 flags)
{
	struct mios_fs_filelocks *table = filelocks_of(fs);
	u64 *chain = mios_filelock_chain(fs, wish->inode);
	u64 free = mios_tx_get(fs, &table->free), at = (u32)free;
	struct mios_fs_filelock *lock;

	if (!at || at >= MIOS_FS_FILELOCKS)
		return -ENOLCK;
	lock = mios_filelock_at(fs, at);
	mios_tx_put(fs, &table->free, upper_lower((free >> 32) + 1,
						  mios_tx_get(fs, &lock->next)));
	mios_tx_put(fs, &lock->next, mios_tx_get(fs, chain));
	mios_tx_put(fs, &lock->file, upper_lower(flags, wish->inode));
	mios_tx_put(fs, &lock->id, wish->id);
	mios_tx_put(fs, &lock->who, mios_filelock_who(fs));
	mios_tx_put(fs, &lock->owner, wish->owner);
	mios_tx_put(fs, &lock->first, wish->first);
	mios_tx_put(fs, &lock->last, wish->last);
	mios_tx_put(fs, &lock->ticket, wish->ticket);
	mios_tx_put(fs, &lock->pid, wish->pid);
	mios_tx_put(fs, &lock->uid, wish->uid);
	mios_tx_put(fs, chain, at);
	return 0;
}

u32 mios_filelocks_taken(struct mios_fs *fs)
{
	return mios_tx_get(fs, &filelocks_of(fs)->free) >> 32;
}

static bool has_his_share(const struct mios_fs *fs, u32 uid)
{
	u32 nr = 0;
	u64 at;

	for (at = 1; at < MIOS_FS_FILELOCKS && nr < SHARE; at++) {
		const struct mios_fs_filelock *lock = mios_filelock_at(fs, at);

		nr += READ_ONCE(lock->file) && READ_ONCE(lock->uid) == uid;
	}
	return nr == SHARE;
}

/* Else one user's are in everybody's way. */
static bool may_have_more(const struct mios_fs *fs, u32 taken,
			  const struct mios_fs_lock_wish *wish)
{
	return !wish->limited || taken < MIOS_FS_FILELOCKS / 2 ||
	       !has_his_share(fs, wish->uid);
}

/* Who finds none could not let go of a part of what he has. */
bool mios_filelock_room(struct mios_fs *fs, const struct mios_fs_lock_wish *wish)
{
	u32 taken = mios_filelocks_taken(fs);
	u32 keep = RESERVE + (wish->limited ? RESERVE_ROOT : 0);

	return taken + keep < MIOS_FS_FILELOCKS - 1 &&
	       may_have_more(fs, taken, wish);
}

/* The bytes of a wish out of a lock of its owner; -ENOLCK: it would be two. */
static int lock_cut(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
		    u64 *link, u64 at)
{
	const struct mios_fs_filelock was = mios_filelock_read(fs, at);
	struct mios_fs_filelock *lock = mios_filelock_at(fs, at);
	struct mios_fs_lock_wish behind = mios_filelock_wish(&was);

	behind.first = wish->last + 1;
	if (wish->first > was.first && wish->last < was.last &&
	    (!may_have_more(fs, mios_filelocks_taken(fs), wish) ||
	     mios_filelock_new(fs, &behind, filelock_flags(&was))))
		return -ENOLCK;
	if (wish->first > was.first)
		mios_tx_put(fs, &lock->last, wish->first - 1);
	else if (wish->last < was.last)
		mios_tx_put(fs, &lock->first, wish->last + 1);
	else
		mios_filelock_free(fs, link, at);
	return 0;
}

/* Does who asks, of this instance, have it already? */
static bool is_had(const struct mios_fs *fs,
		   const struct mios_fs_filelock *lock,
		   const struct mios_fs_lock_wish *wish)
{
	return mios_filelock_meets(lock, wish) &&
	       mios_filelock_is_owners(lock, mios_filelock_who(fs), wish) &&
	       !(filelock_flags(lock) & MIOS_FS_FILELOCK_WAITS);
}

/* Does a wish take the place of a lock of its owner, or of more? */
bool mios_filelock_replaces(struct mios_fs *fs,
			    const struct mios_fs_lock_wish *wish)
{
	struct mios_fs_filelock lock;
	u32 steps;
	u64 at;

	for_each_lock(fs, wish->inode, lock, at, steps)
		if (is_had(fs, &lock, wish) && wish->first <= lock.first &&
		    wish->last >= lock.last)
			return true;
	return false;
}

/*
 * The bytes of a wish out of what its owner has had before @ticket, some at a
 * time: 0, or MIOS_FS_LOCK_MORE.
 */
int mios_filelock_carve(struct mios_fs *fs,
			const struct mios_fs_lock_wish *wish, u64 ticket)
{
	u64 *link = mios_filelock_chain(fs, wish->inode);
	u32 steps = 0, nr = 0;
	u64 at;

	while ((at = mios_filelock_next(fs, link, &steps))) {
		const struct mios_fs_filelock lock = mios_filelock_read(fs, at);

		if (is_had(fs, &lock, wish) &&
		    mios_filelock_overlaps(&lock, wish) && lock.ticket < ticket) {
			if (nr++ == PIECE)
				return MIOS_FS_LOCK_MORE;
			if (lock_cut(fs, wish, link, at))
				return -ENOLCK;
			/* It has gone, or another one has come before it. */
			if (mios_tx_get(fs, link) != at)
				continue;
		}
		link = &mios_filelock_at(fs, at)->next;
	}
	return 0;
}

u32 mios_filelock_flags(const struct mios_fs_lock_wish *wish)
{
	return wish->kind |
	       (wish->exclusive ? MIOS_FS_FILELOCK_EXCLUSIVE : 0);
}

static bool touches(const struct mios_fs_filelock *lock,
		    const struct mios_fs_lock_wish *wish)
{
	return (lock->last == ~0ull || lock->last + 1 >= wish->first) &&
	       (wish->last == ~0ull || wish->last + 1 >= lock->first);
}

/* Of the same kind, and beside it or over it: they become one. */
void mios_filelock_join(struct mios_fs *fs, struct mios_fs_lock_wish *all)
{
	struct mios_fs_filelock lock;
	u32 steps, nr = 0;
	u64 at;

	for_each_lock(fs, all->inode, lock, at, steps) {
		if (!is_had(fs, &lock, all) ||
		    filelock_flags(&lock) != mios_filelock_flags(all) || !touches(&lock, all))
			continue;
		if (nr++ == PIECE / 2)
			break;
		if (lock.first < all->first)
			all->first = lock.first;
		if (lock.last > all->last)
			all->last = lock.last;
	}
}
