// SPDX-License-Identifier: GPL-2.0
/*
 * A page of a file, held by a reference: what reads, writes and faults begin
 * with, and what is written for the kernel's own purposes.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "vfs.h"

/* The lock is held for a few microseconds, however large a full pool is. */
static int page_find(struct mios_mount *m, u64 number, u64 index, u64 *scan,
		     u64 *phys)
{
	u64 policy = scan ? mios_policy_of_task() : 0;
	int err;

	spin_lock(&m->source_lock);
	m->source.policy = policy;
	m->source.scan = scan ? *scan : 0;
	err = mios_fs_page(&m->fs, scan ? &m->source : NULL, number, index,
			   phys);
	if (scan)
		*scan = m->source.scan;
	spin_unlock(&m->source_lock);
	return err;
}

static int page_get(struct inode *inode, u64 index, bool create, u64 *phys)
{
	struct mios_mount *m = mount_of(inode);
	u64 scan = 0;
	int err;

	for (;;) {
		err = page_find(m, number_of(inode), index,
				create ? &scan : NULL, phys);
		if (err != -EINPROGRESS)
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
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
