// SPDX-License-Identifier: GPL-2.0
/*
 * What two integers make together, for a barrier.  A value is in the lower
 * bits of 64; sums wrap.  Called through pointers that mios_reduce_integer()
 * gives.
 */
#include "reduce.h"

#define INTEGER(kind, type)						\
static u64 sum_##kind(u64 a, u64 b)					\
{									\
	return (type)(a + b);						\
}									\
									\
static u64 min_##kind(u64 a, u64 b)					\
{									\
	return (type)a < (type)b ? a : b;				\
}									\
									\
static u64 max_##kind(u64 a, u64 b)					\
{									\
	return (type)a > (type)b ? a : b;				\
}

INTEGER(s32, __s32)
INTEGER(u32, __u32)
INTEGER(s64, __s64)
INTEGER(u64, __u64)

static u64 and_bits(u64 a, u64 b)
{
	return a & b;
}

static u64 or_bits(u64 a, u64 b)
{
	return a | b;
}

static const mios_reduce integers[MIOS_REDUCE_TYPES][MIOS_REDUCE_OPS] = {
	[MIOS_REDUCE_S32] = { sum_s32, min_s32, max_s32, and_bits, or_bits },
	[MIOS_REDUCE_U32] = { sum_u32, min_u32, max_u32, and_bits, or_bits },
	[MIOS_REDUCE_S64] = { sum_s64, min_s64, max_s64, and_bits, or_bits },
	[MIOS_REDUCE_U64] = { sum_u64, min_u64, max_u64, and_bits, or_bits },
};

mios_reduce mios_reduce_integer(enum mios_reduce_type type,
				enum mios_reduce_op op)
{
	if (type >= MIOS_REDUCE_TYPES || op >= MIOS_REDUCE_OPS)
		return NULL;
	return integers[type][op];
}
