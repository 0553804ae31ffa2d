// SPDX-License-Identifier: GPL-2.0
/*
 * Reading, writing and mapping a file.  A page fault returns the page of the
 * pool itself, locked, so that all who look at a mapped page find what they
 * find on any other one.
 */
#include <linux/compat.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "../../inject/inject.h"
#include "../../core/link/count.h"

#include "fs_trace.h"
#include "share.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(elsewhere, "map files wherever there is room");
MIOS_INJECT_SWITCH(map_slow, "wait between finding a page and mapping it");
MIOS_INJECT_SWITCH(fault_whole, "page faults take the lock of the address space");

/*
 * MAP: between this look and the page table the page's lock is held, which who
 * takes the page away has for a moment before he answers.  The reference is what
 * the page table keeps; for the look there is none, so that a fault which comes
 * late is not taken for a pin.  A struct page of the pool stays one.
 */
static bool page_enter(struct inode *inode, u64 index, u64 phys)
{
	struct page *page = pfn_to_page(PHYS_PFN(phys));

	if (inject_map_slow)
		usleep_range(500, 1000);
	lock_page(page);
	if (!mios_fs_page_is(&mount_of(inode)->fs, number_of(inode), index,
			     phys)) {
		unlock_page(page);
		return false;
	}
	get_page(page);
	if (page->mapping != inode->i_mapping || mios_page_index(page) != index) {
		page->mapping = inode->i_mapping;
		mios_page_index(page) = index;
	}
	return true;
}

/*
 * A core dump looks at every page of a mapping.  It leaves a hole out and goes on, where
 * one of a large window would otherwise take what is free of the pool.
 */
vm_fault_t mios_file_fault(struct vm_fault *vmf)
{
	struct inode *inode = file_inode(vmf->vma->vm_file);
	bool create = !(current->flags & PF_DUMPCORE);
	u64 phys = 0;
	int err;

	if (inject_fault_whole && vmf->flags & FAULT_FLAG_VMA_LOCK) {
		vma_end_read(vmf->vma);
		return VM_FAULT_RETRY;
	}
	err = mios_page_find(inode, vmf->pgoff, create,
			     mios_large_allowed(vmf->vma), &phys);
	trace_mios_fault(number_of(inode), vmf->pgoff, phys, err);
	mios_count(MIOS_COUNT_FAULTS);
	if (err == -EBUSY) {
		/* Again from the start, without locks, and if not killed. */
		usleep_range(500, 1000);
		return VM_FAULT_NOPAGE;
	}
	if (err)
		return VM_FAULT_SIGBUS;
	if (!page_enter(inode, vmf->pgoff, phys))
		return VM_FAULT_NOPAGE;
	vmf->page = pfn_to_page(PHYS_PFN(phys));
	return VM_FAULT_LOCKED;
}

/*
 * Maps none of the pages beside that of a read fault.  That there is such a
 * function tells Linux that mios_file_fault() needs the lock of the mapping alone:
 * it looks at the mapping's file and at the task, which neither can change
 * meanwhile, and at no other mapping.  Without, each fault began anew with the
 * lock of the address space, which all threads of a program write.
 */
vm_fault_t mios_file_map_pages(struct vm_fault *vmf, pgoff_t first,
			       pgoff_t last)
{
	return 0;
}

/*
 * mbind() of a shared mapping: for the whole file, and all who need a page of it
 * from now on, as whoever may write the file can say it in other ways.
 */
int mios_file_set_policy(struct vm_area_struct *vma, struct mempolicy *wish)
{
	struct inode *inode = file_inode(vma->vm_file);
	struct mios_mount *m = mount_of(inode);
	u64 policy;
	int err;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return 0;
	/* The file was not opened for writing. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EPERM;
	err = mios_policy_of_map(m, wish, &policy);
	if (!err)
		mios_fs_policy_set(&m->fs, number_of(inode), policy);
	return err;
}

static const struct vm_operations_struct file_vm_ops = {
	.fault = mios_file_fault,
	.huge_fault = mios_file_huge_fault,
	.map_pages = mios_file_map_pages,
	.set_policy = mios_file_set_policy,
};

/* Mixed: else the kernel takes it for a file whose pages it can lock and join. */
int mios_file_map(struct file *file, struct vm_area_struct *vma)
{
	struct mios_inode *inode = mios_inode_of(file_inode(file));

	set_bit(MIOS_WAS_MAPPED, &inode->flags);
	if (mios_is_cow_mapping(vma))
		set_bit(MIOS_WAS_COPIED, &inode->flags);
	vm_flags_set(vma, VM_MIXEDMAP);
	mios_large_map(vma);
	vma->vm_ops = &file_vm_ops;
	return 0;
}

/* The file's place in the window, unless something is there or is asked for. */
unsigned long mios_file_area(struct file *file, unsigned long addr,
			     unsigned long len, unsigned long pgoff,
			     unsigned long flags)
{
	unsigned long offset = pgoff << PAGE_SHIFT;
	unsigned long at = MIOS_WINDOW_BASE + offset +
		(inode_rank(number_of(file_inode(file))) << MIOS_WINDOW_SHIFT);
	struct vm_area_struct *vma;

	if (!(flags & MAP_FIXED) && !addr && !in_compat_syscall() &&
	    len <= 1UL << MIOS_WINDOW_SHIFT &&
	    offset <= (1UL << MIOS_WINDOW_SHIFT) - len &&
	    at < MIOS_WINDOW_END - len &&
	    !inject_elsewhere) {
		vma = find_vma(current->mm, at);
		if (!vma || vma->vm_start >= at + len)
			return at;
	}
	return mios_large_area(file, addr, len, pgoff, flags);
}

/* What is left of the page that @pos is in, of @size bytes. */
static size_t part_of(loff_t pos, u64 size)
{
	return min_t(u64, PAGE_SIZE - offset_in_page(pos), size);
}

static int part_read(struct kiocb *kiocb, struct iov_iter *to, size_t part)
{
	struct page *page;
	size_t copied;
	int err = mios_page_wait(file_inode(kiocb->ki_filp),
			    kiocb->ki_pos >> PAGE_SHIFT, false, &page);

	if (err && err != -ENOENT)
		return err;
	if (err) {
		copied = iov_iter_zero(part, to);
	} else {
		copied = copy_page_to_iter(page, offset_in_page(kiocb->ki_pos),
					   part, to);
		put_page(page);
	}
	kiocb->ki_pos += copied;
	return copied < part ? -EFAULT : 0;
}

static ssize_t file_read(struct kiocb *kiocb, struct iov_iter *to)
{
	struct inode *inode = file_inode(kiocb->ki_filp);
	loff_t start = kiocb->ki_pos, size;
	int err = mios_inode_look(inode);

	size = i_size_read(inode);
	while (!err && iov_iter_count(to) && kiocb->ki_pos < size) {
		u64 left = min_t(u64, size - kiocb->ki_pos, iov_iter_count(to));

		err = part_read(kiocb, to, part_of(kiocb->ki_pos, left));
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	/* It has become shorter meanwhile. */
	if (err == -ERANGE)
		err = 0;
	return kiocb->ki_pos > start ? kiocb->ki_pos - start : err;
}

static int part_write(struct kiocb *kiocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(kiocb->ki_filp);
	size_t part = part_of(kiocb->ki_pos, iov_iter_count(from));
	struct page *page;
	size_t copied;
	int err = mios_page_make(inode, kiocb->ki_pos, kiocb->ki_pos + part, &page);

	if (err)
		return err;
	copied = copy_page_from_iter(page, offset_in_page(kiocb->ki_pos), part,
				     from);
	put_page(page);
	kiocb->ki_pos += copied;
	return copied < part ? -EFAULT : 0;
}

static int write_all(struct kiocb *kiocb, struct iov_iter *from)
{
	int err = 0;

	while (!err && iov_iter_count(from)) {
		err = part_write(kiocb, from);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	return err;
}

/*
 * What is appended gets a place of its own first, whoever else appends; but no
 * more than this at once, which would stay as zeroes where memory ends, or a share;
 * and nothing where the first page would be refused, as far as is known.
 */
#define APPEND_MAX	PMD_SIZE

static int append(struct kiocb *kiocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(kiocb->ki_filp);
	size_t left = iov_iter_count(from), part = min(left, APPEND_MAX);
	int err;

	if (mios_share_refuses(&mount_of(inode)->fs, number_of(inode),
			       i_size_read(inode)))
		return -EDQUOT;
	err = mios_size_append(inode, part, &kiocb->ki_pos);
	iov_iter_truncate(from, part);
	if (!err)
		err = write_all(kiocb, from);
	iov_iter_reexpand(from, left - part + iov_iter_count(from));
	return err;
}

static ssize_t file_write(struct kiocb *kiocb, struct iov_iter *from)
{
	struct inode *inode = file_inode(kiocb->ki_filp);
	size_t whole;
	ssize_t ret;

	inode_lock(inode);
	ret = mios_inode_look(inode);
	if (!ret)
		ret = generic_write_checks(kiocb, from);
	if (ret <= 0)
		goto out;
	whole = iov_iter_count(from);
	ret = file_remove_privs(kiocb->ki_filp);
	/* It has been written to, also where it becomes no longer. */
	if (!ret)
		ret = mios_size_grow(inode, 0);
	while (!ret && iov_iter_count(from))
		ret = kiocb->ki_flags & IOCB_APPEND ? append(kiocb, from) :
						      write_all(kiocb, from);
	if (iov_iter_count(from) < whole)
		ret = whole - iov_iter_count(from);
out:
	inode_unlock(inode);
	return ret;
}

/*
 * A page beyond the end is one that is to go: so none is promised there, where
 * the file is to stay as long as it is.
 */
static int allocate(struct inode *inode, int mode, loff_t at, loff_t end)
{
	int err;

	if (mode & FALLOC_FL_PUNCH_HOLE)
		return mios_size_punch(inode, at, end);
	if (mode & FALLOC_FL_KEEP_SIZE &&
	    end > round_up(i_size_read(inode), PAGE_SIZE))
		return -EOPNOTSUPP;
	err = mios_file_allocate(inode, at, end, mode);
	/* It has been written to, also where it became no longer. */
	if (!err && mode & FALLOC_FL_ZERO_RANGE)
		err = mios_size_grow(inode, 0);
	return err;
}

long mios_file_fallocate(struct file *file, int mode, loff_t offset,
			 loff_t length)
{
	struct inode *inode = file_inode(file);
	int err;

	/* The VFS knows which of these go together. */
	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE |
		     FALLOC_FL_ZERO_RANGE))
		return -EOPNOTSUPP;
	inode_lock(inode);
	err = mios_inode_refresh(inode);
	if (!err)
		err = file_remove_privs(file);
	if (!err)
		err = allocate(inode, mode, offset, offset + length);
	inode_unlock(inode);
	return err;
}

/* O_DIRECT is no other way to pages that are memory; as tmpfs has it. */
static int file_open(struct inode *inode, struct file *file)
{
	file->f_mode |= FMODE_CAN_ODIRECT;
	return generic_file_open(inode, file);
}

const struct inode_operations mios_file_inode_ops = {
	.permission = mios_permission,
	.setattr = mios_setattr,
	.getattr = mios_getattr,
	.listxattr = mios_listxattr,
};

const struct file_operations mios_file_ops = {
	.open = file_open,
	.llseek = mios_file_seek,
	.read_iter = file_read,
	.write_iter = file_write,
	.mmap = mios_file_map,
	.get_unmapped_area = mios_file_area,
	.fallocate = mios_file_fallocate,
	.fsync = noop_fsync,
	.lock = mios_file_lock,
	.flock = mios_file_flock,
	.setlease = mios_nosetlease,
	.splice_read = copy_splice_read,
	.splice_write = iter_file_splice_write,
};

const struct address_space_operations mios_aops = {
	.dirty_folio = noop_dirty_folio,
};
