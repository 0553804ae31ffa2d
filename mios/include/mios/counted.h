/* SPDX-License-Identifier: GPL-2.0 */
/* What an instance has done together with others, as the ring area has it: layout.h. */
#ifndef _MIOS_COUNTED_H
#define _MIOS_COUNTED_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* Since its modules were loaded; docs/abi/sysfs-kernel-mios, counts. */
enum mios_count {
	MIOS_COUNT_BELLS_RUNG = 0,
	MIOS_COUNT_BELLS_HEARD,
	MIOS_COUNT_CALLS,
	MIOS_COUNT_CALLS_SERVED,
	MIOS_COUNT_FAULTS,
	MIOS_COUNT_REVOKES,
	MIOS_COUNT_FUTEX_WAKES,
	MIOS_COUNT_LOCK_WAITS,
	MIOS_COUNTS
};

/**
 * struct mios_counted - rewritten at every heartbeat
 * @sequence:	odd while the rest changes
 * @reserved:	0
 * @of:		enum mios_count
 */
struct mios_counted {
	__u32 sequence;
	__u32 reserved;
	__u64 of[MIOS_COUNTS];
};

static_assert(offsetof(struct mios_counted, of) == 8);
static_assert(sizeof(struct mios_counted) == 72);

#endif /* _MIOS_COUNTED_H */
