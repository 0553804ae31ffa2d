/* SPDX-License-Identifier: GPL-2.0 */
/* How a miosfs is mounted, for super.c; see options.c. */
#ifndef _MIOS_FS_OPTIONS_H
#define _MIOS_FS_OPTIONS_H

#include <linux/fs_context.h>
#include <linux/fs_parser.h>

#include "vfs.h"

/**
 * struct mios_options - how it is mounted
 * @place, @nr:	of the pool's sections
 * @policy:	of new files
 * @huge:	large pages
 * @limit:	pages that files may have, 0: all
 * @files:	files that there may be, 0: any number
 * @mode:	that its root must have
 * @given:	a bit for each that was named
 * @ring:	the ring's own pool is meant
 * @format, @make: make one in any case, or where there is none
 */
struct mios_options {
	struct mios_pool_place place[MIOS_POOL_SECTIONS];
	unsigned int nr;
	u64 policy;
	enum mios_huge huge;
	u64 limit;
	u64 files;
	umode_t mode;
	unsigned int given;
	bool ring;
	bool format;
	bool make;
};

extern const struct fs_parameter_spec mios_parameters[];
int mios_option(struct fs_context *fc, struct fs_parameter *param);
int mios_mode_check(struct fs_context *fc, struct inode *root);
int mios_remount(struct fs_context *fc);

#endif /* _MIOS_FS_OPTIONS_H */
