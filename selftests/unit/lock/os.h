/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests want of mios/memory/lock/os.h and mios/memory/lock/fault.h:
 * that test_point is called before each access to shared memory, if it is set:
 * the explorer's, which goes on with another task there, or lets this one die;
 * and faults.
 */
#ifndef _TEST_OS_H
#define _TEST_OS_H
#define _MIOS_LOCK_FAULT_H

#include <stdbool.h>

extern void (*test_point)(void);

static inline void test_access(void)
{
	if (test_point)
		test_point();
}

static inline void lock_access(const volatile void *p, bool changes)
{
	(void)p;
	(void)changes;
	test_access();
}

#define lock_access	lock_access

#include "../../../userspace/libmios-lock/os.h"

enum mios_lock_fault {
	MIOS_LOCK_FAULT_FREE_FIRST,
	MIOS_LOCK_FAULT_ANY_LAP,
	MIOS_LOCK_FAULT_GRANT_ANY_LAP,
	MIOS_LOCK_FAULT_WAIT_FOR_TAIL,
	MIOS_LOCK_FAULT_SKIP_PLACE,
	MIOS_LOCK_FAULT_BLIND_SLEEP,
	MIOS_LOCK_FAULT_BLIND_LEAVE,
	MIOS_LOCK_FAULT_NO_LAST_WAKE,
	MIOS_LOCK_FAULT_FORGET,
	MIOS_LOCK_FAULT_ALWAYS_TELL,
	MIOS_LOCK_FAULT_LET_WAIT,
	MIOS_LOCK_FAULT_ANY_EPOCH,
	MIOS_LOCK_FAULT_PAST_WRITERS,
	MIOS_LOCK_FAULT_BLIND_DONE,
	MIOS_LOCK_FAULT_SHARE_FORGETS,
	MIOS_LOCK_FAULT_EARLY_END,
	MIOS_LOCK_FAULT_END_BROKEN,
	MIOS_LOCK_FAULT_NO_SECOND_LOOK,
	MIOS_LOCK_FAULT_TELL_NOBODY,
	MIOS_LOCK_FAULT_NO_FIRST_WAIT,
	MIOS_LOCK_FAULT_NO_LAST_WAIT,
	MIOS_LOCK_FAULT_REGISTER_FORGETS,
	MIOS_LOCK_FAULT_PAST_SHARES,
	MIOS_LOCK_FAULTS
};

extern bool test_fault[MIOS_LOCK_FAULTS];

static inline bool mios_lock_fault(enum mios_lock_fault fault)
{
	return test_fault[fault];
}

#endif
