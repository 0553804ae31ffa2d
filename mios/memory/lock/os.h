/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few primitives that locks need, in two variants: the kernel's, and those
 * of user space with the same include guard, which are found first there:
 * selftests/unit/lock/os.h and userspace/libmios-lock/os.h.
 */
#ifndef _MIOS_LOCK_OS_H
#define _MIOS_LOCK_OS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/barrier.h>

#endif /* _MIOS_LOCK_OS_H */
