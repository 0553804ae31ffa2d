/* SPDX-License-Identifier: GPL-2.0 */
/* What large.c offers: large pages, as far as they are in the image. */
#ifndef _MIOS_FS_LARGE_H
#define _MIOS_FS_LARGE_H

#include "fs.h"

/**
 * mios_fs_run() - 2 MiB of a file that lie side by side, and aligned, in a section
 * @fs: the file system
 * @need: how they are made, where none of their pages is there; NULL: not
 * @inode: open by this instance
 * @first: the first page, a multiple of MIOS_EXTENT_PAGES
 * @phys: out: of that
 *
 * They are pages like all others, found and removed one by one.  -ENOENT: none
 * is there; -EEXIST: some are, or elsewhere; -EALREADY: the same, but somebody is
 * about to make the others; -ENOMEM: no such memory is to be had, or a user has no
 * room for it; -EDQUOT, -ERANGE, -EBUSY, -EINPROGRESS: as mios_fs_page().
 */
int mios_fs_run(struct mios_fs *fs, struct mios_need *need, u64 inode,
		u64 first, u64 *phys);

#endif /* _MIOS_FS_LARGE_H */
