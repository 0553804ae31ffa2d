// SPDX-License-Identifier: GPL-2.0
/*
 * The death of an instance.  Called by any survivor once the dead one is
 * fenced and everybody has acknowledged that, and again by another one where
 * the first died in it.  The lock keeps two apart, and from changes, for a
 * bounded time: it is let go after every piece, however large the pool or a file
 * is.  What somebody else does in between is what he may do at any time: only
 * the dead's own pages and files are touched, and each by what it says itself.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_SWITCH(keep_open, "leave what the dead had open");

/* As many as are looked at in one go; as have one word looked at. */
#define FILES	256
#define OPENS	4096

/* The next one, as long as @left says. */
static bool number_next(struct mios_fs *fs, struct mios_fs_recovery *r,
			u32 *left)
{
	u64 next = *left ? mios_fs_inode_next(fs, r->number) : 0;

	if (!next)
		return false;
	r->number = next;
	--*left;
	return true;
}

/* Some; are there more? */
static bool opens_forget(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	u64 bit = 1ull << r->pool.instance;
	u32 left = OPENS;

	while (number_next(fs, r, &left)) {
		u64 *open = &inode_at(fs, r->number)->open;
		u64 was = READ_ONCE(*open);

		/* Each failure is another instance's success. */
		while (was & bit && !try_cmpxchg(open, &was, was & ~bit))
			;
	}
	if (!left)
		return true;
	r->number = 0;
	return false;
}

void mios_fs_dequeue(struct mios_fs *fs, u32 instance, u32 epoch)
{
	mios_qlock_recover(&fs->recovery, instance, epoch);
	mios_qlock_recover(&fs->recovery, MIOS_FS_INSTANCES + instance, epoch);
}

/* A later boot that begins meanwhile waits for the lock before it opens anything. */
static bool opens_recover(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	if (inject_keep_open ||
	    (fs->later && fs->later(r->pool.instance, r->pool.epoch))) {
		r->number = 0;
		return false;
	}
	if (opens_forget(fs, r))
		return true;
	mios_attached_forget(fs, r->pool.instance);
	return false;
}

static bool pages_recover(struct mios_fs *fs, struct mios_pool_recovery *of)
{
	u64 before = of->freed;
	bool more = mios_pool_recover(fs->pool, of, mios_page_is_named, fs);

	mios_used_add(fs, before - of->freed);
	return more;
}

static bool segments_recover(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	u64 inode = mios_segment_sweep(fs, &r->slot);

	if (inode && !mios_inode_reap_begin(fs, inode))
		r->reap = inode;
	return r->slot < mios_fs_segments(fs);
}

/* Up to the first that is to be freed, or some. */
static bool files_recover(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	u32 left = FILES;

	while (number_next(fs, r, &left)) {
		if (!READ_ONCE(inode_at(fs, r->number)->id))
			continue;
		/* Every page is kept or free by now for who comes next. */
		mios_cutter_forget(fs, r->number, r->pool.instance,
				   r->pool.epoch);
		if (mios_inode_reap_begin(fs, r->number))
			continue;
		r->reap = r->number;
		return true;
	}
	return !left;
}

static bool stage_recover(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	switch (r->stage) {
	case MIOS_FS_RECOVER_OPENS:
		return opens_recover(fs, r);
	case MIOS_FS_RECOVER_LOCKS:
		return mios_filelocks_forget(fs, r->pool.instance,
					     r->pool.epoch);
	case MIOS_FS_RECOVER_PAGES:
		return pages_recover(fs, &r->pool);
	case MIOS_FS_RECOVER_SEGMENTS:
		return segments_recover(fs, r);
	case MIOS_FS_RECOVER_FILES:
		break;
	}
	return files_recover(fs, r);
}

int mios_fs_recover(struct mios_fs *fs, struct mios_fs_recovery *r)
{
	bool more;
	int err;

	if (r->pool.instance >= MIOS_FS_INSTANCES)
		return -EINVAL;
	if (r->stage == MIOS_FS_RECOVER_OPENS && !r->number)
		mios_fs_dequeue(fs, r->pool.instance, r->pool.epoch);
	err = mios_tx_begin_recovery(fs);
	if (err)
		return err;
	if (r->reap)
		r->reap = mios_inode_reap_end(fs, r->reap);
	more = r->reap || stage_recover(fs, r);
	mios_tx_end(fs);
	if (r->reap)
		mios_fs_reap_pages(fs, r->reap);
	if (more || r->reap)
		return 1;
	return r->stage++ < MIOS_FS_RECOVER_FILES;
}

int mios_fs_recover_locks(struct mios_fs *fs, u32 instance, u32 epoch)
{
	bool more;
	int err;

	if (instance >= MIOS_FS_INSTANCES)
		return -EINVAL;
	err = mios_tx_begin_recovery(fs);
	if (err)
		return err;
	more = mios_filelocks_forget(fs, instance, epoch);
	mios_tx_end(fs);
	return more;
}
