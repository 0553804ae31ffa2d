// SPDX-License-Identifier: GPL-2.0
/*
 * A page of a file, held by a reference: what reads, writes and faults begin
 * with, and what is written for the kernel's own purposes.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "vfs.h"

static int page_get(struct inode *inode, u64 index, bool create, u64 *phys)
{
	struct mios_mount *m = mount_of(inode);
	u64 policy = create ? mios_policy_of_task() : 0;
	int err;

	spin_lock(&m->source_lock);
	m->source.policy = policy;
	err = mios_fs_page(&m->fs, create ? &m->source : NULL,
			   number_of(inode), index, phys);
	spin_unlock(&m->source_lock);
	if (!err && !mios_pool_memory(&m->pool, *phys))
		return -EIO;
	return err == -ENOMEM ? -ENOSPC : err;
}

/**
 * mios_page_hold() - a page of a file, with a reference
 * @inode: the file
 * @index: which page
 * @create: make it if there is none
 * @out: the page
 *
 * -ENOENT: there is none; -ERANGE: beyond the end; -EBUSY: it is being removed;
 * -ENOSPC; -EIO: damaged.
 */
int mios_page_hold(struct inode *inode, u64 index, bool create,
		   struct page **out)
{
	u64 phys, same;
	int err = page_get(inode, index, create, &phys);

	while (!err) {
		*out = pfn_to_page(PHYS_PFN(phys));
		get_page(*out);
		/* Before we had it, it may have been cut, and even freed. */
		err = page_get(inode, index, create, &same);
		if (!err && same == phys)
			return 0;
		put_page(*out);
		phys = same;
	}
	return err;
}

/* A page, but waits where it is being removed, for who is at it. */
int mios_page_wait(struct inode *inode, u64 index, bool create,
		   struct page **out)
{
	int tries = 0, err;

	do {
		err = mios_page_hold(inode, index, create, out);
	} while (err == -EBUSY && mios_patient(&tries));
	return err;
}
