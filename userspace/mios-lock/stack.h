/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that take turns, each on a stack of its own: the simulator's contenders,
 * and the tasks of selftests/unit/lock.  No system call, no lock.
 */
#ifndef _MIOS_LOCK_STACK_H
#define _MIOS_LOCK_STACK_H

#include <string.h>

/* switch.S: saves what a function must keep on its stack, then changes stacks. */
void stack_switch(void **from, void *to);

/* What to change to, for @begin to run on a stack that ends at @top. */
static inline void *stack_begin(void *top, void (*begin)(void))
{
	void **sp = top;

	memset(sp - 9, 0, 9 * sizeof(*sp));
	sp[-2] = begin;
	return sp - 8;
}

#endif /* _MIOS_LOCK_STACK_H */
