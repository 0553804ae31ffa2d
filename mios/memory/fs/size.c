// SPDX-License-Identifier: GPL-2.0
/*
 * How long a file is, and what becomes of its pages when it is made shorter, or
 * a hole in it: they are taken away from whoever has them mapped (revoke.c),
 * and then freed.  One that is pinned stays until it is not: beyond the end,
 * where it is zeroed before the file reaches it again, or in the hole, where it
 * is zeroed at once.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include <mios/msg.h>

#include "vfs.h"

/* Of some bytes of a page, what is there becomes zero. */
static void part_zero(struct inode *inode, loff_t from, loff_t to)
{
	struct page *page;

	if (from >= to || mios_page_hold(inode, from >> PAGE_SHIFT, false,
					 &page))
		return;
	memset(page_address(page) + offset_in_page(from), 0, to - from);
	put_page(page);
}

/* What comes there when it grows again is zero; until then it cannot grow. */
static void tail_zero(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	u64 size = READ_ONCE(inode_at(&m->fs, number_of(inode))->size);

	part_zero(inode, size, round_up(size, PAGE_SIZE));
}

/* What is done about pages that were left beyond the end. */
enum left {
	LEFT_THERE,
	LEFT_FREED,		/* as far as they are not in use */
	LEFT_ZEROED,		/* and the others become zero */
};

/* Pages that are being removed. */
struct removal {
	struct inode *inode;
	struct mios_fs_cut cut;
	enum left left;
	unsigned long *pinned;
};

/* Unmapped everywhere, but in use. */
static void page_leave(const struct removal *r, u64 index, void *memory)
{
	struct mios_mount *m = mount_of(r->inode);

	if (r->cut.what == MIOS_FS_REMOVE_HOLE ||
	    (r->cut.what == MIOS_FS_REMOVE_LEFT && r->left == LEFT_ZEROED))
		memset(memory, 0, PAGE_SIZE);
	if (r->cut.what == MIOS_FS_REMOVE_HOLE)
		return;
	mios_fs_leave(&m->fs, number_of(r->inode), index);
	mios_mend_soon(m);
}

/* A page that the pool does not take back stays in use: someone has erred. */
static void page_drop(const struct removal *r, u64 index, u64 phys, bool pinned)
{
	struct mios_mount *m = mount_of(r->inode);
	void *memory = mios_pool_memory(&m->pool, phys);
	struct mios_page page;
	int err = 0;

	if (pinned && memory)
		page_leave(r, index, memory);
	else if (!mios_fs_take(&m->fs, number_of(r->inode), index, &page))
		err = mios_fs_give(&m->fs, number_of(r->inode), &page);
	if (err)
		pr_warn_ratelimited("miosfs: the page at %#llx is not this instance's to free: error %d\n",
				    page.phys, err);
}

/*
 * From page @first on, as many as one answer is about: 0, or where to go on, or
 * an error.  At first all is unmapped, for private copies of what has no page.
 */
static s64 remove_part(const struct removal *r, u64 first)
{
	struct mios_mount *m = mount_of(r->inode);
	const struct mios_fs_cut *cut = &r->cut;
	u64 end = min(cut->end, first + MIOS_REVOKE_PAGES);
	u64 nr = first != cut->first ? MIOS_REVOKE_PAGES :
		 cut->end == ~0ull ? 0 : cut->end - first;
	int err = mios_revoke(r->inode, first, nr,
			      cut->what != MIOS_FS_REMOVE_HOLE, r->pinned);
	u64 index = first, phys;

	if (err)
		return err;
	while (mios_fs_next(&m->fs, number_of(r->inode), &index, &phys)) {
		if (index > cut->end)
			return 0;
		if (index > end)
			return index - 1;
		page_drop(r, index - 1, phys, test_bit(index - 1 - first,
						       r->pinned));
		cond_resched();
	}
	return 0;
}

static int remove_all(struct removal *r)
{
	struct mios_mount *m = mount_of(r->inode);
	u64 number = number_of(r->inode);
	s64 next;

	while (mios_fs_cut(&m->fs, number, r->left != LEFT_THERE, &r->cut)) {
		if (r->cut.what == MIOS_FS_REMOVE_END)
			tail_zero(r->inode);
		next = r->cut.first;
		do {
			next = remove_part(r, next);
		} while (next > 0);
		if (!next)
			next = MIOS_PATIENTLY(m, mios_fs_cut_end(&m->fs, number,
								 &r->cut));
		if (next || r->cut.what == MIOS_FS_REMOVE_LEFT)
			return next;
	}
	return 0;
}

/* As cutter: all that is to be removed. */
static int cut(struct inode *inode, enum left left)
{
	struct removal r = { .inode = inode, .left = left };
	int err = -ENOMEM;

	r.pinned = bitmap_alloc(MIOS_REVOKE_PAGES, GFP_KERNEL);
	if (r.pinned)
		err = remove_all(&r);
	bitmap_free(r.pinned);
	if (err)
		mios_mend_soon(mount_of(inode));
	return err;
}

/* Nobody else removes pages of it meanwhile, in any instance. */
static int cutter_begin(struct inode *inode)
{
	struct mios_fs *fs = &mount_of(inode)->fs;
	int err, tries = 0;

	do {
		err = mios_fs_cutter(fs, number_of(inode));
	} while (err == -EBUSY && mios_patient(&tries));
	return err;
}

static void cutter_end(struct inode *inode)
{
	mios_fs_cutter_end(&mount_of(inode)->fs, number_of(inode));
}

/**
 * mios_cut() - finish what somebody has begun who made the file shorter
 * @inode: a file
 * @wait: also where somebody is at it: until he has
 *
 * -EBUSY: somebody is, or does not answer.
 */
int mios_cut(struct inode *inode, bool wait)
{
	struct mios_mount *m = mount_of(inode);
	int err = wait ? cutter_begin(inode) :
		  mios_fs_cutter(&m->fs, number_of(inode));

	if (err)
		return err;
	err = cut(inode, LEFT_FREED);
	cutter_end(inode);
	return err;
}

/* @at: it grows by @size, and where that begins; NULL: it becomes so long. */
static int size_change(struct inode *inode, loff_t size, u32 how, u64 *at)
{
	struct mios_mount *m = mount_of(inode);
	const struct mios_fs_judged file = {
		.inode = number_of(inode), .id = inode->i_ino,
		.by = MIOS_FS_BY_ID,
	};
	const struct mios_fs_attr attr = {
		.size = size, .ctime = ktime_get_real_ns(),
	};

	how |= MIOS_FS_SET_WRITTEN;
	/* As file_remove_privs(), whatever somebody has set since. */
	if (!ns_capable_noaudit(&init_user_ns, CAP_FSETID))
		how |= MIOS_FS_DROP_SETID;
	return MIOS_PATIENTLY(m, at ?
		mios_fs_append(&m->fs, &file, &attr, how,
			       inode->i_sb->s_maxbytes, at) :
		mios_fs_setattr(&m->fs, &file, &attr, how));
}

/*
 * Where it grows, what was beyond the end before is removed or zeroed first.
 * Another instance may make it shorter in between.
 */
static int size_make(struct inode *inode, loff_t size, u32 how, u64 *at)
{
	int err = size_change(inode, size, how, at);

	while (err == -EINPROGRESS) {
		err = cutter_begin(inode);
		if (err)
			break;
		err = cut(inode, LEFT_ZEROED);
		if (!err)
			err = size_change(inode, size,
					  how | MIOS_FS_SET_ZEROED, at);
		cutter_end(inode);
		if (fatal_signal_pending(current))
			break;
	}
	return err == -EINPROGRESS ? -EINTR : err;
}

/**
 * mios_size_grow() - at least so long from now on, and written to now
 * @inode: locked
 * @size: bytes
 */
int mios_size_grow(struct inode *inode, loff_t size)
{
	int err = size_make(inode, size, MIOS_FS_SET_GROW, NULL);

	return err ? err : mios_inode_refresh(inode);
}

/**
 * mios_size_append() - so many bytes more, at the end that all instances see
 * @inode: locked
 * @more: bytes; they are zero until they are written
 * @at: out: where they begin
 */
int mios_size_append(struct inode *inode, loff_t more, loff_t *at)
{
	u64 end;
	int err = size_make(inode, more, 0, &end);

	if (!err)
		*at = end;
	return err ? err : mios_inode_refresh(inode);
}

/**
 * mios_size_set() - so long from now on
 * @inode: locked
 * @size: bytes
 *
 * When it returns, nobody has what was cut any more.  -EBUSY: it is so long,
 * but an instance does not answer, and may have it.
 */
int mios_size_set(struct inode *inode, loff_t size)
{
	struct mios_mount *m = mount_of(inode);
	int err = size_make(inode, size, MIOS_FS_SET_SIZE, NULL);

	if (!err && (u32)READ_ONCE(inode_at(&m->fs, number_of(inode))->cut))
		err = mios_cut(inode, true);
	return err ? err : mios_inode_refresh(inode);
}

/**
 * mios_size_punch() - make a hole: zeroes, as far as the file goes
 * @inode: locked
 * @from: first byte of it
 * @to: up to before this one
 */
int mios_size_punch(struct inode *inode, loff_t from, loff_t to)
{
	struct mios_mount *m = mount_of(inode);
	loff_t first = round_up(from, PAGE_SIZE);
	loff_t end = round_down(to, PAGE_SIZE);
	int err = cutter_begin(inode);

	if (err)
		return err;
	if (first < end) {
		err = cut(inode, LEFT_THERE);
		if (!err)
			mios_fs_hole(&m->fs, number_of(inode),
				     first >> PAGE_SHIFT, end >> PAGE_SHIFT);
	}
	if (!err)
		err = cut(inode, LEFT_THERE);
	cutter_end(inode);
	if (err)
		return err;
	part_zero(inode, from, min(first, to));
	part_zero(inode, max(end, first), to);
	return mios_size_grow(inode, 0);
}
