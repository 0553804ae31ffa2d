// SPDX-License-Identifier: GPL-2.0
/*
 * System V segments in the image: which there are, and how often each instance
 * has them attached.  Look-ups are local loads, making and removing are changes
 * as of names.  Called by mios/memory/ipc/, and after a death.
 */
#include "../../inject/inject.h"
#include "segment_table.h"

MIOS_INJECT_UNIT(free_open);
MIOS_INJECT_UNIT(unjudged);

#define FREEING		1ull
#define FILE_MODE	0100600u

/* As many as are looked at in one go. */
#define SWEEP		1024

static u32 attached_sum(const struct mios_fs *fs, u32 slot)
{
	u32 sum = 0, i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		sum += READ_ONCE(*mios_attached_at(fs, i, slot));
	return sum;
}

static void segment_read(struct mios_fs *fs, u32 slot, struct mios_fs_seg *seg)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	u64 key = READ_ONCE(s->key), pids = READ_ONCE(s->pids);
	u64 owner = READ_ONCE(s->owner), creator = READ_ONCE(s->creator);
	u64 inode = READ_ONCE(s->inode);

	*seg = (struct mios_fs_seg) {
		.inode = inode, .size = READ_ONCE(s->size),
		.id = READ_ONCE(inode_at(fs, inode)->id),
		.atime = READ_ONCE(s->atime), .dtime = READ_ONCE(s->dtime),
		.ctime = READ_ONCE(s->ctime), .key = key,
		.sequence = mios_sequence_of_key(key),
		.mode = READ_ONCE(s->mode),
		.uid = owner, .gid = owner >> 32, .cuid = creator,
		.cgid = creator >> 32, .cpid = pids, .lpid = pids >> 32,
	};
}

int mios_fs_segment_look(struct mios_fs *fs, u32 slot, struct mios_fs_seg *seg)
{
	const u64 *sequence = sequence_of_segments(fs);
	u64 begun;
	int tries;

	if (!mios_segment_exists(fs, slot))
		return -ENOENT;
	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		segment_read(fs, slot, seg);
		if (mios_read_again(sequence, begun))
			continue;
		if (!inode_exists(fs, seg->inode) ||
		    (seg->mode & MIOS_FS_SEGMENT_DEST &&
		     !attached_sum(fs, slot)))
			return -ENOENT;
		return 0;
	}
	return -EAGAIN;
}

int mios_fs_segment_stat(struct mios_fs *fs, u32 slot, struct mios_fs_seg *seg)
{
	int err = mios_fs_segment_look(fs, slot, seg);

	if (!err)
		seg->attached = attached_sum(fs, slot);
	return err;
}

int mios_fs_segment_find(struct mios_fs *fs, u32 key, u32 *slot,
			 struct mios_fs_seg *seg)
{
	const u64 *sequence = sequence_of_segments(fs);
	u64 begun, *link;
	int tries, err;

	for (tries = 0; tries < READ_TRIES; tries++) {
		begun = mios_read_begin(sequence);
		*slot = mios_segment_of_key(fs, key, &link);
		err = mios_fs_segment_stat(fs, *slot, seg);
		if (!mios_read_again(sequence, begun))
			return err;
	}
	return -EAGAIN;
}

static int make(struct mios_fs *fs, struct mios_fs_seg *seg, u64 now, u32 *slot)
{
	const struct mios_fs_attr attr = {
		.mode = FILE_MODE, .uid = seg->uid, .gid = seg->gid,
		.size = seg->size, .atime = now, .mtime = now, .ctime = now,
	};
	u64 owner = upper_lower(seg->gid, seg->uid), inode, *link;
	struct mios_fs_segment *s;
	int err;

	if (seg->key &&
	    mios_segment_of_key(fs, seg->key, &link) < MIOS_FS_SEGMENTS)
		return -EEXIST;
	*slot = mios_segment_take(fs);
	if (*slot == MIOS_FS_SEGMENTS)
		return -ENOSPC;
	err = mios_inode_make(fs, &attr, 1, 0, &inode);
	if (err)
		return err;
	s = mios_segment_record(fs, *slot);
	seg->sequence = mios_sequence_next(READ_ONCE(s->key));
	mios_tx_put(fs, &s->inode, inode);
	mios_tx_put(fs, &s->key, upper_lower(seg->sequence, seg->key));
	mios_tx_put(fs, &s->mode, seg->mode);
	mios_tx_put(fs, &s->owner, owner);
	mios_tx_put(fs, &s->creator, owner);
	mios_tx_put(fs, &s->size, seg->size);
	mios_tx_put(fs, &s->atime, 0);
	mios_tx_put(fs, &s->dtime, 0);
	mios_tx_put(fs, &s->ctime, seg->ctime);
	mios_tx_put(fs, &s->pids, seg->cpid);
	mios_tx_put(fs, &s->freeing, 0);
	mios_segment_key_put(fs, *slot, seg->key);
	mios_tx_raise(fs, sequence_of_segments(fs));
	mios_tx_apply(fs);
	return 0;
}

int mios_fs_segment_make(struct mios_fs *fs, struct mios_fs_seg *seg, u64 now,
			 u32 *slot)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (err)
			return err;
		err = make(fs, seg, now, slot);
		mios_tx_end(fs);
	} while (mios_part_grown(fs, &err));
	return err;
}

static bool is_that(struct mios_fs *fs, u32 slot, u32 sequence)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);

	return READ_ONCE(s->inode) &&
	       mios_sequence_of_key(READ_ONCE(s->key)) == sequence;
}

/* With the lock; its maker is always the same. */
static int judged_holds(struct mios_fs *fs, u32 slot,
			const struct mios_fs_seg *judged)
{
	if (!is_that(fs, slot, judged->sequence))
		return -ESTALE;
	if (judged->by & MIOS_FS_BY_UID && !inject_unjudged &&
	    (u32)READ_ONCE(mios_segment_record(fs, slot)->owner) != judged->uid)
		return -EAGAIN;
	return 0;
}

static int set(struct mios_fs *fs, u32 slot, const struct mios_fs_seg *judged,
	       const struct mios_fs_seg *to)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	int err = judged_holds(fs, slot, judged);

	if (err)
		return err;
	mios_tx_put(fs, &s->mode, (s->mode & ~0777ull) | (to->mode & 0777));
	mios_tx_put(fs, &s->owner, upper_lower(to->gid, to->uid));
	mios_tx_put(fs, &s->ctime, to->ctime);
	mios_tx_raise(fs, sequence_of_segments(fs));
	return 0;
}

int mios_fs_segment_set(struct mios_fs *fs, u32 slot,
			const struct mios_fs_seg *judged,
			const struct mios_fs_seg *to)
{
	int err = mios_tx_begin(fs);

	return err ? err : mios_tx_finish(fs, set(fs, slot, judged, to));
}

static bool is_kept(const struct mios_fs *fs, u32 slot)
{
	return attached_sum(fs, slot) &&
	       !inject_free_open;
}

/* ATTACH: nobody has it, and nobody gets it any more.  Its file, or 0: it stays. */
static u64 segment_free(struct mios_fs *fs, u32 slot)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	u64 inode = READ_ONCE(s->inode);
	bool kept = is_kept(fs, slot);

	/* Who attaches what others keep is not turned away. */
	if (!kept) {
		WRITE_ONCE(s->freeing, FREEING);
		smp_mb(); /* ATTACH */
		kept = is_kept(fs, slot);
	}
	if (kept || !inode_exists(fs, inode)) {
		WRITE_ONCE(s->freeing, 0);
		return 0;
	}
	mios_tx_put(fs, &s->inode, 0);
	mios_tx_put(fs, &s->freeing, 0);
	mios_segment_give(fs, slot);
	mios_links_add(fs, inode, -1);
	mios_tx_raise(fs, sequence_of_segments(fs));
	mios_tx_apply(fs);
	smp_mb(); /* LAST */
	return inode;
}

u64 mios_segment_sweep(struct mios_fs *fs, u32 *slot)
{
	u32 nr = mios_fs_segments(fs), left = SWEEP;
	u64 inode = 0;

	for (; *slot < nr && !inode && left; ++*slot, left--) {
		struct mios_fs_segment *s = mios_segment_record(fs, *slot);

		if (READ_ONCE(s->inode) &&
		    READ_ONCE(s->mode) & MIOS_FS_SEGMENT_DEST)
			inode = segment_free(fs, *slot);
	}
	return inode;
}

int mios_fs_segment_sweep(struct mios_fs *fs, u32 *slot, u64 *inode)
{
	int err;

	do {
		err = mios_tx_begin(fs);
		if (err)
			return err;
		*inode = mios_segment_sweep(fs, slot);
		mios_tx_end(fs);
	} while (!*inode && *slot < mios_fs_segments(fs));
	return !!*inode;
}

int mios_fs_segment_remove(struct mios_fs *fs, u32 slot,
			   const struct mios_fs_seg *judged, u64 *inode)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	int err = mios_tx_begin(fs);

	if (err)
		return err;
	err = judged_holds(fs, slot, judged);
	if (!err) {
		mios_tx_put(fs, &s->mode, s->mode | MIOS_FS_SEGMENT_DEST);
		mios_segment_key_drop(fs, slot);
		mios_tx_raise(fs, sequence_of_segments(fs));
		mios_tx_apply(fs);
		*inode = segment_free(fs, slot);
	}
	mios_tx_end(fs);
	return err;
}

static void attached_add(struct mios_fs *fs, u32 slot, int more)
{
	u32 *count = mios_attached_at(fs, fs->pool->self, slot);
	u32 was = READ_ONCE(*count);

	/* Each failure is another CPU's success. */
	while (!try_cmpxchg(count, &was, was + more))
		;
}

int mios_fs_segment_attach(struct mios_fs *fs, u32 slot, u32 sequence)
{
	attached_add(fs, slot, 1);
	/* ATTACH */
	if (!READ_ONCE(mios_segment_record(fs, slot)->freeing) &&
	    is_that(fs, slot, sequence))
		return 0;
	attached_add(fs, slot, -1);
	return -ESTALE;
}

void mios_fs_segment_attach_again(struct mios_fs *fs, u32 slot)
{
	attached_add(fs, slot, 1);
}

bool mios_fs_segment_detach(struct mios_fs *fs, u32 slot)
{
	attached_add(fs, slot, -1);
	return READ_ONCE(mios_segment_record(fs, slot)->mode) & MIOS_FS_SEGMENT_DEST &&
	       !attached_sum(fs, slot);
}

void mios_fs_segment_stamp(struct mios_fs *fs, u32 slot, bool attached,
			   u64 seconds, u32 pid)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	u32 maker = READ_ONCE(s->pids);

	WRITE_ONCE(s->pids, upper_lower(pid, maker));
	if (attached)
		WRITE_ONCE(s->atime, seconds);
	else
		WRITE_ONCE(s->dtime, seconds);
}

/* The dead has nothing attached. */
void mios_attached_forget(struct mios_fs *fs, u32 instance)
{
	u32 nr = mios_fs_segments(fs), slot;

	for (slot = 0; slot < nr; slot++)
		if (READ_ONCE(*mios_attached_at(fs, instance, slot)))
			WRITE_ONCE(*mios_attached_at(fs, instance, slot), 0);
}
