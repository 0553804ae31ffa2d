// SPDX-License-Identifier: GPL-2.0
/*
 * 2 MiB of a file as one page of a program: where its pages lie side by side
 * (large.c), a fault maps all of them by one entry of the page table, as Linux
 * does for device memory (pmd_devmap).  Such an entry has no references of its
 * pages and is none of their mappings, so what is said of it is said by the lock
 * alone under which it is made.  Linux never splits it into small ones: of what
 * is unmapped or protected in part the whole entry goes, and is faulted in anew.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#if MIOS_LARGE_ENTRIES
#include <linux/pfn_t.h>
#endif

#include "../../inject/inject.h"
#include "../../core/link/count.h"

#include "fs_trace.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(large_slow,
		   "go no further between finding a large page and mapping it");
MIOS_INJECT_SWITCH(large_late,
		   "go no further before the lock under which it is mapped");
MIOS_INJECT_SWITCH(large_unseen, "map a large page without another look");
MIOS_INJECT_SWITCH(large_unlocked,
		   "wait for nobody who maps a large page that is taken away");

bool mios_large_allowed(struct vm_area_struct *vma)
{
#if MIOS_LARGE_ENTRIES
	return !vma_thp_disabled(vma, vma->vm_flags);
#else
	return false;
#endif
}

/* A private mapping gets copies, page by page. */
static bool is_wanted(const struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;

	switch (READ_ONCE(mount_of(file_inode(vma->vm_file))->huge)) {
	case MIOS_HUGE_ADVISE:
		if (!(vma->vm_flags & VM_HUGEPAGE))
			return false;
		break;
	case MIOS_HUGE_NEVER:
		return false;
	case MIOS_HUGE_SIZE:
		break;
	}
	return !mios_is_cow_mapping(vma) &&
	       thp_vma_suitable_order(vma, vmf->address, PMD_ORDER);
}

/* Futexes look there for whose page it is. */
static void pages_name(struct inode *inode, u64 first, struct page *page)
{
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++, page++)
		if (page->mapping != inode->i_mapping ||
		    mios_page_index(page) != first + i) {
			page->mapping = inode->i_mapping;
			mios_page_index(page) = first + i;
		}
}

/*
 * LARGE: between this look and the page table nobody takes any of it away.  It is
 * never called a write: where another thread has put small pages there meanwhile,
 * and they stay, vmf_insert_pfn_pmd() would warn.  The mapping's own rights, which
 * the entry gets as well, are enough.
 */
static vm_fault_t run_map(struct vm_fault *vmf, u64 first, u64 phys)
{
	struct inode *inode = file_inode(vmf->vma->vm_file);
	vm_fault_t ret = VM_FAULT_NOPAGE;
	u64 now;

	while (inject_large_late)
		msleep(20);
	filemap_invalidate_lock_shared(inode->i_mapping);
	if (inject_large_unseen ||
	    (!mios_run_find(inode, first, false, &now) && now == phys)) {
		while (inject_large_slow)
			msleep(20);
		pages_name(inode, first, pfn_to_page(PHYS_PFN(phys)));
		ret = mios_insert_large(vmf, phys);
	}
	filemap_invalidate_unlock_shared(inode->i_mapping);
	return ret;
}

/*
 * What cannot be mapped so is mapped as a page; also what is mapped so, and may not
 * be written: somebody wants to know of each page that is (clear_refs of /proc).
 * Needs the lock of the mapping alone, as mios_file_fault().
 */
vm_fault_t mios_file_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	struct inode *inode = file_inode(vmf->vma->vm_file);
	u64 first = round_down(vmf->pgoff, MIOS_EXTENT_PAGES), phys = 0;
	int err;

	if (!MIOS_LARGE_ENTRIES || order != PMD_ORDER ||
	    pmd_present(vmf->orig_pmd) || !is_wanted(vmf))
		return VM_FAULT_FALLBACK;
	err = mios_run_find(inode, first, !(current->flags & PF_DUMPCORE),
			    &phys);
	trace_mios_fault_large(number_of(inode), first, phys, err);
	if (err)
		return VM_FAULT_FALLBACK;
	mios_count(MIOS_COUNT_FAULTS);
	return run_map(vmf, first, phys);
}

/* The mount's word is enough, also where Linux wants one from the program. */
void mios_large_map(struct vm_area_struct *vma)
{
	if (READ_ONCE(mount_of(file_inode(vma->vm_file))->huge) ==
	    MIOS_HUGE_SIZE)
		vm_flags_set(vma, VM_HUGEPAGE);
}

/* Where large pages of the file are large pages of the address space, too. */
unsigned long mios_large_area(struct file *file, unsigned long addr,
			      unsigned long len, unsigned long pgoff,
			      unsigned long flags)
{
#if MIOS_LARGE_ENTRIES	/* else that may be NULL */
	if (READ_ONCE(mount_of(file_inode(file))->huge) != MIOS_HUGE_NEVER)
		return thp_get_unmapped_area(file, addr, len, pgoff, flags);
#endif
	return mios_get_unmapped_area(file, addr, len, pgoff, flags);
}

/* LARGE: until who has found one before has mapped it. */
void mios_large_wait(struct inode *inode)
{
	if (inject_large_unlocked)
		return;
	filemap_invalidate_lock(inode->i_mapping);
	filemap_invalidate_unlock(inode->i_mapping);
}
