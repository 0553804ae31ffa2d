// SPDX-License-Identifier: GPL-2.0
/*
 * lseek() on a file.  Data is where a page is, a hole where none has been
 * touched yet; so that who copies a file (cp, tar, rsync) may leave out what
 * reads as zeroes.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "vfs.h"

/* The first page from @index on; false: there is none. */
static bool page_after(struct inode *inode, u64 *index)
{
	u64 phys;

	if (!mios_fs_next(&mount_of(inode)->fs, number_of(inode), index, &phys))
		return false;
	--*index;
	return true;
}

/* -ENXIO: nothing but a hole follows. */
static loff_t data_seek(struct inode *inode, loff_t offset, loff_t size)
{
	u64 index = offset >> PAGE_SHIFT;

	if (!page_after(inode, &index))
		return -ENXIO;
	offset = max_t(loff_t, offset, index << PAGE_SHIFT);
	return offset < size ? offset : -ENXIO;
}

/* The end of the file is one. */
static loff_t hole_seek(struct inode *inode, loff_t offset, loff_t size)
{
	u64 index = offset >> PAGE_SHIFT, next = index;

	while (page_after(inode, &next) && next == index) {
		if (++index << PAGE_SHIFT >= size)
			return size;
		if (fatal_signal_pending(current))
			return -EINTR;
		next = index;
		cond_resched();
	}
	return max_t(loff_t, offset, index << PAGE_SHIFT);
}

loff_t mios_file_seek(struct file *file, loff_t offset, int whence)
{
	struct inode *inode = file_inode(file);
	loff_t size;
	int err = mios_inode_look(inode);

	if (err)
		return err;
	if (whence != SEEK_DATA && whence != SEEK_HOLE)
		return generic_file_llseek(file, offset, whence);
	size = i_size_read(inode);
	if (offset < 0 || offset >= size)
		return -ENXIO;
	offset = whence == SEEK_DATA ? data_seek(inode, offset, size) :
		 hole_seek(inode, offset, size);
	return offset < 0 ? offset : vfs_setpos(file, offset, MIOS_FILE_MAX);
}
