/* SPDX-License-Identifier: GPL-2.0 */
/* What segment_table.c offers to segment.c: see mios/fs.h. */
#ifndef _MIOS_FS_SEGMENT_TABLE_H
#define _MIOS_FS_SEGMENT_TABLE_H

#include "tx.h"

/* Is there such a segment, free or not? */
bool mios_segment_exists(const struct mios_fs *fs, u32 slot);

/* Where it lies; where there is none, the first one. */
struct mios_fs_segment *mios_segment_record(const struct mios_fs *fs, u32 slot);

/* How often an instance has attached it. */
u32 *mios_attached_at(const struct mios_fs *fs, u32 instance, u32 slot);

/* What is, or will be, the sequence in its id, by its ->key. */
u32 mios_sequence_of_key(u64 key);
u32 mios_sequence_next(u64 key);

/*
 * With the lock, or for who looks again: MIOS_FS_SEGMENTS if there is none with
 * that key.  @link: out: what leads to it.
 */
u32 mios_segment_of_key(struct mios_fs *fs, u32 key, u64 **link);

/* With the lock: one that is free, or MIOS_FS_SEGMENTS. */
u32 mios_segment_take(struct mios_fs *fs);
void mios_segment_give(struct mios_fs *fs, u32 slot);

/* It has this key from now on, if it is one; its key means it no more. */
void mios_segment_key_put(struct mios_fs *fs, u32 slot, u32 key);
void mios_segment_key_drop(struct mios_fs *fs, u32 slot);

#endif /* _MIOS_FS_SEGMENT_TABLE_H */
