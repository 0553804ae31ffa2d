/* SPDX-License-Identifier: GPL-2.0 */
/* How the tests' threads and processes wait: for ever, but for @late. */
#ifndef _FUTEX_H
#define _FUTEX_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static inline void futex_pause(void *ctx, u64 *word, u64 value)
{
	(void)ctx;
	(void)word;
	(void)value;
	__builtin_ia32_pause();
}

static inline void futex_sleep(void *ctx, u64 *word, u32 value)
{
	(void)ctx;
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static inline void futex_wake(void *ctx, u64 *word)
{
	(void)ctx;
	syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
}

#endif
