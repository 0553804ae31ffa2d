/* SPDX-License-Identifier: GPL-2.0 */
/* What the changes of names share: change.c, rename.c.  All of it with the lock. */
#ifndef _MIOS_FS_CHANGE_H
#define _MIOS_FS_CHANGE_H

#include "tx.h"

/* An entry that is looked for, and the word that leads to it. */
struct mios_found {
	u64 entry;
	u64 inode;
	u64 *link;
};

bool mios_dir_is_alive(struct mios_fs *fs, u64 dir);
int mios_name_find(struct mios_fs *fs, u64 dir, const struct mios_fs_name *name,
		   struct mios_found *found);

/* The name, if the directory is still as it was when somebody judged it. */
int mios_place_find(struct mios_fs *fs, const struct mios_fs_place *at,
		    struct mios_found *found);

/* And what it leads to: in a sticky directory another one may be another user's. */
int mios_place_judged(struct mios_fs *fs, const struct mios_fs_place *at,
		      u64 inode);

/* A directory has become another one, in its names. */
void mios_names_changed(struct mios_fs *fs, u64 dir, u64 now);

/* In a directory from now on. */
int mios_entry_insert_new(struct mios_fs *fs, u64 at, u64 dir,
			  const struct mios_fs_name *name, u64 inode);

/* May this be taken away, as a directory or as something else? */
int mios_removable(struct mios_fs *fs, u64 inode, bool directory);
void mios_name_drop(struct mios_fs *fs, u64 dir, const struct mios_found *found,
		    bool directory, u64 now);

#endif /* _MIOS_FS_CHANGE_H */
