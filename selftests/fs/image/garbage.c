// SPDX-License-Identifier: GPL-2.0
/*
 * A peer writes anything over image and records while names and pages come and
 * go: nothing outside the pool is touched (AddressSanitizer looks), and every
 * call ends.
 */
#include "../../../mios/memory/fs/attributes.h"
#include "../../../mios/memory/fs/share.h"
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define NAMES	16

enum { LOCK = 4, FILELOCKS = 5 };	/* of spans */

static void scribble(struct world *w, u64 *seed)
{
	/*
	 * Super, redo records, first buckets, inodes and entries; the lock;
	 * the first locks of files.  Or records of pages, or users.
	 */
	static const u32 spans[] = {
		128, 2 * 4096, MIOS_FS_BUCKETS_AT + 3 * 4096,
		MIOS_FS_INODES_AT + 73 * 4096, 1024, 2 * 4096,
	};
	u32 which = test_random(seed) % 6;
	u8 *image = mios_pool_memory(&w->pool[0], w->image);
	u8 *records = test_random(seed) % 2 ? w->memory : w->far;
	u8 *others = test_random(seed) % 2 ? records :
		     w->parts[0]->at[MIOS_FS_USERS_KIND][1];
	u8 *from = test_random(seed) % 4 ? image : others;
	u32 span = from == image ? spans[which] : 12 * 4096;
	u64 value = (u64)test_random(seed) << 32 | test_random(seed);

	if (test_random(seed) % 3)
		value %= 64;
	if (from == image && which == LOCK)
		from += MIOS_FS_LOCK_AT;
	if (from == image && which == FILELOCKS)
		from += MIOS_FS_FILELOCKS_AT;
	memcpy(from + test_random(seed) % (span / 8) * 8, &value,
	       sizeof(value));
}

static void remove_some(struct world *w, u32 self, u64 inode,
			const struct mios_fs_cut *cut)
{
	struct mios_fs *fs = &w->fs[self];
	u64 index = cut->first, phys;
	struct mios_page page;

	while (mios_fs_next(fs, inode, &index, &phys) && index <= cut->end)
		if (!mios_fs_take(fs, inode, index - 1, &page))
			mios_fs_give(fs, inode, &page);
	mios_fs_cut_end(fs, inode, cut);
}

static void segments(struct mios_fs *fs, u64 *seed)
{
	struct mios_fs_seg seg = { .key = test_random(seed) % 4, .size = 1 };
	u32 slot;

	if (mios_fs_segment_find(fs, seg.key, &slot, &seg))
		mios_fs_segment_make(fs, &seg, 0, &slot);
	slot = test_random(seed) % (MIOS_FS_SEGMENTS + 1);
	if (mios_fs_segment_stat(fs, slot, &seg))
		return;
	if (!mios_fs_segment_attach(fs, slot, seg.sequence))
		mios_fs_segment_detach(fs, slot);
	mios_fs_segment_set(fs, slot, &seg, &seg);
	fs_segment_remove(fs, slot, &seg);
	fs_sweep(fs);
}

static void attributes(struct mios_fs *fs, u64 *seed)
{
	struct mios_fs_judged file = fs_judged(fs, test_random(seed) % 20);
	struct mios_fs_holder was = { }, holder = { test_random(seed) % 20, 0 };

	holder.id = inode_at(fs, holder.inode)->id;
	if (!mios_fs_attributes(fs, file.inode, file.id, &was))
		mios_fs_attributes_set(fs, &file, &was, &holder, 1);
	if (was.inode)
		fs_reap(fs, was.inode);
}

static void filelocks(struct mios_fs *fs, u64 *seed)
{
	struct mios_fs_lock_wish other, wish = {
		.inode = 1 + test_random(seed) % 4,
		.id = test_random(seed) % 4,
		.kind = 1u << test_random(seed) % 3,
		.exclusive = test_random(seed) % 2,
		.owner = test_random(seed) % 3,
		.first = test_random(seed) % 64,
	};

	wish.last = wish.first + test_random(seed) % 64;
	if (wish.kind == MIOS_FS_FILELOCK_FLOCK) {
		wish.first = 0;
		wish.last = ~0ull;
	}
	mios_fs_lock_test(fs, &wish, &other);
	switch (mios_fs_lock_take(fs, &wish, test_random(seed) % 2)) {
	case MIOS_FS_LOCK_WAITS:
		mios_fs_lock_take(fs, &wish, true);
		if (test_random(seed) % 2)
			mios_fs_lock_forgo(fs, &wish);
		break;
	case MIOS_FS_LOCK_MORE:
		mios_fs_lock_trim(fs, &wish);
		break;
	}
	if (test_random(seed) % 4 == 0)
		mios_fs_lock_drop(fs, &wish);
}

static void be_cutter(struct world *w, u32 self, u64 inode, u64 *seed)
{
	struct mios_fs *fs = &w->fs[self];
	struct mios_fs_cut cut;

	if (mios_fs_cutter(fs, inode))
		return;
	if (mios_fs_cut(fs, inode, true, &cut))
		remove_some(w, self, inode, &cut);
	mios_fs_hole(fs, inode, test_random(seed), test_random(seed) % 1024);
	mios_fs_cutter_end(fs, inode);
}

static void shares(const struct mios_fs *fs, u64 *seed)
{
	u32 slot = test_random(seed) % (MIOS_FS_USERS + 1);
	u32 uid = 1 + test_random(seed) % 8;
	struct mios_fs_payer payer;

	mios_fs_share_fits(fs, uid, test_random(seed));
	mios_fs_payer_next(fs, &slot, &payer);
}

static void work(struct world *w, u64 *seed)
{
	u32 self = 1 + test_random(seed) % 2;
	struct mios_fs *fs = &w->fs[self];
	u64 inode = test_random(seed) % 20, other, stamp;
	char text[2] = { 'a' + test_random(seed) % NAMES };
	char to[2] = { 'a' + test_random(seed) % NAMES };
	struct mios_fs_place at = fs_place(fs, MIOS_FS_ROOT, text), other_at;
	struct mios_fs_judged file = fs_judged(fs, inode);
	struct mios_fs_attr attr = fs_attr(test_random(seed) & 1 ? 0040755 :
					   0100644);

	switch (test_random(seed) % 12) {
	case 0:
	case 1:
		mios_fs_make(fs, &at, &attr, &inode);
		break;
	case 2:
		at.dir = file;
		mios_fs_remove(fs, &at, test_random(seed) & 1, 1);
		break;
	case 3:
		other_at = fs_place(fs, inode, to);
		mios_fs_rename(fs, &at, &other_at, test_random(seed) & 1, 1);
		break;
	case 4:
		at.file = file;
		mios_fs_link(fs, &at, test_random(seed) & 1, 1);
		break;
	case 5:
		if (mios_fs_stat(fs, inode, &attr))
			break;
		attr.size = test_random(seed);
		mios_fs_setattr(fs, &file, &attr, test_random(seed));
		break;
	case 6:
	case 7:
		fs_fault(fs, &w->source[self], inode,
			 test_random(seed) % 1024, &other);
		break;
	case 8:
		be_cutter(w, self, inode, seed);
		break;
	case 9:
		mios_fs_lookup(fs, MIOS_FS_ROOT, &at.name, &inode, &stamp);
		mios_fs_stamp_holds(fs, stamp ^ test_random(seed));
		shares(fs, seed);
		break;
	case 10:
		mios_fs_open(fs, inode, test_random(seed) % 8);
		mios_fs_close(fs, inode);
		fs_reap(fs, inode);
		break;
	case 11:
		if (test_random(seed) % 64 == 0)
			fs_recover(fs, 3 - self, 1);
		break;
	}
}

/* Locks of the dead lead to each other, and are free already. */
static void filelocks_circle(void)
{
	struct mios_fs_recovery r = { .pool = { .instance = 1, .epoch = 1 } };
	struct mios_fs_filelocks *table;
	u32 i, nr = 0;
	struct world w;

	world_make(&w);
	table = filelocks_of(&w.fs[2]);
	table->chain[1] = 1;
	table->free = 2;
	for (i = 1; i <= 2; i++) {
		table->lock[i].next = 3 - i;
		table->lock[i].file = upper_lower(MIOS_FS_FILELOCK_POSIX, 1);
		table->lock[i].who = 1 | 1 << MIOS_FS_FILELOCK_EPOCH;
	}
	while (mios_fs_recover(&w.fs[2], &r) > 0)
		CHECK(nr++ < MIOS_FS_FILELOCKS);
	world_forget(&w);
}

static void lock_anew(struct world *w)
{
	mios_qlock_format(w->fs[0].lock.header, MIOS_FS_PLACES);
	world_locks(w);
}

void test_fs_garbage(u64 seed, unsigned long rounds)
{
	const struct mios_fs_share share = { 100, 100 };
	struct world w;
	u32 i;

	filelocks_circle();
	world_make(&w);
	CHECK(!mios_fs_share_set(&w.fs[0], &share));
	for (i = 0; i < rounds; i++) {
		scribble(&w, &seed);
		work(&w, &seed);
		if (i % 8 == 2)
			segments(&w.fs[2], &seed);
		if (i % 8 == 6)
			attributes(&w.fs[2], &seed);
		if (i % 4 == 1)
			filelocks(&w.fs[1 + i / 4 % 2], &seed);
		/* What would refuse everything from here on. */
		if (i % 8 == 0)
			lock_anew(&w);
		if (i % 8 == 4)
			memset(w.pool[0].header->dead, 0,
			       sizeof(w.pool[0].header->dead));
	}
	world_forget(&w);
}
