/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/memory/lock/os.h, on top of the pool's os.h:
 * same include guard, included first (-include).
 */
#ifndef _TEST_FS_OS_H
#define _TEST_FS_OS_H

#include "../pool/os.h"

/* What of mios/memory/lock/os.h that one has not. */
#define _MIOS_LOCK_OS_H

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

#define ilog2(n)		(31 - __builtin_clz(n))
#define roundup_pow_of_two(n)	(1u << (32 - __builtin_clz((n) - 1)))

#endif
