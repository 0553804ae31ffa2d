// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are still to be removed from files when nobody waits for that any
 * more: they were pinned, or their cutter is dead, or gave up.  Tried once a
 * second, by each instance that has reason to.
 */
#include "vfs.h"

static void mend(struct work_struct *work)
{
	struct mios_mount *m = container_of(to_delayed_work(work),
					    struct mios_mount, mend);
	bool again = false;
	u64 number;

	for (number = 1; number < m->fs.nr_inodes; number++) {
		const struct mios_fs_inode *image = &m->fs.inode[number];
		struct inode *inode;

		if (!READ_ONCE(image->id) || !mios_has_to_cut(image))
			continue;
		inode = mios_inode_get(m->sb, number);
		if (IS_ERR(inode))
			continue;
		if (S_ISREG(inode->i_mode))
			mios_cut(inode, false);
		again |= mios_has_to_cut(image);
		iput(inode);
	}
	if (again)
		mios_mend_soon(m);
}

/* The mount's own worker, while it is mounted. */
void mios_mend_init(struct mios_mount *m)
{
	INIT_DELAYED_WORK(&m->mend, mend);
}

void mios_mend_soon(struct mios_mount *m)
{
	queue_delayed_work(system_long_wq, &m->mend, HZ);
}

void mios_mend_exit(struct mios_mount *m)
{
	disable_delayed_work_sync(&m->mend);
}
