/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What integer sort sorts: sort.c in shared memory, selftests/bench/native/mpisort.c
 * by messages.
 */
#ifndef SORT_H
#define SORT_H

#define SORT_RANGE	1024
#define SORT_SIZE	20000

static inline int sort_key(int i)
{
	unsigned int x = i * 2654435761u;

	return (x ^ x >> 15) % SORT_RANGE;
}

#endif /* SORT_H */
