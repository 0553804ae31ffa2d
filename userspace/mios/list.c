// SPDX-License-Identifier: GPL-2.0
/*
 * An array that grows, for those who do not know beforehand how much there is:
 * journal's lines and trace's events.
 */
#include <stdlib.h>

#include "libmios/libmios.h"
#include "list.h"

#define ROOM_FIRST	1024

void *list_grow(const char *command, void *list, size_t nr, size_t *room,
		size_t size)
{
	if (nr < *room)
		return list;
	*room = *room ? 2 * *room : ROOM_FIRST;
	list = realloc(list, *room * size);
	if (!list)
		mios_die(MIOS_EXIT_FAILED, "%s: no memory left", command);
	return list;
}
