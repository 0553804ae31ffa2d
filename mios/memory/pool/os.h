/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few primitives that the pool needs, in two variants: the kernel's, and
 * selftests/fs/pool/os.h with the same include guard for the user-space
 * tests, which is found first there.
 */
#ifndef _MIOS_POOL_OS_H
#define _MIOS_POOL_OS_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/page.h>

/*
 * Not clear_page(): with "rep stosb" an emulator that counts instructions counts
 * each byte.
 */
static inline void page_clear(void *page)
{
	memset(page, 0, PAGE_SIZE);
}

#endif /* _MIOS_POOL_OS_H */
