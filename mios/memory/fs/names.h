/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What name.c offers: look-ups, attributes, directories one name after the other,
 * and how to know that they are as they were.  With fs.h, which includes this.
 */
#ifndef _MIOS_FS_NAMES_H
#define _MIOS_FS_NAMES_H

#include <linux/types.h>

#include <mios/fs.h>

struct mios_fs;
struct mios_fs_attr;
struct mios_fs_name;

/*
 * As long as this is the same, no attribute of the file that mios_fs_stat()
 * gives is another one, and no name has come into the directory or left it, but
 * while it is odd.  It never comes back.
 */
u64 mios_fs_sequence(const struct mios_fs *fs, u64 inode);

/*
 * As long as the stamp of a name holds, that leads to what it did, or is not there
 * still, whatever else has been changed: in the directory that has that number, which
 * the caller keeps.  One that does not hold never does again.
 */
bool mios_fs_stamp_holds(const struct mios_fs *fs, u64 stamp);
#define MIOS_FS_NO_STAMP	(~0ull)		/* never holds: it is odd */

/*
 * -EAGAIN: changes are under way, or who made one is dead: with mios_fs_still().
 * @stamp: out, also with -ENOENT.
 */
int mios_fs_lookup(struct mios_fs *fs, u64 dir,
		   const struct mios_fs_name *name, u64 *inode, u64 *stamp);
int mios_fs_stat(struct mios_fs *fs, u64 inode, struct mios_fs_attr *attr);

/**
 * struct mios_fs_reading - how far somebody has read a directory
 * @before:	mios_fs_sequence() of it when he began: what has come since is left
 *		out, so that there is an end, whoever adds names
 * @born:	of the last name that he was given, 0: none; no two of a directory have
 *		the same, and a name keeps it
 * @place:	where that was; 0: look for it
 * @passed, @passed_born: while it is looked for: a newer one, behind which to go on
 */
struct mios_fs_reading {
	u64 before;
	u64 born;
	u64 place;
	u64 passed;
	u64 passed_born;
};

/**
 * struct mios_fs_dirent - a name
 * @inode:	what it names
 * @length:	bytes of @name
 */
struct mios_fs_dirent {
	u64 inode;
	u32 length;
	char name[MIOS_FS_NAME + 1];
};

/**
 * mios_fs_readdir() - the next name of a directory, the last that has come first
 * @fs: the file system
 * @dir: the directory
 * @r: how far; goes on
 * @name: out, a copy
 *
 * 1, or 0 when there is none.
 */
int mios_fs_readdir(struct mios_fs *fs, u64 dir, struct mios_fs_reading *r,
		    struct mios_fs_dirent *name);

#endif /* _MIOS_FS_NAMES_H */
