/* SPDX-License-Identifier: GPL-2.0 */
/* What two values make together, for a barrier. */
#ifndef _MIOS_LOCK_REDUCE_H
#define _MIOS_LOCK_REDUCE_H

#include "barrier.h"

enum mios_reduce_op {
	MIOS_REDUCE_SUM = 0,
	MIOS_REDUCE_MIN,
	MIOS_REDUCE_MAX,
	MIOS_REDUCE_AND,
	MIOS_REDUCE_OR,
	MIOS_REDUCE_OPS
};

/* Kernels have no floating point: doubles are user space's own. */
enum mios_reduce_type {
	MIOS_REDUCE_S32 = 0,
	MIOS_REDUCE_U32,
	MIOS_REDUCE_S64,
	MIOS_REDUCE_U64,
	MIOS_REDUCE_TYPES
};

/* NULL: there is none. */
mios_reduce mios_reduce_integer(enum mios_reduce_type type,
				enum mios_reduce_op op);

#endif /* _MIOS_LOCK_REDUCE_H */
