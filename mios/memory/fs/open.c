// SPDX-License-Identifier: GPL-2.0
/*
 * Who has a file open, and its end: it is freed when it has no name and no
 * instance has it open, by whoever sees that last.
 */
#include "../../inject/inject.h"
#include "attributes.h"
#include "share.h"
#include "tx.h"

MIOS_INJECT_UNIT(free_open);
MIOS_INJECT_SWITCH(keep_attributes, "leave the attributes of a file that goes");

static u64 bits_change(u64 *word, u64 set, u64 clear)
{
	u64 was = READ_ONCE(*word);

	/* Each failure is another instance's success. */
	while (!try_cmpxchg(word, &was, (was | set) & ~clear))
		;
	return was;
}

int mios_fs_open(struct mios_fs *fs, u64 number, u64 id)
{
	u64 bit = 1ull << fs->pool->self;
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 was;

	if (!inode_exists(fs, number) || READ_ONCE(inode->id) != id)
		return -ESTALE;
	was = bits_change(&inode->open, bit, 0);
	/* OPEN */
	if (!(READ_ONCE(inode->cutter) & MIOS_FS_CUTTER_FREES) &&
	    READ_ONCE(inode->id) == id)
		return 0;
	/* Unless the other one is open here. */
	if (!(was & bit))
		bits_change(&inode->open, 0, bit);
	return -ESTALE;
}

/* LAST: of two who close it, one at least sees that the other has. */
bool mios_fs_is_left(const struct mios_fs *fs, u64 number)
{
	const struct mios_fs_inode *inode = inode_at(fs, number);

	return inode_exists(fs, number) && READ_ONCE(inode->id) &&
	       !nlink_of(READ_ONCE(inode->mode)) && !READ_ONCE(inode->open);
}

u32 mios_fs_links(const struct mios_fs *fs, u64 number)
{
	return inode_exists(fs, number) ?
		nlink_of(READ_ONCE(inode_at(fs, number)->mode)) : 0;
}

bool mios_fs_is_named(const struct mios_fs *fs, u64 number, u64 id)
{
	return mios_fs_links(fs, number) &&
	       READ_ONCE(inode_at(fs, number)->id) == id;
}

void mios_fs_close(struct mios_fs *fs, u64 number)
{
	if (inode_exists(fs, number))
		bits_change(&inode_at(fs, number)->open, 0,
			    1ull << fs->pool->self);
}

int mios_inode_reap_begin(struct mios_fs *fs, u64 number)
{
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 none = 0;

	if (!READ_ONCE(inode->id) || nlink_of(READ_ONCE(inode->mode)) ||
	    READ_ONCE(inode->open))
		return -EEXIST;
	/* OPEN: a full barrier. */
	if (!try_cmpxchg(&inode->cutter, &none,
			 mios_cutter_word(fs->pool->self, fs->pool->epoch) |
			 MIOS_FS_CUTTER_FREES))
		return -EEXIST;
	if (!READ_ONCE(inode->open) || inject_free_open)
		return 0;
	WRITE_ONCE(inode->cutter, 0);
	return -EEXIST;
}

int mios_fs_reap_begin(struct mios_fs *fs, u64 number)
{
	int err;

	if (!inode_exists(fs, number))
		return -EEXIST;
	err = mios_tx_begin(fs);
	if (err)
		return err;
	err = mios_inode_reap_begin(fs, number);
	mios_tx_end(fs);
	return err;
}

static u64 inode_free(struct mios_fs *fs, u64 number)
{
	struct mios_fs_inode *inode = inode_at(fs, number);
	u64 holder = mios_holder_of(fs, number);

	mios_share_names(fs, number, -1);
	mios_tx_put(fs, &inode->id, 0);
	mios_tx_put(fs, &inode->mode, 0);
	mios_tx_put(fs, &inode->size, 0);
	mios_tx_put(fs, &inode->pages, 0);
	mios_tx_put(fs, &inode->cut, 0);
	mios_tx_put(fs, &inode->hole, 0);
	mios_tx_put(fs, &inode->left, 0);
	mios_tx_raise(fs, sequence_of_file(fs, number));
	if (holder && !inject_keep_attributes)
		mios_links_add(fs, holder, -1);
	mios_number_give(fs, MIOS_FS_INODES, number);
	/* OPEN: who finds another file here has not been told that it goes. */
	mios_tx_put(fs, &inode->cutter, 0);
	mios_tx_apply(fs);
	/* One that somebody has open is freed when he closes it. */
	return holder && !mios_inode_reap_begin(fs, holder) ? holder : 0;
}

/* One whose index has not gone is of somebody who has erred, and stays. */
u64 mios_inode_reap_end(struct mios_fs *fs, u64 number)
{
	if (!READ_ONCE(inode_at(fs, number)->root))
		return inode_free(fs, number);
	WRITE_ONCE(inode_at(fs, number)->cutter, 0);
	return 0;
}

int mios_fs_reap_end(struct mios_fs *fs, u64 *number)
{
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	*number = mios_inode_reap_end(fs, *number);
	mios_tx_end(fs);
	return 0;
}
