/* SPDX-License-Identifier: GPL-2.0 */
/* The clock of the programs here: nanoseconds, steered by nobody. */
#ifndef _BENCH_NOW_H
#define _BENCH_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#endif
