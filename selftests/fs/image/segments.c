// SPDX-License-Identifier: GPL-2.0
/*
 * Segments, made, attached and removed by several instances in turn: keys, ids,
 * who keeps one, and what a death lets go.
 */
#include "fstest.h"

static int make(struct mios_fs *fs, u32 key, struct mios_fs_seg *seg, u32 *slot)
{
	*seg = (struct mios_fs_seg) {
		.key = key, .mode = 0640, .uid = 5, .gid = 6, .size = 8000,
		.ctime = 7, .cpid = 8,
	};
	return mios_fs_segment_make(fs, seg, 9, slot);
}

static void found(struct mios_fs *fs, u32 key, u32 slot, u32 attached)
{
	struct mios_fs_seg seg;
	u32 at;

	CHECK(!mios_fs_segment_find(fs, key, &at, &seg));
	CHECK(at == slot && seg.key == key && seg.attached == attached);
	CHECK(seg.mode == 0640 && seg.uid == 5 && seg.cgid == 6);
	CHECK(seg.size == 8000 && seg.ctime == 7 && seg.cpid == 8);
}

static void attached(struct mios_fs *one, struct mios_fs *two)
{
	struct mios_fs_seg seg, same;
	u32 slot, other;

	CHECK(!make(one, 77, &seg, &slot));
	CHECK(!mios_fs_segment_attach(one, slot, seg.sequence));
	CHECK(!mios_fs_segment_attach(two, slot, seg.sequence));
	CHECK(mios_fs_segment_attach(two, slot, seg.sequence + 1) == -ESTALE);
	found(one, 77, slot, 2);
	CHECK(!fs_segment_remove(two, slot, &seg));
	CHECK(mios_fs_segment_find(two, 77, &other, &same) == -ENOENT);
	/* By its id it may be attached still, until the last lets go. */
	CHECK(!mios_fs_segment_stat(one, slot, &same) && !same.key);
	CHECK(!mios_fs_segment_attach(two, slot, seg.sequence));
	CHECK(!mios_fs_segment_detach(two, slot));
	CHECK(!mios_fs_segment_detach(two, slot));
	WHOLE(one, 0);
	CHECK(mios_fs_segment_detach(one, slot));
	CHECK(mios_fs_segment_stat(one, slot, &same) == -ENOENT);
	CHECK(!fs_sweep(one));
	CHECK(mios_fs_segment_attach(two, slot, seg.sequence) == -ESTALE);
	WHOLE(two, 0);
}

/* The dead has it attached, and it is to go. */
static void dies(struct world *w)
{
	struct mios_fs_seg seg, same;
	u32 slot;

	CHECK(!make(&w->fs[3], 78, &seg, &slot));
	CHECK(!mios_fs_segment_attach(&w->fs[1], slot, seg.sequence));
	CHECK(!mios_fs_segment_attach(&w->fs[2], slot, seg.sequence));
	CHECK(!fs_segment_remove(&w->fs[3], slot, &seg));
	CHECK(!fs_recover(&w->fs[3], 1, 1));
	CHECK(!mios_fs_segment_stat(&w->fs[3], slot, &same));
	CHECK(same.attached == 1);
	CHECK(!fs_recover(&w->fs[3], 2, 1));
	CHECK(mios_fs_segment_stat(&w->fs[3], slot, &same) == -ENOENT);
	WHOLE(&w->fs[3], 0);
}

/* Of the only instance that has died here the second boot is up. */
static bool later(u32 instance, u32 epoch)
{
	return epoch < 2;
}

/* Somebody mounts it, and looks what the first boot of 1 has left. */
static void lives(struct world *w)
{
	struct mios_fs *one = &w->fs[1], *three = &w->fs[3];
	u64 file = fs_make(three, MIOS_FS_ROOT, "f", 0100644), id;
	struct mios_fs_place at = fs_place(three, MIOS_FS_ROOT, "f");
	struct mios_fs_seg seg, same;
	u32 slot;

	id = inode_at(three, file)->id;
	CHECK(!mios_fs_open(one, file, id));
	CHECK(!mios_fs_remove(three, &at, false, 1));
	CHECK(!make(three, 79, &seg, &slot));
	CHECK(!mios_fs_segment_attach(one, slot, seg.sequence));
	CHECK(!fs_segment_remove(three, slot, &seg));
	three->later = later;
	CHECK(!fs_recover(three, 1, 1));
	CHECK(!mios_fs_segment_stat(three, slot, &same) && same.attached == 1);
	CHECK(inode_at(three, file)->id == id);
	/* It dies, too. */
	CHECK(!fs_recover(three, 1, 2));
	CHECK(mios_fs_segment_stat(three, slot, &same) == -ENOENT);
	CHECK(!inode_at(three, file)->id);
	WHOLE(three, 0);
}

static void many(struct mios_fs *one, struct mios_fs *two)
{
	struct mios_fs_seg seg;
	u32 nr, slot;

	for (nr = 0; !make(nr & 1 ? one : two, 0, &seg, &slot); nr++)
		;
	CHECK(nr == MIOS_FS_SEGMENTS);
	CHECK(make(one, 0, &seg, &slot) == -ENOSPC);
	WHOLE(one, 0);
	/* By a key it is found among all. */
	CHECK(!mios_fs_segment_stat(two, 5, &seg));
	CHECK(!fs_segment_remove(two, 5, &seg));
	CHECK(!make(one, 4711, &seg, &slot) && slot == 5);
	found(two, 4711, 5, 0);
	for (slot = 0; slot < MIOS_FS_SEGMENTS; slot++) {
		CHECK(!mios_fs_segment_stat(two, slot, &seg));
		CHECK(!fs_segment_remove(two, slot, &seg));
	}
	CHECK(mios_fs_segment_stat(two, slot, &seg) == -ENOENT);
	WHOLE(two, 0);
}

/* Who has judged it as its owner is that no more. */
static void owner_changes(struct mios_fs *one, struct mios_fs *two, u32 slot)
{
	struct mios_fs_seg seg, next;

	CHECK(!mios_fs_segment_stat(one, slot, &seg));
	seg.by = MIOS_FS_BY_UID;
	next = seg;
	next.uid++;
	CHECK(!mios_fs_segment_set(two, slot, &seg, &next));
	CHECK(mios_fs_segment_set(one, slot, &seg, &seg) == -EAGAIN);
	CHECK(fs_segment_remove(one, slot, &seg) == -EAGAIN);
}

/* Each place in turn: so an id comes back after 512 times all sequences. */
static void ids(struct mios_fs *fs)
{
	u32 sequence = 0, slot, i, first;
	struct mios_fs_seg seg;

	CHECK(!make(fs, 0, &seg, &first));
	for (i = 0; i < 2 * MIOS_FS_FIRST_SEGMENTS; i++) {
		sequence = seg.sequence;
		CHECK(!fs_segment_remove(fs, (first + i) %
					      MIOS_FS_FIRST_SEGMENTS, &seg));
		CHECK(!make(fs, 0, &seg, &slot));
		CHECK(slot == (first + i + 1) % MIOS_FS_FIRST_SEGMENTS);
	}
	CHECK(slot == first && seg.sequence <= sequence + 2);
	CHECK(!fs_segment_remove(fs, slot, &seg));
}

void test_segments(void)
{
	struct mios_fs *one, *two;
	struct mios_fs_seg seg, next;
	struct world w;
	u32 slot, same;

	/* Eight parts of segments, one of inodes. */
	world_make_of(&w, 16);
	one = &w.fs[1];
	two = &w.fs[2];
	CHECK(!make(one, 42, &seg, &slot));
	CHECK(make(two, 42, &next, &same) == -EEXIST);
	found(two, 42, slot, 0);
	next = seg;
	next.mode = 0600;
	next.uid = 50;
	CHECK(!mios_fs_segment_set(two, slot, &seg, &next));
	CHECK(!mios_fs_segment_stat(one, slot, &next));
	CHECK(next.mode == 0600 && next.uid == 50 && next.cuid == 5);
	owner_changes(one, two, slot);
	CHECK(!fs_segment_remove(two, slot, &seg));
	CHECK(fs_segment_remove(two, slot, &seg) == -ESTALE);
	CHECK(mios_fs_segment_set(two, slot, &seg, &next) == -ESTALE);
	CHECK(!make(one, 42, &next, &same));
	CHECK(same != slot || next.sequence != seg.sequence);
	CHECK(!fs_segment_remove(two, same, &next));
	ids(one);
	attached(one, two);
	many(one, two);
	dies(&w);
	lives(&w);
	world_forget(&w);
}
