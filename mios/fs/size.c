// SPDX-License-Identifier: GPL-2.0
/*
 * How long a file is, and what becomes of its pages when it is made shorter:
 * nobody is told in another instance, so it is made shorter only while no other
 * one has it open, and a page that is pinned here waits until it is not.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "vfs.h"

/* A page that is out of its file, and pinned. */
struct pinned {
	struct list_head entry;
	struct mios_page page;
};

static void page_keep_back(struct mios_mount *m, const struct mios_page *page)
{
	struct pinned *p = kmalloc(sizeof(*p), GFP_KERNEL | __GFP_NOFAIL);

	p->page = *page;
	mutex_lock(&m->lock);
	list_add(&p->entry, &m->pinned);
	mutex_unlock(&m->lock);
}

/**
 * mios_pinned_free() - give back what was pinned and is no more
 * @m: the mount
 */
void mios_pinned_free(struct mios_mount *m)
{
	struct pinned *p, *next;

	mutex_lock(&m->lock);
	list_for_each_entry_safe(p, next, &m->pinned, entry) {
		if (page_ref_count(pfn_to_page(PHYS_PFN(p->page.phys))) > 1)
			continue;
		mios_pool_free(&m->pool, &p->page);
		list_del(&p->entry);
		kfree(p);
	}
	mutex_unlock(&m->lock);
}

/*
 * Out of the file, but perhaps still mapped here.  Under the page's lock, so
 * that a fault that has found it before sees that it is gone.
 */
static bool page_drop(struct inode *inode, u64 index,
		      const struct mios_page *taken, bool wait)
{
	struct mios_mount *m = mount_of(inode);
	struct page *page = pfn_to_page(PHYS_PFN(taken->phys));

	lock_page(page);
	unmap_mapping_pages(inode->i_mapping, index, 1, true);
	page->mapping = NULL;
	unlock_page(page);
	if (mios_page_let_go(page, wait)) {
		mios_pool_free(&m->pool, taken);
		return true;
	}
	page_keep_back(m, taken);
	return false;
}

/* All from page @index on.  One that stays is waited for, not each. */
static bool pages_drop(struct inode *inode, u64 index, bool wait)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_page page;
	u64 phys;

	while (mios_fs_next(&m->fs, number_of(inode), &index, &phys)) {
		if (!mios_fs_take(&m->fs, number_of(inode), index - 1, &page))
			wait = page_drop(inode, index - 1, &page, wait);
		cond_resched();
	}
	return wait;
}

/* What comes there when it grows again is zero; until then it cannot grow. */
static void tail_zero(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	u64 size = READ_ONCE(m->fs.inode[number_of(inode)].size);
	struct page *page;

	if (!offset_in_page(size) ||
	    mios_page_hold(inode, size >> PAGE_SHIFT, false, &page))
		return;
	memset(page_address(page) + offset_in_page(size), 0,
	       PAGE_SIZE - offset_in_page(size));
	put_page(page);
}

/**
 * mios_cut() - finish what somebody has begun who made the file shorter
 * @inode: a file
 *
 * -EBUSY: another instance has it open, and may have mapped it.
 */
int mios_cut(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	u64 number = number_of(inode);
	struct mios_fs_cut cut;
	bool wait = true;
	int err;

	/* SIZE: who opens it after this look sees the new size. */
	smp_mb();
	if (open_elsewhere(inode))
		return -EBUSY;
	mios_pinned_free(m);
	tail_zero(inode);
	err = MIOS_PATIENTLY(m, mios_fs_cutter(&m->fs, number));
	if (err)
		return err;
	while (!err && mios_fs_cut(&m->fs, number, true, &cut)) {
		wait = pages_drop(inode, cut.first, wait);
		err = MIOS_PATIENTLY(m, mios_fs_cut_end(&m->fs, number, &cut));
	}
	mios_fs_cutter_end(&m->fs, number);
	return err;
}

static int size_change(struct inode *inode, loff_t size, u32 how)
{
	struct mios_mount *m = mount_of(inode);
	const struct mios_fs_attr attr = {
		.id = inode->i_ino,
		.size = size,
		.mtime = ktime_get_real_ns(),
		.ctime = ktime_get_real_ns(),
	};

	return MIOS_PATIENTLY(m, mios_fs_setattr(&m->fs, number_of(inode),
						 &attr,
						 how | MIOS_FS_SET_MTIME));
}

/* One that died may have left a cut, which is finished first. */
static int size_make(struct inode *inode, loff_t size, u32 how)
{
	int err = size_change(inode, size, how);

	if (err != -EINPROGRESS)
		return err;
	err = mios_cut(inode);
	return err ? err : size_change(inode, size, how);
}

/**
 * mios_size_grow() - at least so long from now on, and written to now
 * @inode: locked
 * @size: bytes
 */
int mios_size_grow(struct inode *inode, loff_t size)
{
	int err = size_make(inode, size, MIOS_FS_SET_GROW);

	return err ? err : mios_inode_refresh(inode);
}

/**
 * mios_size_set() - so long from now on
 * @inode: locked
 * @size: bytes
 */
int mios_size_set(struct inode *inode, loff_t size)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_inode *image = &m->fs.inode[number_of(inode)];
	int err;

	if (size < READ_ONCE(image->size) && open_elsewhere(inode) &&
	    !mios_fs_fault(MIOS_FS_FAULT_CUT_OPEN))
		return -EBUSY;
	err = size_make(inode, size, MIOS_FS_SET_SIZE);
	if (err)
		return err;
	/* Opened elsewhere by now: who closes it last does the rest. */
	if (READ_ONCE(image->cut))
		err = mios_cut(inode);
	if (err && err != -EBUSY)
		return err;
	return mios_inode_refresh(inode);
}

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
