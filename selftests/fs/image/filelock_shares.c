// SPDX-License-Identifier: GPL-2.0
/*
 * What one user, and all of them, may have of the table of locks of files; also by
 * letting go of the middle of one, which makes two.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define POSIX	MIOS_FS_FILELOCK_POSIX
#define ALL	(MIOS_FS_FILELOCKS - 1)
#define HALF	(MIOS_FS_FILELOCKS / 2)
#define SHARE	(MIOS_FS_FILELOCKS / 8)
#define RESERVE	64u		/* of each kind, as in filelock_table.c */

static struct mios_fs *fs;
static u64 file, id;

static struct mios_fs_lock_wish wish(u32 uid, u64 owner, u64 first, u64 last)
{
	return (struct mios_fs_lock_wish) {
		.inode = file, .id = id, .kind = POSIX, .owner = owner,
		.first = first, .last = last, .uid = uid, .limited = uid,
	};
}

static int drop(u32 uid, u64 owner, u64 first, u64 last)
{
	struct mios_fs_lock_wish w = wish(uid, owner, first, last);
	int err;

	do {
		err = mios_fs_lock_drop(fs, &w);
	} while (err == MIOS_FS_LOCK_MORE);
	return err;
}

/* How many places @uid gets, each for a lock of another owner, from @owner on. */
static u32 fill(u32 uid, u64 owner)
{
	u32 nr;

	for (nr = 0; nr < MIOS_FS_FILELOCKS; nr++) {
		struct mios_fs_lock_wish w = wish(uid, owner + nr, 0, 0);

		if (mios_fs_lock_take(fs, &w, false))
			break;
	}
	return nr;
}

/* The same by letting go of every other byte of one lock. */
static u32 cut_up(u32 uid, u64 owner)
{
	struct mios_fs_lock_wish w = wish(uid, owner, 0, ~0ull);
	u32 nr;

	CHECK(!mios_fs_lock_take(fs, &w, false));
	for (nr = 0; nr < MIOS_FS_FILELOCKS; nr++)
		if (drop(uid, owner, 1 + 2 * nr, 1 + 2 * nr))
			break;
	return nr + 1;
}

static void empty(void)
{
	u64 owner;

	for (owner = 1; owner <= MIOS_FS_FILELOCKS; owner++)
		CHECK(!drop(0, owner, 0, ~0ull));
	WHOLE(fs, 2);
}

void test_filelock_shares(void)
{
	struct mios_fs_lock_wish w;
	struct world world;

	world_make(&world);
	fs = &world.fs[1];
	file = fs_make(fs, MIOS_FS_ROOT, "f", 0100644);
	id = inode_at(fs, file)->id;
	CHECK(!mios_fs_open(fs, file, id));

	CHECK(fill(7, 1) == HALF);
	/* The same lock again wants no place that is not there already. */
	w = wish(7, 1, 0, 0);
	w.exclusive = true;
	CHECK(mios_fs_lock_take(fs, &w, false) == -EAGAIN);
	w.exclusive = false;
	CHECK(!mios_fs_lock_take(fs, &w, false));
	CHECK(fill(8, HALF + 1) == SHARE &&
	      !fill(7, 3 * MIOS_FS_FILELOCKS));
	CHECK(fill(0, HALF + SHARE + 1) == ALL - RESERVE - HALF - SHARE);
	CHECK(!fill(9, 3 * MIOS_FS_FILELOCKS));
	empty();

	CHECK(cut_up(7, 1) == HALF);
	CHECK(fill(8, 2) == SHARE);
	empty();

	/* Users leave root some. */
	CHECK(fill(7, 1) == HALF && fill(8, HALF + 1) == SHARE);
	CHECK(fill(9, HALF + SHARE + 1) == SHARE);
	CHECK(fill(10, HALF + 2 * SHARE + 1) == SHARE);
	CHECK(fill(11, HALF + 3 * SHARE + 1) ==
	      ALL - 2 * RESERVE - HALF - 3 * SHARE);
	CHECK(fill(0, 2 * MIOS_FS_FILELOCKS) == RESERVE);
	for (w.owner = 2 * MIOS_FS_FILELOCKS;
	     w.owner < 2 * MIOS_FS_FILELOCKS + RESERVE; w.owner++)
		CHECK(!drop(0, w.owner, 0, ~0ull));
	empty();
	mios_fs_close(fs, file);
	world_forget(&world);
}
