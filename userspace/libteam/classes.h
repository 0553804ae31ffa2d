/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes of blocks of the heap: classes, four to each power of two.  In a header, as
 * each malloc() asks for one.
 */
#ifndef MIOS_TEAM_CLASSES_H
#define MIOS_TEAM_CLASSES_H

#include <stddef.h>

#define CLASSES		168		/* up to 2^47 */

static inline size_t class_size(unsigned int class)
{
	if (class < 2)
		return 32 + 16 * class;
	return (4ul + (class - 2) % 4) << (4 + (class - 2) / 4);
}

/* The smallest that holds @size bytes; CLASSES if there is none. */
static inline unsigned int class_of(size_t size)
{
	unsigned int bit;
	size_t last;

	if (size <= 64)
		return size <= 32 ? 0 : size <= 48 ? 1 : 2;
	if (size > 1ul << 46)
		return CLASSES;
	last = size - 1;
	bit = 63 - __builtin_clzl(last);
	return 2 + (bit - 6) * 4 + (last >> (bit - 2)) - 3;
}

#endif /* MIOS_TEAM_CLASSES_H */
