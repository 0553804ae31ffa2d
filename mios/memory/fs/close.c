// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a file that this instance has open no more: nobody here has a
 * page of it, what was to be cut is cut, and it is freed if it has no name.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "vfs.h"

/**
 * mios_pages_let_go() - has nobody here a page of a file that is not open here?
 * @inode: on its way out; no task maps it any more
 */
bool mios_pages_let_go(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	u64 index = 0, phys;
	bool all = true;

	while (mios_fs_next(&m->fs, number_of(inode), &index, &phys)) {
		struct page *page;

		cond_resched();
		if (!mios_pool_memory(&m->pool, phys))
			continue;
		page = pfn_to_page(PHYS_PFN(phys));
		lock_page(page);
		if (page->mapping == inode->i_mapping)
			page->mapping = NULL;
		unlock_page(page);
		all = mios_page_let_go(page, all) && all;
	}
	return all;
}

/**
 * mios_inode_evict() - close a file
 * @inode: nobody here has it open or mapped any more
 */
void mios_inode_evict(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_inode *own = mios_inode_of(inode);
	u64 number = own->number;

	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
	if (!number)
		return;
	/* As long as a page is pinned here, nobody may free it: open it stays. */
	if (test_bit(MIOS_WAS_MAPPED, &own->flags) &&
	    !mios_pages_let_go(inode)) {
		mios_mend_file(m, number);
		return;
	}
	if (!mios_inode_is_asleep(inode)) {
		/* Else whoever closes it last does it. */
		if (mios_has_to_cut(inode_at(&m->fs, number)) &&
		    !open_elsewhere(inode))
			mios_cut(inode, false);
		mios_fs_close(&m->fs, number);
	}
	mios_file_reap(m, number);
}

/* Files that were left open because of a pin that is gone by now: at the end. */
void mios_opens_end(struct mios_mount *m)
{
	u64 bit = BIT_ULL(m->pool.self);
	u64 number;

	/* Where no image was found nothing was open. */
	if (!m->fs.super)
		return;
	for (number = mios_fs_inode_next(&m->fs, 0); number;
	     number = mios_fs_inode_next(&m->fs, number)) {
		cond_resched();
		if (!(READ_ONCE(inode_at(&m->fs, number)->open) & bit))
			continue;
		mios_fs_close(&m->fs, number);
		mios_file_reap(m, number);
	}
}
