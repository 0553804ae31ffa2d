// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are wanted before anybody touches them, and the file so long:
 * fallocate(), and files whose pages are to be there at once.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "vfs.h"

/*
 * The page where @pos is, in a file that reaches to @end at least.  Another
 * instance may make it shorter in between, and so again.
 */
int mios_page_make(struct inode *inode, loff_t pos, loff_t end,
		   struct page **page)
{
	int err = 0, tries = 0;

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

/**
 * mios_file_allocate() - pages for these bytes, and the file so long
 * @inode: locked
 * @at: the first
 * @end: up to before this one
 *
 * Some at a time: where it ends with an error, some are there.
 */
int mios_file_allocate(struct inode *inode, loff_t at, loff_t end)
{
	struct page *page;
	int err = inode_newsize_ok(inode, end);

	for (; !err && at < end; at = round_down(at, PAGE_SIZE) + PAGE_SIZE) {
		loff_t next = min_t(loff_t, end,
				    round_down(at, PMD_SIZE) + PMD_SIZE);

		err = mios_page_make(inode, at, next, &page);
		if (!err)
			put_page(page);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	return err;
}
