/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user-space variant of mios/core/channel/os.h: same include guard, included
 * first (-include), so that the very same channel.c and layout.c compile here.
 * Atomics are the compiler's, which TSan understands.
 */
#ifndef _MIOS_CHANNEL_OS_H
#define _MIOS_CHANNEL_OS_H

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
#define try_cmpxchg(p, old, new)					\
	__atomic_compare_exchange_n((p), (old), (new), false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
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

/* Here every message is the probe's. */
#define is_probe(type)		((void)(type), true)

#endif
