/* SPDX-License-Identifier: GPL-2.0 */
/* The table of locks of files, for filelock.c; see filelock_table.c. */
#ifndef _MIOS_FILELOCK_TABLE_H
#define _MIOS_FILELOCK_TABLE_H

#include "filelock.h"
#include "tx.h"

#define MIOS_FILELOCK_KINDS	(MIOS_FS_FILELOCK_FLOCK |		\
				 MIOS_FS_FILELOCK_POSIX | MIOS_FS_FILELOCK_OFD)

static inline u32 filelock_flags(const struct mios_fs_filelock *lock)
{
	return lock->file >> 32;
}

struct mios_fs_filelock *mios_filelock_at(const struct mios_fs *fs, u64 at);
u64 *mios_filelock_chain(const struct mios_fs *fs, u64 inode);
struct mios_fs_filelock mios_filelock_read(struct mios_fs *fs, u64 at);
u64 mios_filelock_who(const struct mios_fs *fs);
u32 mios_filelock_instance(const struct mios_fs_filelock *lock);
u64 mios_filelock_next(struct mios_fs *fs, const u64 *link, u32 *steps);
bool mios_filelock_meets(const struct mios_fs_filelock *lock,
			 const struct mios_fs_lock_wish *wish);
bool mios_filelock_is_owners(const struct mios_fs_filelock *lock, u64 who,
			     const struct mios_fs_lock_wish *wish);
bool mios_filelock_overlaps(const struct mios_fs_filelock *lock,
			    const struct mios_fs_lock_wish *wish);
struct mios_fs_lock_wish mios_filelock_wish(const struct mios_fs_filelock *lock);
void mios_filelock_free(struct mios_fs *fs, u64 *link, u64 at);
u64 mios_filelock_ticket(struct mios_fs *fs);
int mios_filelock_new(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
		      u32 flags);
u32 mios_filelocks_taken(struct mios_fs *fs);
bool mios_filelock_replaces(struct mios_fs *fs,
			    const struct mios_fs_lock_wish *wish);
bool mios_filelock_room(struct mios_fs *fs, const struct mios_fs_lock_wish *wish);
int mios_filelock_carve(struct mios_fs *fs,
			const struct mios_fs_lock_wish *wish, u64 ticket);
u32 mios_filelock_flags(const struct mios_fs_lock_wish *wish);
void mios_filelock_join(struct mios_fs *fs, struct mios_fs_lock_wish *all);

/* Each lock of a chain, in @lock. */
#define for_each_lock(fs, inode, lock, at, steps)			\
	for (steps = 0, at = mios_filelock_next(fs,			\
			mios_filelock_chain(fs, inode), &steps);	\
	     at && ((lock) = mios_filelock_read(fs, at), true);		\
	     at = mios_filelock_next(fs, &mios_filelock_at(fs, at)->next, \
				     &steps))

#endif /* _MIOS_FILELOCK_TABLE_H */
