// SPDX-License-Identifier: GPL-2.0
/*
 * Has this kernel left the LOCK out of its instructions?  One that boots with a
 * single CPU does (arch/x86/kernel/alternative.c), in modules, too, but for
 * "noreplace-smp".  What it shares with other kernels is not safe then: a
 * compare-and-exchange, or a bit that is set, undoes what another one stores at
 * that moment.
 */
#include <linux/types.h>
#include <asm/alternative.h>

#include "lock_prefix.h"

#define LOCK_BYTE	0xf0

bool mios_lock_prefix_works(void)
{
	const u8 *at;
	int value = 0;

	asm volatile("lea 1f(%%rip), %0\n"
		     "1:" LOCK_PREFIX "incl %1"
		     : "=r" (at), "+m" (value) : : "cc");
	return *at == LOCK_BYTE;
}
