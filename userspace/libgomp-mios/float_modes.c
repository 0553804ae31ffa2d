// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that a program makes computes as its maker does: it rounds the same
 * way, flushes to zero or not, and divides by zero with or without a signal.  The
 * members of a team are there before main() says how, some in other processes, so
 * they are told with each region.  What a member has set for itself stays, until
 * its master has something else than before.
 */
#include <string.h>
#include <xmmintrin.h>

#include "api.h"
#include "gomp.h"

#define FLAGS	_MM_EXCEPT_MASK		/* what has happened: each thread's own */

struct float_modes float_modes(void)
{
	struct float_modes m = { .mxcsr = _mm_getcsr() & ~FLAGS };

	__asm__ volatile("fnstcw %0" : "=m" (m.x87));
	return m;
}

void float_follow(struct float_modes modes)
{
	static __thread struct float_modes last;	/* before the first: no mode */

	if (last.mxcsr == modes.mxcsr && last.x87 == modes.x87)
		return;
	last = modes;
	_mm_setcsr((_mm_getcsr() & FLAGS) | modes.mxcsr);
	/* A flag of before would be a signal at once. */
	__asm__ volatile("fnclex\n\tfldcw %0" : : "m" (modes.x87));
}
