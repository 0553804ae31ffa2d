/* SPDX-License-Identifier: GPL-2.0 */
/* See map.c. */
#ifndef MIOS_MAP_H
#define MIOS_MAP_H

#include <stddef.h>

/* MAP_FAILED, or where it is mapped. */
void *window_map(int fd, size_t size);

#endif /* MIOS_MAP_H */
