/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/core/channel/os.h and mios/core/fault/fault.h:
 * same include guards, included first (-include), so that the very same
 * channel.c and layout.c compile here.  Atomics are the compiler's, which TSan
 * understands.
 */
#ifndef _MIOS_CHANNEL_OS_H
#define _MIOS_CHANNEL_OS_H
#define _MIOS_FAULT_H

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
typedef int32_t s32;

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define cpu_relax()		__builtin_ia32_pause()

#define __ffs64(x)		__builtin_ctzll(x)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, y)		(DIV_ROUND_UP(x, y) * (y))
#define min(a, b)		((a) < (b) ? (a) : (b))

static inline bool is_power_of_2(u64 n)
{
	return n && !(n & (n - 1));
}

static inline u32 mios_crc32(const void *data, size_t size)
{
	const u8 *byte = data;
	u32 crc = ~0u;
	int bit;

	while (size--) {
		crc ^= *byte++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

enum mios_fault {
	MIOS_FAULT_STALE_INCARNATION,
	MIOS_FAULT_NO_SLOT_CHECK,
	MIOS_FAULT_GARBAGE_SLOT,
	MIOS_FAULT_GARBAGE_DESC,
	MIOS_FAULT_NO_CPU_CHECK,
	MIOS_FAULT_ACCEPT_OLD,
	MIOS_FAULT_REUSE_SESSION,
	MIOS_FAULTS
};

/* A test sets how many times a fault happens. */
extern int test_fault[MIOS_FAULTS];

static inline bool mios_fault(enum mios_fault fault)
{
	int left = READ_ONCE(test_fault[fault]);

	if (left > 0)
		WRITE_ONCE(test_fault[fault], left - 1);
	return left;
}

/* Here every message is the probe's. */
static inline bool mios_fault_in(enum mios_fault fault, u32 type)
{
	(void)type;
	return mios_fault(fault);
}

#endif
