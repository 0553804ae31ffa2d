// SPDX-License-Identifier: GPL-2.0
/*
 * Whether what somebody has judged, before he had the lock, is still as it was
 * then.  Called by all who change a file, its names or its attributes.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_SWITCH(unjudged,
		   "change what was judged, whatever has become of it since");

/**
 * mios_judged_holds() - is a file still as somebody has judged it?
 * @fs: the file system; the caller has the lock
 * @file: what he found
 *
 * -ESTALE: it is another one; -EAGAIN: he is to judge again.
 */
int mios_judged_holds(struct mios_fs *fs, const struct mios_fs_judged *file)
{
	const struct mios_fs_inode *inode;
	u64 mode, owner;

	if (!inode_exists(fs, file->inode))
		return -ESTALE;
	inode = inode_at(fs, file->inode);
	if (inject_unjudged)
		return 0;
	if (file->by & MIOS_FS_BY_ID && READ_ONCE(inode->id) != file->id)
		return -ESTALE;
	mode = mios_tx_get(fs, &inode->mode);
	owner = mios_tx_get(fs, &inode->owner);
	if ((file->by & MIOS_FS_BY_MODE && mode_of(mode) != file->mode) ||
	    (file->by & MIOS_FS_BY_UID && (u32)owner != file->uid) ||
	    (file->by & MIOS_FS_BY_GID && owner >> 32 != file->gid))
		return -EAGAIN;
	return 0;
}
