// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are wanted before anybody touches them, and the file so long:
 * fallocate(), and files whose pages are to be there at once.
 */
#include <linux/fs.h>
#include <linux/falloc.h>
#include <linux/mm.h>

#include "share.h"
#include "vfs.h"

/*
 * The page where @pos is, in a file that reaches to @end at least.  Another
 * instance may make it shorter in between, and so again.
 */
int mios_page_make(struct inode *inode, loff_t pos, loff_t end,
		   struct page **page)
{
	int err = 0, tries = 0;

	/* Else what is refused would make it longer. */
	if (mios_share_refuses(&mount_of(inode)->fs, number_of(inode), pos))
		return -EDQUOT;
	if (end > i_size_read(inode))
		err = mios_size_grow(inode, end);
	while (!err) {
		err = mios_page_wait(inode, pos >> PAGE_SHIFT, true, page);
		if (err != -ERANGE)
			break;
		err = mios_patient(&tries) ? mios_size_grow(inode, end) :
		      -EINTR;
	}
	return err;
}

/* -ERANGE: the file is to stay as long as it is, and has become shorter. */
static int page_allocate(struct inode *inode, loff_t at, loff_t end, int mode)
{
	loff_t next = min_t(loff_t, end, round_down(at, PAGE_SIZE) + PAGE_SIZE);
	loff_t reach = min_t(loff_t, end, round_down(at, PMD_SIZE) + PMD_SIZE);
	struct page *page;
	int err = mode & FALLOC_FL_KEEP_SIZE ?
		  mios_page_wait(inode, at >> PAGE_SHIFT, true, &page) :
		  mios_page_make(inode, at, reach, &page);

	if (err)
		return err;
	if (mode & FALLOC_FL_ZERO_RANGE)
		memset(page_address(page) + offset_in_page(at), 0, next - at);
	put_page(page);
	return 0;
}

/**
 * mios_file_allocate() - pages for these bytes, and the file so long
 * @inode: locked
 * @at: the first
 * @end: up to before this one
 * @mode: FALLOC_FL_KEEP_SIZE: the file stays as long as it is, and there are no
 *	pages beyond its end; FALLOC_FL_ZERO_RANGE: what is there becomes zero
 *
 * Some at a time: where it ends with an error, some are there.
 */
int mios_file_allocate(struct inode *inode, loff_t at, loff_t end, int mode)
{
	int err = inode_newsize_ok(inode, end);

	for (; !err && at < end; at = round_down(at, PAGE_SIZE) + PAGE_SIZE) {
		err = page_allocate(inode, at, end, mode);
		if (err == -ERANGE)
			return 0;
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	return err;
}
