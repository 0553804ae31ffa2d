/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/lock/os.h and mios/lock/fault.h: same include
 * guards, included first (-include), so that the very same files compile here.
 * Atomics are the compiler's, which TSan understands.  Before each access to
 * shared memory test_point is called, if it is set: the explorer's, which goes
 * on with another task there, or lets this one die.
 */
#ifndef _MIOS_LOCK_OS_H
#define _MIOS_LOCK_OS_H
#define _MIOS_LOCK_FAULT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef unsigned long long u64;

extern void (*test_point)(void);

static inline void test_access(void)
{
	if (test_point)
		test_point();
}

#define READ_ONCE(x)							\
	(test_access(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	(test_access(), __atomic_store_n(&(x), (v), __ATOMIC_RELAXED))
#define smp_load_acquire(p)						\
	(test_access(), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	(test_access(), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define try_cmpxchg(p, old, new)					\
	(test_access(),							\
	 __atomic_compare_exchange_n((p), (old), (new), false,		\
				     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

#define ilog2(n)		(31 - __builtin_clz(n))
#define roundup_pow_of_two(n)	(1u << (32 - __builtin_clz((n) - 1)))

enum mios_lock_fault {
	MIOS_LOCK_FAULT_FREE_FIRST,
	MIOS_LOCK_FAULT_ANY_LAP,
	MIOS_LOCK_FAULT_GRANT_ANY_LAP,
	MIOS_LOCK_FAULT_WAIT_FOR_TAIL,
	MIOS_LOCK_FAULT_BLIND_SLEEP,
	MIOS_LOCK_FAULT_BLIND_LEAVE,
	MIOS_LOCK_FAULT_NO_LAST_WAKE,
	MIOS_LOCK_FAULT_FORGET,
	MIOS_LOCK_FAULT_ALWAYS_TELL,
	MIOS_LOCK_FAULT_LET_WAIT,
	MIOS_LOCK_FAULT_ANY_EPOCH,
	MIOS_LOCK_FAULTS
};

extern bool test_fault[MIOS_LOCK_FAULTS];

static inline bool mios_lock_fault(enum mios_lock_fault fault)
{
	return test_fault[fault];
}

#endif
