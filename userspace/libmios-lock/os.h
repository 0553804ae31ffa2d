/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/memory/lock/os.h: same include guard, included
 * first (-include), so that the very same files compile here.  Atomics are the
 * compiler's.  lock_access() is for tests and for the simulator: called before
 * each access to shared memory, with where that is and whether it changes it.
 */
#ifndef _MIOS_LOCK_OS_H
#define _MIOS_LOCK_OS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef unsigned long long u64;

#ifndef lock_access
static inline void lock_access(const volatile void *p, bool changes)
{
}
#endif

#define READ_ONCE(x)							\
	(lock_access(&(x), false), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	(lock_access(&(x), true), __atomic_store_n(&(x), (v), __ATOMIC_RELAXED))
#define smp_load_acquire(p)						\
	(lock_access((p), false), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	(lock_access((p), true), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define try_cmpxchg(p, old, new)					\
	(lock_access((p), true),					\
	 __atomic_compare_exchange_n((p), (old), (new), false,		\
				     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

#define ilog2(n)		(31 - __builtin_clz(n))
#define roundup_pow_of_two(n)	(1u << (32 - __builtin_clz((n) - 1)))

#endif
