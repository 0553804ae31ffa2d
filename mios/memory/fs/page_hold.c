// SPDX-License-Identifier: GPL-2.0
/*
 * A page of a file, held by a reference: what reads, writes and faults begin
 * with, and what is written for the kernel's own purposes.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>

#include "../../inject/inject.h"
#include "large.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(one_source, "all CPUs take pages from one source");
MIOS_INJECT_SWITCH(large_impatient,
		   "wait for nobody who makes the large page that is wanted");

/* 2 MiB are zeroed in less, unless who does it has to wait for a CPU. */
#define MAKING_MS	20

/*
 * Is it to be asked once more?  New pages come from the source of the CPU that runs
 * this, or has just done so: its lock keeps out who has moved there since.
 */
static bool ask_again(struct mios_mount *m, struct mios_need *need, int *err)
{
	if (need->from) {
		if (*err != -EINPROGRESS)
			return false;
		if (fatal_signal_pending(current)) {
			*err = -EINTR;
			return false;
		}
		cond_resched();
	}
	need->from = inject_one_source ? per_cpu_ptr(m->source, 0) :
		     raw_cpu_ptr(m->source);
	return true;
}

static int run_make(struct inode *inode, u64 first, u64 *phys)
{
	struct mios_need need = { .policy = mios_policy_of_task() };
	struct mios_mount *m = mount_of(inode);
	int err = 0;

	while (ask_again(m, &need, &err))
		err = mios_fs_run(&m->fs, &need, number_of(inode), first, phys);
	return err;
}

/**
 * mios_run_find() - where 2 MiB of a file are that can be mapped as one page
 * @inode: the file
 * @first: the first page
 * @create: make them, if none of their pages is there
 * @phys: out: as mios_page_find()
 *
 * As mios_fs_run(); what goes wrong is no reason to refuse a page.  Where somebody
 * makes it just now a page of one's own would make it a small one.
 */
int mios_run_find(struct inode *inode, u64 first, bool create, u64 *phys)
{
	unsigned long end = jiffies + msecs_to_jiffies(MAKING_MS);
	struct mios_mount *m = mount_of(inode);
	int err;

	for (;;) {
		err = mios_fs_run(&m->fs, NULL, number_of(inode), first, phys);
		if (err == -ENOENT && create)
			err = run_make(inode, first, phys);
		if (err != -EALREADY || !create || inject_large_impatient ||
		    time_after(jiffies, end) || fatal_signal_pending(current))
			return err;
		usleep_range(100, 200);
	}
}

/* @large: of more than this page, where the mount says so. */
static int page_add(struct inode *inode, u64 index, bool large, u64 *phys)
{
	struct mios_need need = { .policy = mios_policy_of_task() };
	struct mios_mount *m = mount_of(inode);
	u64 first = round_down(index, MIOS_EXTENT_PAGES);
	int err = 0;

	if (large && READ_ONCE(m->huge) == MIOS_HUGE_SIZE &&
	    !mios_run_find(inode, first, true, phys)) {
		*phys += (index - first) * PAGE_SIZE;
		return 0;
	}
	while (ask_again(m, &need, &err))
		err = mios_fs_page(&m->fs, &need, number_of(inode), index, phys);
	return err;
}

/**
 * mios_page_find() - where a page of a file is at this moment
 * @inode: the file
 * @index: which page
 * @create: make it if there is none
 * @large: the whole 2 MiB, where the mount says so
 * @phys: out: a page of the pool, whosever it is by now: worth something once it
 *	is held in a way that who takes it away waits for, and mios_fs_page_is()
 *
 * One that is there is found by loads alone: nothing is written that other CPUs
 * or other kernels look at, and no lock is taken.  -ENOENT: there is none;
 * -ERANGE: beyond the end; -EBUSY: it is being removed; -ENOSPC; -EIO: damaged.
 */
int mios_page_find(struct inode *inode, u64 index, bool create, bool large,
		   u64 *phys)
{
	struct mios_mount *m = mount_of(inode);
	int err = mios_fs_page(&m->fs, NULL, number_of(inode), index, phys);

	if (err == -ENOENT && create)
		err = page_add(inode, index, large, phys);
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
 * As mios_page_find().
 */
int mios_page_hold(struct inode *inode, u64 index, bool create,
		   struct page **out)
{
	struct mios_mount *m = mount_of(inode);
	u64 phys;
	int err;

	for (;;) {
		err = mios_page_find(inode, index, create, true, &phys);
		if (err)
			return err;
		*out = pfn_to_page(PHYS_PFN(phys));
		get_page(*out);
		smp_mb__after_atomic(); /* PIN */
		/* Before we had it, it may have been cut, and even freed. */
		if (mios_fs_page_is(&m->fs, number_of(inode), index, phys))
			return 0;
		put_page(*out);
	}
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
