/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests break in miosfs, one for each guarantee: in the kernel by a module
 * parameter (fault_..., with MIOS_FAULT=1 only), in user space by a variant of
 * this file with the same include guard.
 */
#ifndef _MIOS_FS_FAULT_H
#define _MIOS_FS_FAULT_H

#include <linux/types.h>

enum mios_fs_fault {
	MIOS_FS_FAULT_NO_REDO,		/* change names without a record */
	MIOS_FS_FAULT_NO_REPLAY,	/* leave what the dead had begun */
	MIOS_FS_FAULT_NO_SEQUENCE,	/* let readers see half a change */
	MIOS_FS_FAULT_ZERO_LATE,	/* publish a page, then zero it */
	MIOS_FS_FAULT_NO_ZERO,		/* leave in a page what was there */
	MIOS_FS_FAULT_NO_SIZE_CHECK,	/* publish beyond the end of the file */
	MIOS_FS_FAULT_FREE_OPEN,	/* free what somebody has open by now */
	MIOS_FS_FAULT_KEEP_OPEN,	/* leave what the dead had open */
	MIOS_FS_FAULT_CLEAR_EARLY,	/* out of the file before it is held */
	MIOS_FS_FAULT_FAR,		/* take pages from the farthest node */
	MIOS_FS_FAULT_FIRST_TOUCH,	/* whatever is wished, take the nearest */
	MIOS_FS_FAULT_SAME_ID,		/* give a segment the id of the last */
	/* In the kernel only: */
	MIOS_FS_FAULT_STOP,		/* go no further in a change */
	MIOS_FS_FAULT_ELSEWHERE,	/* map wherever there is room */
	MIOS_FS_FAULT_UNCACHED,		/* take the pool for not write-back */
	MIOS_FS_FAULT_NO_REVOKE,	/* have nobody else unmap what is freed */
	MIOS_FS_FAULT_KEEP_MAPPED,	/* unmap nothing when asked to */
	MIOS_FS_FAULT_DEAF,		/* do not hear of a death */
	MIOS_FS_FAULT_NO_WAKE,		/* do not tell whose the lock is */
	MIOS_FS_FAULT_DOZE,		/* look no more before one is told */
	MIOS_FS_FAULT_STALE,		/* believe names that were right once */
	MIOS_FS_FAULTS
};

#ifdef MIOS_FAULT
bool mios_fs_fault(enum mios_fs_fault fault);
void mios_fs_stop(void);
#else
static inline bool mios_fs_fault(enum mios_fs_fault fault)
{
	return false;
}

static inline void mios_fs_stop(void) { }
#endif

#endif /* _MIOS_FS_FAULT_H */
