/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/memory/fs/fault.h and mios/memory/lock/os.h,
 * on top of the pool's os.h: same include guards, included first (-include).
 */
#ifndef _MIOS_FS_FAULT_H
#define _MIOS_FS_FAULT_H

#include "../pool/os.h"

/* What of mios/memory/lock/os.h that one has not. */
#define _MIOS_LOCK_OS_H

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

#define ilog2(n)		(31 - __builtin_clz(n))
#define roundup_pow_of_two(n)	(1u << (32 - __builtin_clz((n) - 1)))

enum mios_fs_fault {
	MIOS_FS_FAULT_NO_REDO,
	MIOS_FS_FAULT_NO_REPLAY,
	MIOS_FS_FAULT_NO_SEQUENCE,
	MIOS_FS_FAULT_ZERO_LATE,
	MIOS_FS_FAULT_NO_ZERO,
	MIOS_FS_FAULT_NO_SIZE_CHECK,
	MIOS_FS_FAULT_FREE_OPEN,
	MIOS_FS_FAULT_KEEP_OPEN,
	MIOS_FS_FAULT_CLEAR_EARLY,
	MIOS_FS_FAULT_FAR,
	MIOS_FS_FAULT_FIRST_TOUCH,
	MIOS_FS_FAULT_SAME_ID,
	MIOS_FS_FAULTS
};

extern bool test_fs_fault[MIOS_FS_FAULTS];

static inline bool mios_fs_fault(enum mios_fs_fault fault)
{
	return test_fs_fault[fault];
}

static inline void mios_fs_stop(void) { }

#endif
