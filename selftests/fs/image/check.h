/* SPDX-License-Identifier: GPL-2.0 */
/* The image checker: a picture of nobody's doing, looked at from all sides. */
#ifndef _FS_CHECK_H
#define _FS_CHECK_H

#include "../../../mios/memory/fs/share.h"

/* NULL, or what is wrong with it; @live: instances that may have files open. */
const char *fs_check(struct mios_fs *fs, u64 live);

/* check_share.c; @excess: by how many pages a user's count is too large, at most */
const char *fs_check_shares(const struct mios_fs *fs, u64 *excess);

/* The same: nobody is in the middle of a change. */
bool fs_sequences_are_even(const struct mios_fs *fs);

#endif
