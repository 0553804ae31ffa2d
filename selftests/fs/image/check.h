/* SPDX-License-Identifier: GPL-2.0 */
/* The image checker: a picture of nobody's doing, looked at from all sides. */
#ifndef _FS_CHECK_H
#define _FS_CHECK_H

#include "../../../mios/memory/fs/fs.h"

/* NULL, or what is wrong with it; @live: instances that may have files open. */
const char *fs_check(struct mios_fs *fs, u64 live);

#endif
