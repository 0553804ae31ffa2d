/* SPDX-License-Identifier: GPL-2.0 */
/* A page that instance 1 has in use, and that somebody takes away. */
#ifndef _MAPPED_H
#define _MAPPED_H

#include "fstest.h"

/* Nothing is in use; all of this is explored. */
void mapped_restore(void);

/* MAP: a fault of 1. */
void mapped_by_one(struct world *w, u64 file, u64 index);

/* PIN: 1 reads from it, and has a reference until the end. */
void copied_by_one(struct world *w, u64 file, u64 index);

/* What is done for 2 in the kernel of 1, before that answers. */
void unmapped_by_two(void);

/* What it answers. */
bool is_pinned(void);

/* The page that 1 has in use, unless it is dead; 0: none. */
u64 used_by_one(void);

#endif
