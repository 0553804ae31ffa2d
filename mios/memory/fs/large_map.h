/* SPDX-License-Identifier: GPL-2.0 */
/* What large_map.c offers: 2 MiB of a file as one page of a program. */
#ifndef _MIOS_FS_LARGE_MAP_H
#define _MIOS_FS_LARGE_MAP_H

#include <linux/mm.h>

/**
 * enum mios_huge - where 2 MiB of a file are made at once, and mapped as one
 * @MIOS_HUGE_ADVISE: where a program has asked for it by madvise()
 * @MIOS_HUGE_NEVER: nowhere
 * @MIOS_HUGE_SIZE: wherever the file is so long
 */
enum mios_huge {
	MIOS_HUGE_ADVISE,
	MIOS_HUGE_NEVER,
	MIOS_HUGE_SIZE,
};

vm_fault_t mios_file_huge_fault(struct vm_fault *vmf, unsigned int order);

/* May the mapping have large pages, unless the mount says no? */
bool mios_large_allowed(struct vm_area_struct *vma);
void mios_large_map(struct vm_area_struct *vma);
unsigned long mios_large_area(struct file *file, unsigned long addr,
			      unsigned long len, unsigned long pgoff,
			      unsigned long flags);

/* LARGE: until who has found one before has mapped it. */
void mios_large_wait(struct inode *inode);

#endif /* _MIOS_FS_LARGE_MAP_H */
