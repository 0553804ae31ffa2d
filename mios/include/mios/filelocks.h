/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks of files, as flock(2) and fcntl(2) have them, in the image of miosfs: a
 * table, and chains in it by the number of the inode.  With fs.h, which includes this.
 */
#ifndef _MIOS_FILELOCKS_LAYOUT_H
#define _MIOS_FILELOCKS_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define MIOS_FS_FILELOCKS	2048u	/* 0 is none */
#define MIOS_FS_FILELOCK_CHAINS	256u

/**
 * struct mios_fs_filelock - a lock that somebody has, or waits for
 * @next:	of its chain, or of the free ones
 * @file:	number of the inode, 0: free; the upper half: MIOS_FS_FILELOCK_*
 * @id:		of the file
 * @who:	instance, 6 bits; from bit 8 on its epoch
 * @owner:	by which that instance knows the process or the open file
 * @first, @last: of its bytes
 * @ticket:	in which order they came
 * @pid:	of who asked
 * @uid:	the same
 */
struct mios_fs_filelock {
	__u64 next;
	__u64 file;
	__u64 id;
	__u64 who;
	__u64 owner;
	__u64 first;
	__u64 last;
	__u64 ticket;
	__u64 pid;
	__u64 uid;
};

static_assert(sizeof(struct mios_fs_filelock) == 80);

#define MIOS_FS_FILELOCK_FLOCK		1u	/* flock(): the whole file */
#define MIOS_FS_FILELOCK_POSIX		2u	/* fcntl(): of a process */
#define MIOS_FS_FILELOCK_OFD		4u	/* of an open file description */
#define MIOS_FS_FILELOCK_EXCLUSIVE	8u
#define MIOS_FS_FILELOCK_WAITS		16u
#define MIOS_FS_FILELOCK_EPOCH		8

/**
 * struct mios_fs_filelocks - the table
 * @free:	first of the free ones, linked by ->next; the upper half: how many
 *		are not free
 * @ticket:	the next one
 * @chain:	first of each chain
 * @lock:	the locks
 */
struct mios_fs_filelocks {
	__u64 free;
	__u64 ticket;
	__u64 chain[MIOS_FS_FILELOCK_CHAINS];
	struct mios_fs_filelock lock[MIOS_FS_FILELOCKS];
};

static_assert(offsetof(struct mios_fs_filelocks, lock) == 2064);
static_assert(sizeof(struct mios_fs_filelocks) == 165904);

#endif /* _MIOS_FILELOCKS_LAYOUT_H */
