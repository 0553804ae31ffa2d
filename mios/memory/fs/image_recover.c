// SPDX-License-Identifier: GPL-2.0
/*
 * The death of an instance.  Called by any survivor once the dead one is
 * fenced and everybody has acknowledged that, and again by another one where
 * the first died in it; the lock keeps two apart, and from changes.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_SWITCH(keep_open, "leave what the dead had open");

static void opens_forget(struct mios_fs *fs, u32 instance)
{
	u64 bit = 1ull << instance;
	u64 number;

	for (number = 1; number < fs->nr_inodes; number++) {
		u64 *open = &fs->inode[number].open;
		u64 was = READ_ONCE(*open);

		/* Each failure is another instance's success. */
		while (was & bit && !try_cmpxchg(open, &was, was & ~bit))
			;
	}
}

void mios_fs_dequeue(struct mios_fs *fs, u32 instance, u32 epoch)
{
	mios_qlock_recover(&fs->recovery, instance, epoch);
	mios_qlock_recover(&fs->recovery, MIOS_FS_INSTANCES + instance, epoch);
}

int mios_fs_recover(struct mios_fs *fs, u32 instance, u32 epoch)
{
	u64 number, freed;
	bool gone;
	int err;

	if (instance >= MIOS_FS_INSTANCES)
		return -EINVAL;
	mios_fs_dequeue(fs, instance, epoch);
	err = mios_tx_begin_recovery(fs);
	if (err)
		return err;
	gone = !fs->later || !fs->later(instance, epoch);
	if (gone && !inject_keep_open)
		opens_forget(fs, instance);
	freed = mios_pool_recover(fs->pool, instance, epoch,
				  mios_page_is_named, fs);
	mios_used_add(fs, -freed);
	if (gone && !inject_keep_open)
		mios_attached_forget(fs, instance);
	mios_segments_sweep(fs);
	for (number = 1; number < fs->nr_inodes; number++) {
		if (!READ_ONCE(fs->inode[number].id))
			continue;
		/* Only now is every page kept or free for who comes next. */
		mios_cutter_forget(fs, number, instance, epoch);
		mios_inode_reap(fs, number);
	}
	mios_tx_end(fs);
	return 0;
}
