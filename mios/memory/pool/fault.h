/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests break in the pool, one for each guarantee.  The user-space tests
 * have their own variant, with the same include guard; in the kernel nothing
 * is ever broken yet.
 */
#ifndef _MIOS_POOL_FAULT_H
#define _MIOS_POOL_FAULT_H

#include <linux/types.h>

enum mios_pool_fault {
	MIOS_POOL_FAULT_ANY_OWNER,	/* free what is another's */
	MIOS_POOL_FAULT_ANY_EPOCH,	/* believe who has been recovered */
	MIOS_POOL_FAULT_SAME_GENERATION, /* a page changes hands unseen */
	MIOS_POOL_FAULT_NO_SECOND_LOOK,	/* allocate where it is closed by now */
	MIOS_POOL_FAULT_FULL_AT_ONCE,	/* call an extent full by one look */
	MIOS_POOL_FAULT_LOSE_PAGE,	/* leave a page to the dead */
	MIOS_POOL_FAULT_LOSE_LEASE,	/* leave an extent to the dead */
	MIOS_POOL_FAULT_FREE_NAMED,	/* free what an object names */
	MIOS_POOL_FAULTS
};

static inline bool mios_pool_fault(enum mios_pool_fault fault)
{
	return false;
}

#endif /* _MIOS_POOL_FAULT_H */
