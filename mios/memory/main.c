// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_fs: the window, which is pools, the files in them, and what
 * programs do with these files besides reading, writing and mapping them.  It
 * tries itself when it is loaded, before it offers anything.
 */
#include <linux/module.h>

#include "fs/selftest.h"
#include "fs/vfs.h"
#include "ipc/ipc.h"
#include "vm/vm.h"

static int __init mios_fs_init(void)
{
	int err = mios_fs_selftest();

	if (err)
		return err;
	err = mios_image_locks_init();
	if (err)
		return err;
	err = mios_filelocks_init();
	if (err)
		goto image_lock;
	err = mios_death_init();
	if (err)
		goto filelock;
	err = mios_ipc_init();
	if (err)
		goto death;
	err = mios_revoke_init();
	if (err)
		goto ipc;
	err = mios_vm_init();
	if (err)
		goto revoke;
	err = mios_super_init();
	if (err)
		goto vm;
	return 0;

vm:
	mios_vm_exit();
revoke:
	mios_revoke_exit();
ipc:
	mios_ipc_exit();
death:
	mios_death_exit();
filelock:
	mios_filelocks_exit();
image_lock:
	mios_image_locks_exit();
	return err;
}

static void __exit mios_fs_exit(void)
{
	mios_super_exit();
	mios_vm_exit();
	mios_revoke_exit();
	mios_ipc_exit();
	mios_death_exit();
	mios_filelocks_exit();
	mios_image_locks_exit();
	mios_numbers_exit();
}

module_init(mios_fs_init);
module_exit(mios_fs_exit);
MODULE_ALIAS_FS("miosfs");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Files in memory that all instances share");
MODULE_IMPORT_NS(MIOS);
