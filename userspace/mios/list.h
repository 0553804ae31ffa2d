/* SPDX-License-Identifier: GPL-2.0 */
/* An array that grows. */
#ifndef MIOS_LIST_H
#define MIOS_LIST_H

#include <stddef.h>

/*
 * @list, of elements of @size bytes, @nr of them used, with room for one more:
 * it may lie elsewhere then.  Whoever has no memory ends.
 */
void *list_grow(const char *command, void *list, size_t nr, size_t *room,
		size_t size);

#endif /* MIOS_LIST_H */
