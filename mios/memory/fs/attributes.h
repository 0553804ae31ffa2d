/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What attributes.c offers: extended attributes, which lie in a file of their own
 * (struct mios_fs_attribute); that is what the image knows of them, and it is
 * replaced as a whole.
 */
#ifndef _MIOS_FS_ATTRIBUTES_H
#define _MIOS_FS_ATTRIBUTES_H

#include "fs.h"

/* Which file has them: number and id; ->inode is 0 where there are none. */
struct mios_fs_holder {
	u64 inode;
	u64 id;
};

/* Of this file.  -ESTALE: it is another one; -EAGAIN: as mios_fs_stat() */
int mios_fs_attributes(struct mios_fs *fs, u64 inode, u64 id,
		       struct mios_fs_holder *holder);

/**
 * mios_fs_attributes_set() - another file has them
 * @fs: the file system
 * @file: whose they are, as it has been judged
 * @was: what the caller has found; to be reaped if this succeeds
 * @holder: a file without a name, open by this instance; or none
 * @now: ns
 *
 * -EAGAIN: somebody has been quicker.
 */
int mios_fs_attributes_set(struct mios_fs *fs, const struct mios_fs_judged *file,
			   const struct mios_fs_holder *was,
			   const struct mios_fs_holder *holder, u64 now);

/* open.c: with the lock; the one that an inode's word names, if it is so, or 0 */
u64 mios_holder_of(struct mios_fs *fs, u64 inode);

/**
 * struct mios_attributes - a list of them in memory of the caller
 * @list:	as in the file
 * @size:	bytes of it, a multiple of eight; what is there is anything
 * @room:	bytes that there are
 */
struct mios_attributes {
	u8 *list;
	u32 size;
	u32 room;
};

/* What one takes in the list. */
static inline u32 mios_attribute_size(u32 length, u32 size)
{
	return DIV_ROUND_UP(sizeof(struct mios_fs_attribute) + length + size,
			    sizeof(u64)) * sizeof(u64);
}

/* The one at @at, where the next one begins, or NULL: there is none, or no sound one */
const struct mios_fs_attribute *
mios_attribute_next(const struct mios_attributes *a, u32 *at);

const struct mios_fs_attribute *
mios_attribute_find(const struct mios_attributes *a,
		    const struct mios_fs_name *name);

static inline const void *
mios_attribute_value(const struct mios_fs_attribute *one)
{
	return one->name + one->length;
}

/* -ENOSPC: all of a file are too much.  NULL: it goes. */
int mios_attribute_put(struct mios_attributes *a,
		       const struct mios_fs_name *name, const void *value,
		       u32 size);

#endif /* _MIOS_FS_ATTRIBUTES_H */
