/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/fs/fault.h, on top of the pool's os.h: same
 * include guard, included first (-include).
 */
#ifndef _MIOS_FS_FAULT_H
#define _MIOS_FS_FAULT_H

#include "../pool/os.h"

enum mios_fs_fault {
	MIOS_FS_FAULT_NO_REDO,
	MIOS_FS_FAULT_NO_REPLAY,
	MIOS_FS_FAULT_NO_SEQUENCE,
	MIOS_FS_FAULT_ZERO_LATE,
	MIOS_FS_FAULT_NO_SIZE_CHECK,
	MIOS_FS_FAULT_FREE_OPEN,
	MIOS_FS_FAULT_KEEP_OPEN,
	MIOS_FS_FAULT_CLEAR_EARLY,
	MIOS_FS_FAULT_FAR,
	MIOS_FS_FAULT_FIRST_TOUCH,
	MIOS_FS_FAULTS
};

extern bool test_fs_fault[MIOS_FS_FAULTS];

static inline bool mios_fs_fault(enum mios_fs_fault fault)
{
	return test_fs_fault[fault];
}

static inline void mios_fs_stop(void) { }

#endif
