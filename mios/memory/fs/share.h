/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What share.c offers: how much each user has of the files that he has made, and no
 * more than his share.  The user who has made a file pays for it, whoever has it then.
 */
#ifndef _MIOS_FS_SHARE_H
#define _MIOS_FS_SHARE_H

#include "fs.h"

/* Of pages, and of files and more names of them; 0: any number. */
struct mios_fs_share {
	u64 pages;
	u64 files;
};

struct mios_fs_share mios_fs_share(const struct mios_fs *fs);

/*
 * Who has made his files before there was a share for the first time has them for
 * nothing.  -ENOSPC: the image needs an extent for that, and none is free.
 */
int mios_fs_share_set(struct mios_fs *fs, const struct mios_fs_share *share);

/**
 * struct mios_fs_payer - what a user has
 * @uid:	his; ->others: those for whom there was no room in the table
 * @has:	pages and files
 */
struct mios_fs_payer {
	u32 uid;
	bool others;
	struct mios_fs_share has;
};

/* The next who has any, from @slot on, 0 at first; false: there is none. */
bool mios_fs_payer_next(const struct mios_fs *fs, u32 *slot,
			struct mios_fs_payer *payer);

/*
 * Is so much left of a user's share at this moment, for who asks: a file of so many
 * pages, with its index?
 */
bool mios_fs_share_fits(const struct mios_fs *fs, u32 uid, u64 pages);

/*
 * Before a file becomes longer: would its page with byte @at, beyond all that it has
 * room for, be refused at this moment?
 */
bool mios_share_refuses(const struct mios_fs *fs, u64 inode, u64 at);

/* With the lock, in a change; -EDQUOT */

/* A file more.  @payer: out: what its inode says of who pays for it */
int mios_share_make(struct mios_fs *fs, const struct mios_fs_attr *attr,
		    u32 *payer);

/* May a file have no further name? */
bool mios_share_is_full(struct mios_fs *fs, u64 inode);
void mios_share_names(struct mios_fs *fs, u64 inode, int more);

/* COUNT, without it: a page, for a file that is open here; -EDQUOT */
int mios_share_take(struct mios_fs *fs, u64 inode);
void mios_share_give(struct mios_fs *fs, u64 inode);
/* The same for all of many, or none; each is given back by itself. */
int mios_share_take_all(struct mios_fs *fs, u64 inode, u64 pages);

#endif /* _MIOS_FS_SHARE_H */
