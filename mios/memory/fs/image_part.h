/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What image_part.c offers: inodes and entries by their numbers, in whichever part of the
 * image they lie; see mios/fs.h.  With fs.h, which includes this.
 */
#ifndef _MIOS_FS_PART_H
#define _MIOS_FS_PART_H

#include "fs.h"

/**
 * struct mios_fs_parts - what this instance has met of the image
 * @at:		where each part lies here; NULL: not met yet, or there is none
 * @grant:	share.c: pages that a user may have before it is looked how many he has
 */
struct mios_fs_parts {
	void *at[MIOS_FS_KINDS][MIOS_FS_PARTS];
	u32 grant[MIOS_FS_USERS];
};

/* Look at a part for the first time; NULL: there is none, or no sound one */
void *mios_part_meet(const struct mios_fs *fs, enum mios_fs_kind kind,
		     u64 part);

#define MIOS_FS_RECORD	sizeof(struct mios_fs_inode)	/* of each kind */
static_assert(sizeof(struct mios_fs_entry) == MIOS_FS_RECORD);

/*
 * A file, or an entry, by its number: two local loads.  What stands for one that
 * does not exist is number 0, which nobody uses.
 */
static inline void *mios_fs_at(const struct mios_fs *fs,
			       enum mios_fs_kind kind, u64 number)
{
	u64 part = number >> MIOS_FS_PART_SHIFT;
	u64 at = number % MIOS_FS_PART_NUMBERS;
	void *memory = NULL;

	if (part < MIOS_FS_PARTS)
		memory = READ_ONCE(fs->parts->at[kind][part]) ?:
			 mios_part_meet(fs, kind, part);
	if (!memory || (!part && at >= MIOS_FS_FIRST) ||
	    (part && kind == MIOS_FS_ENTRIES && at < MIOS_FS_PART_ENTRIES_AT))
		return fs->parts->at[kind][0];
	return (u8 *)memory + at * MIOS_FS_RECORD;
}

static inline struct mios_fs_inode *inode_at(const struct mios_fs *fs,
					     u64 number)
{
	return mios_fs_at(fs, MIOS_FS_INODES, number);
}

static inline struct mios_fs_entry *entry_at(const struct mios_fs *fs,
					     u64 number)
{
	return mios_fs_at(fs, MIOS_FS_ENTRIES, number);
}

/* The same without a gap between parts: how many numbers are below it. */
static inline u64 inode_rank(u64 number)
{
	return number < MIOS_FS_PART_NUMBERS ? number :
	       number - MIOS_FS_PART_NUMBERS + MIOS_FS_FIRST;
}

/* Extents of the image */
u64 mios_fs_extents(const struct mios_fs *fs);

/* How many files there are, and how many more there may be before it has to grow. */
u64 mios_fs_files(const struct mios_fs *fs, u64 *more);

/* All inodes there may be, one after the other: the next number, or 0; 0 at first. */
u64 mios_fs_inode_next(const struct mios_fs *fs, u64 number);

#endif /* _MIOS_FS_PART_H */
