/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks of files between instances, as flock(2) and fcntl(2) have them.  Who
 * waits takes his turn himself, when he looks again: nobody who came later gets
 * it before, once it could be had.  Who lets go of one is told whom to wake; a
 * wake that is lost costs the time until the next look.
 */
#ifndef _MIOS_FILELOCK_H
#define _MIOS_FILELOCK_H

#include "fs.h"

/**
 * struct mios_fs_lock_wish - a lock of a file
 * @inode, @id:	which file, open by this instance
 * @kind:	one of MIOS_FS_FILELOCK_FLOCK, _POSIX and _OFD
 * @exclusive:	nobody else has a lock there
 * @owner:	by which this instance knows who asks
 * @first, @last: of the bytes
 * @pid, @uid:	of who asks
 * @limited:	he gets no more than his share, once half of the table is taken
 * @instance:	of who has it: out
 * @ticket:	0 at first; of one that waits, or is only half through
 * @tell:	out: a bit for each instance that has somebody who waits there
 */
struct mios_fs_lock_wish {
	u64 inode;
	u64 id;
	u32 kind;
	bool exclusive;
	u64 owner;
	u64 first;
	u64 last;
	u32 pid;
	u32 uid;
	bool limited;
	u32 instance;
	u64 ticket;
	u64 tell;
};

/**
 * mios_fs_lock_take() - have a lock, or wait for it, or look again
 * @fs: the file system
 * @wish: which; whoever waits comes with the same one again
 * @wait: else -EAGAIN: somebody else has it
 *
 * 0: it is the caller's; MIOS_FS_LOCK_WAITS; MIOS_FS_LOCK_MORE: it is, too, but call
 * mios_fs_lock_trim() until that is 0; -EDEADLK: somebody waits for who asks;
 * -ENOLCK: there are too many; -EBUSY: it was late.
 */
int mios_fs_lock_take(struct mios_fs *fs, struct mios_fs_lock_wish *wish,
		      bool wait);
#define MIOS_FS_LOCK_WAITS	1
#define MIOS_FS_LOCK_MORE	2

/* What the owner had there before goes. */
int mios_fs_lock_trim(struct mios_fs *fs, struct mios_fs_lock_wish *wish);

/*
 * The owner has nothing there any more.  ->ticket: as for the others.
 * MIOS_FS_LOCK_MORE: again; -ENOLCK: he would have two, and there is no room.
 */
int mios_fs_lock_drop(struct mios_fs *fs, struct mios_fs_lock_wish *wish);

/* He does not wait any more for the one with ->ticket. */
int mios_fs_lock_forgo(struct mios_fs *fs, struct mios_fs_lock_wish *wish);

/* 1: @other is in the way, has it or waits for nothing; 0: nobody is. */
int mios_fs_lock_test(struct mios_fs *fs, const struct mios_fs_lock_wish *wish,
		      struct mios_fs_lock_wish *other);

#endif /* _MIOS_FILELOCK_H */
