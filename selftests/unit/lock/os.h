/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests want of mios/memory/lock/os.h: that test_point is called before
 * each access to shared memory, if it is set: the explorer's, which goes on with
 * another task there, or lets this one die.
 */
#ifndef _TEST_OS_H
#define _TEST_OS_H

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

#endif
