/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of what an operation takes, as programs of the benchmark print them.
 */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int ticks_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* "NAME MEDIAN MIN"; they are sorted afterwards. */
static void ticks_print(const char *name, uint64_t *ticks, int nr)
{
	qsort(ticks, nr, sizeof(*ticks), ticks_compare);
	printf("%s %llu %llu\n", name, (unsigned long long)ticks[nr / 2],
	       (unsigned long long)ticks[0]);
}

#endif /* TICKS_H */
