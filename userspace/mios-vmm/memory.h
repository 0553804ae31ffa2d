/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's memory: a piece at each node, all of them in the window.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#include "vmm.h"

/* On all nodes; node 0 takes the pieces for all.  0, or -1 after a line. */
int memory_take(const struct shape *s);
/* A node's piece here. */
void *memory_piece(uint16_t node);
/* Where the guest has what is there in this process; false: it has not. */
bool memory_guest(const void *at, uint64_t *guest);
/* Guest memory, within one node's piece; NULL: it is not all there. */
void *memory_at(uint64_t at, uint64_t len);
/* Where the guest's memory ends; it begins at 0, without a gap. */
uint64_t memory_end(void);

#endif /* MEMORY_H */
