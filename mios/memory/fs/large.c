// SPDX-License-Identifier: GPL-2.0
/*
 * Large pages of a file: 512 of its pages that lie side by side in an extent of
 * the pool, so that a kernel can map them as one (large_map.c).  Nothing else
 * says so: each is a page of the file like any other, with a record and a slot of
 * its own.  So a cut, a death, a user's share and recovery know of none.
 */
#include "../../inject/inject.h"
#include "large.h"
#include "share.h"
#include "tx.h"

MIOS_INJECT_UNIT(large_anywhere);

#define RESCHED_PAGES	16

static int range_look(const struct mios_fs *fs, u64 inode, u64 first)
{
	const struct mios_fs_inode *image = inode_at(fs, inode);
	u64 end = first + MIOS_EXTENT_PAGES, hole;

	if (!inode_exists(fs, inode))
		return -ENOENT;
	if (end > size_pages(READ_ONCE(image->size)))
		return -ERANGE;
	hole = READ_ONCE(image->hole);
	return (u32)hole < end && hole >> 32 > first ? -EBUSY : 0;
}

/* An index page of the lowest level has just these slots. */
static int slots_look(const struct mios_fs *fs, const u64 *slot, u64 *phys)
{
	u32 i;

	*phys = slot ? READ_ONCE(slot[0]) : 0;
	if (*phys % MIOS_EXTENT_SIZE && !inject_large_anywhere)
		return -EEXIST;
	for (i = 1; slot && i < MIOS_EXTENT_PAGES; i++)
		if (READ_ONCE(slot[i]) !=
		    (*phys ? *phys + (u64)i * MIOS_POOL_PAGE : 0))
			return -EEXIST;
	if (!*phys)
		return -ENOENT;
	/* What is aligned and begins in a section ends in it. */
	return mios_pool_memory(fs->pool, *phys) ? 0 : -EEXIST;
}

/*
 * Some are there.  Where the first is that of a whole extent whose last page is still
 * held, somebody is about to make the others: who makes one first makes it.
 */
static bool is_being_made(const struct mios_fs *fs, const u64 *slot)
{
	u64 phys = slot ? READ_ONCE(slot[0]) : 0;

	return phys && !(phys % MIOS_EXTENT_SIZE) &&
	       !READ_ONCE(slot[MIOS_EXTENT_PAGES - 1]) &&
	       mios_pool_is_held(fs->pool, phys + MIOS_EXTENT_SIZE -
					   MIOS_POOL_PAGE);
}

static int run_find(struct mios_fs *fs, u64 inode, u64 first, u64 *phys)
{
	u64 *slot = mios_index_slot(fs, inode, first);
	int err = range_look(fs, inode, first);

	if (!err)
		err = slots_look(fs, slot, phys);
	if (err != -EEXIST)
		return err;
	/* The last one has come since, perhaps. */
	return is_being_made(fs, slot) ? -EALREADY : slots_look(fs, slot, phys);
}

/*
 * The pages of a run into their slots, as far as nobody is quicker, who may have the
 * first: then he makes all of them.  What the file does not get is nobody's again.
 */
static int run_put(struct mios_fs *fs, u64 inode, u64 first, u64 *slot,
		   u64 phys)
{
	struct mios_page page;
	int err = 0, held;
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		if (!(i % RESCHED_PAGES))
			cond_resched();
		held = mios_pool_held(fs->pool,
				      phys + (u64)i * MIOS_POOL_PAGE, &page);
		/* HOLE, SIZE: nothing behind who makes either. */
		if (!err)
			err = held ?: range_look(fs, inode, first);
		if (err && !held)
			mios_fs_give(fs, inode, &page);
		if (err)
			continue;
		err = mios_page_put(fs, inode, first + i, slot + i, &page);
		if (err && err != -EAGAIN && err != -ERANGE)
			mios_fs_give(fs, inode, &page);
	}
	return err;
}

static int run_make(struct mios_fs *fs, struct mios_need *need, u64 inode,
		    u64 first, u64 *phys)
{
	int tries, err = -EAGAIN;
	u64 *slot;

	for (tries = 0; tries < READ_TRIES && err == -EAGAIN; tries++)
		err = mios_index_reach(fs, need, inode, first, &slot);
	if (!err)
		err = mios_run_place(fs, need, inode, first, phys);
	if (!err)
		err = run_put(fs, inode, first, slot, *phys);
	return err;
}

int mios_fs_run(struct mios_fs *fs, struct mios_need *need, u64 inode,
		u64 first, u64 *phys)
{
	int err = run_find(fs, inode, first, phys);

	if (err != -ENOENT || !need || !inode_exists(fs, inode))
		return err;
	err = run_make(fs, need, inode, first, phys);
	/* It is what is there now that counts: somebody else's, perhaps. */
	if (err && err != -EAGAIN && err != -ERANGE)
		return err;
	return run_find(fs, inode, first, phys);
}
