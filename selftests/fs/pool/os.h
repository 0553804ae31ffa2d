/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/memory/pool/os.h: same include guard, included
 * first (-include), so that the very same files compile here.  Atomics are the
 * compiler's, which TSan understands.  Before each access to shared memory
 * test_point is called, if it is set: the explorer's, which may go on with
 * another instance there, or let this one die.
 */
#ifndef _MIOS_POOL_OS_H
#define _MIOS_POOL_OS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;

extern void (*test_point)(const volatile void *address, bool write);

static inline void test_access(const volatile void *address, bool write)
{
	if (test_point)
		test_point(address, write);
}

#define READ_ONCE(x)							\
	(test_access(&(x), false), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	(test_access(&(x), true),					\
	 __atomic_store_n(&(x), (v), __ATOMIC_RELAXED))
#define smp_load_acquire(p)						\
	(test_access((p), false), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	(test_access((p), true),					\
	 __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define try_cmpxchg(p, old, new)					\
	(test_access((p), true),					\
	 __atomic_compare_exchange_n((p), (old), (new), false,		\
				     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)

/*
 * A lock of one kernel: how many are held, and how often one was taken; who
 * finds it taken lets others go on (test_wait), which may then have died with it.
 */
struct test_lock {
	bool held;
};

#define spinlock_t	struct test_lock

extern unsigned int test_held;
extern unsigned long test_locked;
extern void (*test_wait)(void);

static inline void spin_lock(spinlock_t *lock)
{
	while (lock->held)
		test_wait();
	lock->held = true;
	test_held++;
	test_locked++;
}

static inline void spin_unlock(spinlock_t *lock)
{
	lock->held = false;
	test_held--;
}

/* Of MIOS_POOL_PAGE bytes; test_cleared is called before, if it is set. */
extern void (*test_cleared)(void);

static inline void page_clear(void *page)
{
	if (test_cleared)
		test_cleared();
	memset(page, 0, 4096);
}

#define cond_resched()		do { } while (0)

#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#endif
