// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages of a file are to be removed, and who does it: its cutter, whose
 * word names instance and epoch, so that recovery takes it from the dead.  The
 * pages stay in the index until nobody maps them any more; so a cutter that
 * dies leaves a file whose next cutter begins where it had begun.
 */
#include "tx.h"

#define HELD	1ull

u64 mios_cutter_word(u32 instance, u32 epoch)
{
	return (u64)epoch << MIOS_FS_CUTTER_EPOCH |
	       (u64)instance << MIOS_FS_CUTTER_OWNER | HELD;
}

static u64 cutter_word(const struct mios_fs *fs)
{
	return mios_cutter_word(fs->pool->self, fs->pool->epoch);
}

int mios_fs_cutter(struct mios_fs *fs, u64 number)
{
	u64 *cutter = &inode_at(fs, number)->cutter;
	u64 none = 0;

	if (!inode_exists(fs, number))
		return -ENOENT;
	return try_cmpxchg(cutter, &none, cutter_word(fs)) ? 0 : -EBUSY;
}

void mios_fs_cutter_end(struct mios_fs *fs, u64 number)
{
	u64 word = cutter_word(fs);

	try_cmpxchg(&inode_at(fs, number)->cutter, &word, 0);
}

/* The dead removes nothing any more; the caller has the lock. */
void mios_cutter_forget(struct mios_fs *fs, u64 number, u32 instance, u32 epoch)
{
	u64 *cutter = &inode_at(fs, number)->cutter;
	u64 was = READ_ONCE(*cutter);

	if (was & HELD && (was >> MIOS_FS_CUTTER_OWNER & 63) == instance &&
	    (was >> MIOS_FS_CUTTER_EPOCH & MIOS_EPOCH_MAX) <= epoch)
		try_cmpxchg(cutter, &was, 0);
}

void mios_fs_hole(struct mios_fs *fs, u64 number, u32 first, u32 end)
{
	WRITE_ONCE(inode_at(fs, number)->hole, upper_lower(end, first));
	smp_mb(); /* HOLE */
}

void mios_fs_leave(struct mios_fs *fs, u64 number, u64 index)
{
	u64 *left = &inode_at(fs, number)->left;
	u64 was = READ_ONCE(*left), now;

	/* LEFT: each failure is another one's success. */
	do {
		u32 first = was;

		if (!first || first > index + 1)
			first = index + 1;
		now = upper_lower((was >> 32) + 1, first);
	} while (!try_cmpxchg(left, &was, now));
}

int mios_fs_cut(struct mios_fs *fs, u64 number, bool left,
		struct mios_fs_cut *cut)
{
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 size;

	cut->end = ~0ull;
	cut->word = READ_ONCE(inode->hole);
	if (cut->word) {
		cut->what = MIOS_FS_REMOVE_HOLE;
		cut->first = (u32)cut->word;
		cut->end = cut->word >> 32;
		return 1;
	}
	cut->word = (u32)READ_ONCE(inode->cut);
	if (cut->word) {
		cut->what = MIOS_FS_REMOVE_END;
		cut->first = cut->word - 1;
		return 1;
	}
	cut->word = READ_ONCE(inode->left);
	if (!left || !(u32)cut->word)
		return 0;
	cut->what = MIOS_FS_REMOVE_LEFT;
	cut->first = (u32)cut->word - 1;
	size = size_pages(READ_ONCE(inode->size));
	if (cut->first < size)
		cut->first = size;
	return 1;
}

/* It may have become shorter still: then there is more to be cut. */
static int end_done(struct mios_fs *fs, struct mios_fs_inode *inode, u64 word)
{
	int err = mios_tx_begin(fs);
	u64 now;

	if (err)
		return err;
	now = READ_ONCE(inode->cut);
	if ((u32)now == word) {
		mios_tx_put(fs, &inode->cut, lower_set(now, 0));
		mios_tx_apply(fs);
	}
	mios_tx_end(fs);
	return 0;
}

int mios_fs_cut_end(struct mios_fs *fs, u64 number,
		    const struct mios_fs_cut *cut)
{
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 was = cut->word;

	switch (cut->what) {
	case MIOS_FS_REMOVE_HOLE:
		smp_store_release(&inode->hole, 0); /* HOLE */
		return 0;
	case MIOS_FS_REMOVE_END:
		return end_done(fs, inode, was);
	case MIOS_FS_REMOVE_LEFT:
		try_cmpxchg(&inode->left, &was, was & ~(u64)~0u); /* LEFT */
		return 0;
	}
	return -EINVAL;
}
