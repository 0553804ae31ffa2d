// SPDX-License-Identifier: GPL-2.0
/*
 * What is still to be done when nobody waits for it any more.  Pages are to be
 * removed from files: they were pinned, or their cutter is dead, or gave up;
 * tried once a second, by each instance that has reason to.  Files are to be
 * closed that were not, for the same reason, or their freeing be finished whose
 * user was killed in it.  Locks of files are to be let go of.  Segments are to be
 * freed that were detached last.  What a dead instance had is to be freed, if
 * somebody had the lock for too long when its death was told.
 */
#include "../../inject/inject.h"
#include "vfs.h"

MIOS_INJECT_TIMES(mend_short, "no memory to mend a file");

/* It is to look, in a second. */
void mios_mend_soon(struct mios_mount *m)
{
	queue_delayed_work(system_long_wq, &m->mend, HZ);
}

/* Sleeps, and does not fail: what is forgotten nobody would ever free. */
static void number_put(struct xarray *numbers, u64 number)
{
	xa_store(numbers, number, xa_mk_value(1), GFP_NOFS | __GFP_NOFAIL);
}

/* Nobody has it open, but a page of it is pinned. */
void mios_mend_file(struct mios_mount *m, u64 number)
{
	number_put(&m->stuck, number);
	mios_mend_soon(m);
}

/* It was begun to be freed, and the end was late. */
void mios_mend_reaped(struct mios_mount *m, u64 number)
{
	number_put(&m->reaped, number);
	mios_mend_soon(m);
}

/* Nobody has a segment attached any more that is to go then; any context. */
void mios_mend_segments(struct mios_mount *m)
{
	WRITE_ONCE(m->sweep, true);
	mod_delayed_work(system_long_wq, &m->mend, 0);
}

/* What nobody else uses is closed, and not kept, awake, by a dentry. */
static void inode_let_go(struct inode *inode)
{
	d_prune_aliases(inode);
	iput(inode);
}

/* NULL: it has gone, or is to be tried later; sets @again then. */
static struct inode *inode_taken(struct mios_mount *m, u64 number, bool *again)
{
	struct inode *inode = mios_inject(mend_short) ? ERR_PTR(-ENOMEM) :
			      mios_inode_get(m->sb, number);

	if (!IS_ERR(inode))
		return inode;
	/* Memory is short, or a change of one that died is yet to be undone. */
	*again |= PTR_ERR(inode) == -ENOMEM || PTR_ERR(inode) == -EAGAIN;
	return NULL;
}

/* Open it once more, and close it as whoever did last; all of them? */
static bool files_close(struct mios_mount *m)
{
	bool all = true;
	unsigned long number;
	void *entry;

	xa_for_each(&m->stuck, number, entry) {
		bool again = false;
		struct inode *inode;

		xa_erase(&m->stuck, number);
		inode = inode_taken(m, number, &again);
		if (inode) {
			set_bit(MIOS_WAS_MAPPED, &mios_inode_of(inode)->flags);
			inode_let_go(inode);
		} else if (again) {
			number_put(&m->stuck, number);
			all = false;
		}
	}
	return all;
}

/* Finish what was begun; all of it? */
static bool files_reap(struct mios_mount *m)
{
	bool all = true;
	unsigned long number;
	void *entry;

	xa_for_each(&m->reaped, number, entry) {
		u64 left = number;

		xa_erase(&m->reaped, number);
		if (mios_file_reaped(m, &left))
			continue;
		number_put(&m->reaped, left);
		all = false;
	}
	return all;
}

/* Segments that are to go; all of them? */
static bool segments_sweep(struct mios_mount *m)
{
	u32 slot = 0;
	u64 inode;
	int found;

	do {
		found = MIOS_PATIENTLY(m, mios_fs_segment_sweep(&m->fs, &slot,
								&inode));
		if (found == 1)
			mios_file_reap(m, inode);
	} while (found == 1);
	return !found;
}

static void mend(struct work_struct *work)
{
	struct mios_mount *m = container_of(to_delayed_work(work),
					    struct mios_mount, mend);
	bool again = false;
	u64 number;

	if (xchg(&m->sweep, false) && !segments_sweep(m))
		again = m->sweep = true;
	again |= !mios_deaths_mend(m);
	again |= !mios_filelocks_mend(m);
	again |= !files_reap(m);
	again |= !files_close(m);
	for (number = mios_fs_inode_next(&m->fs, 0); number;
	     number = mios_fs_inode_next(&m->fs, number)) {
		const struct mios_fs_inode *image = inode_at(&m->fs, number);
		struct inode *inode;

		cond_resched();
		if (!READ_ONCE(image->id) || !mios_has_to_cut(image))
			continue;
		inode = inode_taken(m, number, &again);
		if (!inode)
			continue;
		if (S_ISREG(inode->i_mode))
			mios_cut(inode, false);
		again |= mios_has_to_cut(image);
		inode_let_go(inode);
	}
	if (again)
		mios_mend_soon(m);
}

/* The mount's own worker, while it is mounted. */
void mios_mend_init(struct mios_mount *m)
{
	INIT_DELAYED_WORK(&m->mend, mend);
	xa_init(&m->stuck);
	xa_init(&m->reaped);
}

void mios_mend_exit(struct mios_mount *m)
{
	disable_delayed_work_sync(&m->mend);
	xa_destroy(&m->stuck);
	xa_destroy(&m->reaped);
}
