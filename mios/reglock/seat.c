// SPDX-License-Identifier: GPL-2.0
/*
 * Programs' face: /dev/mios_register, an open file of which is a seat.  Its first
 * page is the register's, the others are the memory beside it; a read tells which
 * seat it is.  When it is closed, or its process dies, this kernel recovers it.
 *
 * A page is the least that can be mapped, and other registers of the device
 * are in it, and all seats in the memory: who may map it can hold up all
 * instances, and change the device.  So only root may.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "../inject/inject.h"
#include "../core/link/link.h"
#include "reglock.h"

MIOS_INJECT_SWITCH(wrong_page, "map memory to programs, not the register");

static struct mios_reglock *reglock;
static DEFINE_MUTEX(seats_lock);
static DECLARE_BITMAP(seats_used, MIOS_REGISTER_EACH);

static int seat_take(void)
{
	int seat;

	mutex_lock(&seats_lock);
	seat = find_first_zero_bit(seats_used, MIOS_REGISTER_EACH);
	if (seat < MIOS_REGISTER_EACH)
		__set_bit(seat, seats_used);
	mutex_unlock(&seats_lock);
	return seat < MIOS_REGISTER_EACH ? seat : -EUSERS;
}

/**
 * mios_reglock_file_settled() - a seat can be had again
 * @seat: of this instance
 */
void mios_reglock_file_settled(u32 seat)
{
	mutex_lock(&seats_lock);
	__clear_bit(seat - mios_reglock_first_seat(mios_link_self()),
		    seats_used);
	mutex_unlock(&seats_lock);
}

static int register_open(struct inode *inode, struct file *file)
{
	struct mios_register_info *info;
	int seat, err;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM;
	err = security_locked_down(LOCKDOWN_PCI_ACCESS);
	if (err)
		return err;
	info = kzalloc(sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	seat = seat_take();
	if (seat < 0) {
		kfree(info);
		return seat;
	}
	info->seat = mios_reglock_first_seat(mios_link_self()) + seat;
	info->epoch = mios_reglock_epoch();
	info->at = reglock->place.at;
	info->flush = reglock->place.flush;
	info->size = reglock->place.size;
	file->private_data = info;
	return 0;
}

/* Nothing is mapped any more: whoever had the seat does nothing more with it. */
static int register_release(struct inode *inode, struct file *file)
{
	struct mios_register_info *info = file->private_data;

	if (!mios_reglock_bury(info->seat, info->epoch))
		mios_reglock_file_settled(info->seat);
	kfree(info);
	return 0;
}

static ssize_t register_read(struct file *file, char __user *to, size_t size,
			     loff_t *at)
{
	return simple_read_from_buffer(to, size, at, file->private_data,
				       sizeof(struct mios_register_info));
}

static int map_words(struct vm_area_struct *vma, unsigned long size)
{
	u64 offset = (u64)(vma->vm_pgoff - 1) << PAGE_SHIFT;

	if (offset >= reglock->place.size || size > reglock->place.size - offset)
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start,
			       PHYS_PFN(reglock->place.words + offset), size,
			       vma->vm_page_prot);
}

static int register_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long size = vma->vm_end - vma->vm_start;
	u64 page = reglock->place.page;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* A child has not its parent's seat. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	if (vma->vm_pgoff)
		return map_words(vma, size);
	if (size != PAGE_SIZE)
		return -EINVAL;
	if (inject_wrong_page) {
		vma->vm_pgoff = reglock->place.size >> PAGE_SHIFT;
		return map_words(vma, size);
	}
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, PHYS_PFN(page), size,
				  vma->vm_page_prot);
}

static const struct file_operations register_fops = {
	.owner = THIS_MODULE,
	.open = register_open,
	.release = register_release,
	.read = register_read,
	.mmap = register_mmap,
	.llseek = default_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mios_register",
	.fops = &register_fops,
	.mode = 0600,
};

int mios_reglock_file_begin(struct mios_reglock *lock)
{
	reglock = lock;
	bitmap_zero(seats_used, MIOS_REGISTER_EACH);
	__set_bit(0, seats_used);	/* the kernel's */
	return misc_register(&device);
}

void mios_reglock_file_end(void)
{
	misc_deregister(&device);
}
