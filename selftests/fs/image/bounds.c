// SPDX-License-Identifier: GPL-2.0
/*
 * What one change may cost all others: it has no more stores than a record holds,
 * and looks through no more directories than it should with the lock.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define DIR	0040755
#define DEEP	4096		/* as in rename.c */
#define NOW	7

/* Nothing of it is done, and the record of the next instance stays as it is. */
static void too_many_stores(struct mios_fs *fs)
{
	const struct mios_fs_redo *next = redo_of(fs, fs->pool->self + 1);
	u64 *word = &inode_at(fs, MIOS_FS_ROOT)->ctime, was = *word;
	u64 used = next->used;
	u32 i;

	CHECK(!mios_tx_begin(fs));
	for (i = 0; i <= MIOS_FS_STORES; i++)
		mios_tx_put(fs, word, was + 1);
	CHECK(mios_tx_finish(fs, 0) == -EIO);
	CHECK(*word == was && !next->count && next->used == used);
	CHECK(!mios_tx_begin(fs));
	mios_tx_put(fs, word, was + 1);
	CHECK(!mios_tx_finish(fs, 0));
	CHECK(*word == was + 1);
}

static int move_into(struct mios_fs *fs, u64 dir)
{
	struct mios_fs_place from = fs_place(fs, MIOS_FS_ROOT, "moved");
	struct mios_fs_place to = fs_place(fs, dir, "m");

	return mios_fs_rename(fs, &from, &to, true, NOW);
}

static void too_deep(struct mios_fs *fs)
{
	u64 dir = MIOS_FS_ROOT, above = 0;
	u32 i;

	fs_make(fs, MIOS_FS_ROOT, "moved", DIR);
	for (i = 0; i < DEEP; i++) {
		above = dir;
		dir = fs_make(fs, dir, "d", DIR);
	}
	CHECK(move_into(fs, dir) == -ELOOP);
	CHECK(!move_into(fs, above));
}

/* As if one were in the middle of a change: of that name, not of another one. */
static void one_changes(struct mios_fs *one, struct mios_fs *two)
{
	const struct mios_fs_name a = { "moved", 5 }, b = { "d", 1 };
	struct mios_fs_place late = fs_place(two, MIOS_FS_ROOT, "late");
	u64 *sequence = sequence_of_name(one, mios_name_hash(one, MIOS_FS_ROOT,
							     &a));
	struct mios_fs_attr attr = fs_attr(DIR);
	u64 inode, stamp;

	CHECK(!mios_qlock_try(&one->lock, false));
	CHECK(mios_fs_make(two, &late, &attr, &inode) == -EBUSY);
	CHECK(!mios_qlock_unlock(&one->lock));
	++*sequence;
	CHECK(mios_fs_lookup(two, MIOS_FS_ROOT, &a, &inode, &stamp) == -EAGAIN);
	CHECK(!mios_fs_lookup(two, MIOS_FS_ROOT, &b, &inode, &stamp));
	/* It is nobody's, as one with the lock finds out. */
	CHECK(!mios_fs_still(two));
	CHECK(mios_fs_moves(two, mios_fs_lookup(two, MIOS_FS_ROOT, &a, &inode,
						&stamp)) == -ENOENT);
}

void test_bounds(void)
{
	struct world w;

	world_make_of(&w, 2 * FS_EXTENTS);
	too_many_stores(&w.fs[1]);
	too_deep(&w.fs[1]);
	one_changes(&w.fs[1], &w.fs[2]);
	world_forget(&w);
}
