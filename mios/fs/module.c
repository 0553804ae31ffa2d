// SPDX-License-Identifier: GPL-2.0
/*
 * Pools and miosfs as a module of the kernel.  It tries itself when it is
 * loaded, before it offers anything.
 */
#include <linux/module.h>

#include "selftest.h"
#include "vfs.h"

static int __init mios_fs_init(void)
{
	int err = mios_fs_selftest();

	if (err)
		return err;
	err = mios_death_init();
	if (err)
		return err;
	err = mios_super_init();
	if (err)
		mios_death_exit();
	return err;
}

static void __exit mios_fs_exit(void)
{
	mios_super_exit();
	mios_death_exit();
}

module_init(mios_fs_init);
module_exit(mios_fs_exit);
MODULE_ALIAS_FS("miosfs");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Files in memory that all instances share");
MODULE_IMPORT_NS(MIOS);
