// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer explores of miosfs: page faults of two instances, against
 * a file that becomes shorter, opening against the end of a file, and readers
 * against a rename.
 */
#include "../pool/explore.h"
#include "../../../mios/memory/fs/tx.h"
#include "mapped.h"

#define FILE_	0100644
#define FREE	4		/* pages that are left */

static struct world w;
static u8 *snapshot;
static u64 file, id, first_free[2];
static bool is_open, is_attached;
static struct mios_fs_seg seg;
static u32 slot;

/* Free pages of a section. */
static u8 *pages(u32 section)
{
	u8 *memory = section ? w.far : w.memory;

	return memory + first_free[section] * MIOS_POOL_PAGE;
}

/* All that is free in a section becomes its own, but for a few pages. */
static void section_spoil(u32 index)
{
	const struct mios_section *section = &w.pool[0].section[index];
	struct mios_pool_record *record = section->page;
	u64 at, first;

	for (first = 0; record[first].word & 15; first++)
		;
	first_free[index] = first;
	for (at = 0; at < (u64)section->nr_extents * MIOS_EXTENT_PAGES; at++)
		if (!(record[at].word & 15) &&
		    (at < first || at >= first + FREE))
			record[at].word = MIOS_PAGE_META;
}

static void make(void)
{
	struct mios_fs_attr attr;

	world_make(&w);
	world_explore(&w);
	fs_make(&w.fs[0], MIOS_FS_ROOT, "b", FILE_);
	file = fs_make(&w.fs[0], MIOS_FS_ROOT, "a", FILE_);
	/* Also where changes are not counted: that is not what is looked for. */
	entry_at(&w.fs[0], 2)->born++;
	fs_size(&w.fs[0], file, 4096 * 4);
	/* The index is there, but no page yet. */
	*fs_page(&w, 0, file, 3) = 1;
	world_release(&w, 0);
	CHECK(!mios_fs_stat(&w.fs[0], file, &attr));
	id = attr.id;
	seg = (struct mios_fs_seg){ .key = 1, .mode = 0600, .size = 4096 };
	CHECK(!mios_fs_segment_make(&w.fs[0], &seg, 1, &slot));
	section_spoil(0);
	section_spoil(1);
	snapshot = malloc(3 * (size_t)MIOS_EXTENT_SIZE);
	CHECK(snapshot);
	memcpy(snapshot, w.memory, MIOS_EXTENT_SIZE);
	memcpy(snapshot + MIOS_EXTENT_SIZE, w.fs[0].super, MIOS_EXTENT_SIZE);
	memcpy(snapshot + 2 * (size_t)MIOS_EXTENT_SIZE, w.far,
	       MIOS_EXTENT_SIZE);
}

static void section_restore(u32 index, u8 *memory, const u8 *from)
{
	const struct mios_section *section = &w.pool[0].section[index];
	u32 i;

	memcpy(memory, from, (first_free[index] + FREE) * MIOS_POOL_PAGE);
	memset(pages(index), 0xff, FREE * MIOS_POOL_PAGE);
	for (i = 0; i < section->nr_extents; i++)
		explore_hot(&section->extent[i].word);
	for (i = 0; i < FREE; i++)
		explore_hot(&section->page[first_free[index] + i].word);
}

/* Headers, records, index pages, and what of the image is ever written. */
static void restore(void)
{
	struct mios_pool_record *record = w.pool[0].section[0].page;
	u8 *image = (u8 *)w.fs[0].super;
	u64 *slot = mios_pool_memory(&w.pool[0],
				     inode_at(&w.fs[0], file)->root & ~4095ull);

	section_restore(0, w.memory, snapshot);
	section_restore(1, w.far, snapshot + 2 * (size_t)MIOS_EXTENT_SIZE);
	memcpy(image, snapshot + MIOS_EXTENT_SIZE,
	       MIOS_FS_INODES_AT + 13 * MIOS_POOL_PAGE);
	memcpy(image + MIOS_FS_ENTRIES_AT,
	       snapshot + MIOS_EXTENT_SIZE + MIOS_FS_ENTRIES_AT, MIOS_POOL_PAGE);
	world_views(&w);
	is_open = false;
	is_attached = false;
	/* The page that the file has, and that of its index. */
	explore_hot(&record[first_free[0] - 1].word);
	explore_hot(&record[first_free[0] - 2].word);
	explore_hot(&slot[0]);
	explore_hot(&slot[3]);
	explore_hot(&inode_at(&w.fs[0], file)->size);
	explore_hot(&inode_at(&w.fs[0], file)->open);
	explore_hot(&inode_at(&w.fs[0], file)->id);
	explore_hot(&inode_at(&w.fs[0], file)->hole);
	explore_hot(&inode_at(&w.fs[0], file)->left);
	explore_hot(&inode_at(&w.fs[0], file)->cutter);
	mapped_restore();
	explore_hot(&w.fs[0].lock.header->tail);
}

/* Until nobody else has the lock. */
#define PATIENTLY(err, call) do {					\
	while ((err = (call)) == -EBUSY)				\
		explore_pause();					\
} while (0)

static void fault(u32 self, struct mios_source *from, u64 index, bool must)
{
	u64 phys;
	u8 *page;
	u32 i;
	int err = fs_fault(&w.fs[self], from, file, index, &phys);

	for (i = 0; i < 2; i++)
		mios_cursor_release(&w.pool[self], &from->cursor[i]);
	if (!must && err == -ERANGE)
		return;
	CHECK(!err);
	page = mios_pool_memory(&w.pool[self], phys);
	CHECK(page[0] == 0 && page[4095] == 0);
}

static void one_faults(void)
{
	fault(1, &w.source[1], 0, true);
}

static void two_faults(void)
{
	fault(2, &w.source[2], 0, true);
}

/* On another CPU. */
static void one_faults_too(void)
{
	fault(1, &w.source[0], 0, true);
}

static void one_faults_late(void)
{
	fault(1, &w.source[1], 0, false);
}

static void two_sizes(u64 size)
{
	struct mios_fs_judged judged = fs_judged(&w.fs[2], file);
	struct mios_fs_attr attr;
	int err;

	CHECK(!mios_fs_stat(&w.fs[2], file, &attr));
	attr.size = size;
	PATIENTLY(err, mios_fs_setattr(&w.fs[2], &judged, &attr,
				       MIOS_FS_SET_SIZE));
	CHECK(!err);
}

static void two_cuts(void)
{
	int err;

	two_sizes(0);
	PATIENTLY(err, mios_fs_cutter(&w.fs[2], file));
	fs_cut(&w, 2, file, NO_PIN);
	mios_fs_cutter_end(&w.fs[2], file);
}

static void one_maps(void)
{
	mapped_by_one(&w, file, 3);
}

static void one_copies(void)
{
	copied_by_one(&w, file, 3);
}

static void two_punches(void)
{
	int err;

	PATIENTLY(err, mios_fs_cutter(&w.fs[2], file));
	mios_fs_hole(&w.fs[2], file, 2, 4);
	unmapped_by_two();
	fs_cut(&w, 2, file, NO_PIN);
	mios_fs_cutter_end(&w.fs[2], file);
}

static void two_punches_pinned(void)
{
	int err;

	PATIENTLY(err, mios_fs_cutter(&w.fs[2], file));
	mios_fs_hole(&w.fs[2], file, 2, 4);
	fs_cut(&w, 2, file, is_pinned() ? 3 : NO_PIN);
	mios_fs_cutter_end(&w.fs[2], file);
}

static void two_shortens(void)
{
	int err;

	PATIENTLY(err, mios_fs_cutter(&w.fs[2], file));
	two_sizes(4096);
	unmapped_by_two();
	fs_cut(&w, 2, file, NO_PIN);
	two_sizes(4 * 4096);
	mios_fs_cutter_end(&w.fs[2], file);
}

static void one_opens(void)
{
	int err;

	is_open = !mios_fs_open(&w.fs[1], file, id);
	if (is_open)
		CHECK(inode_at(&w.fs[1], file)->id == id);
	else
		PATIENTLY(err, fs_reap(&w.fs[1], file));
}

static void two_drops(void)
{
	struct mios_fs_place at = fs_place(&w.fs[2], MIOS_FS_ROOT, "a");
	int err;

	PATIENTLY(err, mios_fs_remove(&w.fs[2], &at, false, 1));
	CHECK(!err);
	PATIENTLY(err, fs_reap(&w.fs[2], at.file.inode));
}

static void two_renames(void)
{
	struct mios_fs_place from = fs_place(&w.fs[2], MIOS_FS_ROOT, "a");
	struct mios_fs_place to = fs_place(&w.fs[2], MIOS_FS_ROOT, "bb");
	int err;

	PATIENTLY(err, mios_fs_rename(&w.fs[2], &from, &to, false, 1));
	CHECK(!err);
}

/* With another file, which is there to be found under the same name. */
static void two_exchanges(void)
{
	struct mios_fs_place a = fs_place(&w.fs[2], MIOS_FS_ROOT, "a");
	struct mios_fs_place b = fs_place(&w.fs[2], MIOS_FS_ROOT, "b");
	int err;

	PATIENTLY(err, mios_fs_exchange(&w.fs[2], &a, &b, 1));
	CHECK(!err);
}

/* There is always one, and never one under both names. */
static void one_looks(void)
{
	struct mios_fs_name a = { "a", 1 }, b = { "b", 1 };
	u64 first = 0, second = 0, stamp, late;
	int err = mios_fs_lookup(&w.fs[1], MIOS_FS_ROOT, &a, &first, &stamp);
	int other = mios_fs_lookup(&w.fs[1], MIOS_FS_ROOT, &b, &second, &late);

	CHECK((!err || err == -EAGAIN) && (!other || other == -EAGAIN));
	if (!err && !other && mios_fs_stamp_holds(&w.fs[1], stamp))
		CHECK(first != second);
}

/* At any moment it has one of the names, whole. */
static void one_reads(void)
{
	struct mios_fs_reading r = { .before = ~0ull };
	struct mios_fs_dirent entry;
	int found = mios_fs_readdir(&w.fs[1], MIOS_FS_ROOT, &r, &entry);

	CHECK(found == 1 || found == -EAGAIN);
	if (found == 1) {
		CHECK(entry.inode == file);
		CHECK(entry.length == (entry.name[0] == 'a' ? 1 : 2));
	}
}

static void restore_segment(void)
{
	u8 *image = (u8 *)w.fs[0].super;
	struct mios_fs_segment *s = (void *)(image + MIOS_FS_SEGMENTS_AT);
	u32 *attached = (u32 *)(image + MIOS_FS_ATTACHED_AT);

	restore();
	explore_hot(sequence_of_segments(&w.fs[0]));
	explore_hot(&s[slot].inode);
	explore_hot(&s[slot].key);
	explore_hot(&s[slot].mode);
	explore_hot(&s[slot].freeing);
	explore_hot(&attached[MIOS_FS_FIRST_SEGMENTS + slot]);
}

static void one_attaches(void)
{
	is_attached = !mios_fs_segment_attach(&w.fs[1], slot, seg.sequence);
}

static void two_removes(void)
{
	int err;

	PATIENTLY(err, fs_segment_remove(&w.fs[2], slot, &seg));
	CHECK(!err);
}

/* 3 has it attached, and it is to go when that is over. */
static void restore_kept(void)
{
	u64 inode = 0;

	restore_segment();
	mios_fs_segment_attach_again(&w.fs[3], slot);
	CHECK(!mios_fs_segment_remove(&w.fs[3], slot, &seg, &inode) && !inode);
}

static void two_sweeps(void)
{
	int err;

	PATIENTLY(err, fs_sweep(&w.fs[2]));
	CHECK(!err);
}

/* Who reads looks at each word of the entry. */
static void restore_names(void)
{
	restore();
	believed_hot(&w.fs[0]);
	explore_hot(&entry_at(&w.fs[0], 1)->inode);
	explore_hot(&entry_at(&w.fs[0], 2)->parent);
	explore_hot(&entry_at(&w.fs[0], 2)->inode);
	explore_hot(&entry_at(&w.fs[0], 2)->next);
}

#define APPENDED	100
static u64 begins[3];

static void restore_end(void)
{
	restore();
	memset(begins, 0, sizeof(begins));
}

static void append(u32 self)
{
	const struct mios_fs_judged judged = fs_judged(&w.fs[self], file);
	const struct mios_fs_attr attr = { .size = APPENDED };
	int err;

	PATIENTLY(err, mios_fs_append(&w.fs[self], &judged, &attr,
				      MIOS_FS_SET_MTIME, ~0ull,
				      &begins[self]));
	CHECK(!err);
}

static void one_appends(void)
{
	append(1);
}

static void two_appends(void)
{
	append(2);
}

static void bury(u32 dead)
{
	int err;

	PATIENTLY(err, fs_recover(&w.fs[3], dead, 1));
	CHECK(!err);
}

static void whole(void)
{
	/* What a death, or a fault that was late, has left to cut. */
	CHECK(!mios_fs_cutter(&w.fs[0], file));
	fs_cut(&w, 0, file, NO_PIN);
	mios_fs_cutter_end(&w.fs[0], file);
	WHOLE(&w.fs[0], is_open ? 2 : 0);
}

/* What is mapped is the file's still. */
static void still_there(void)
{
	u64 index = 3, used = used_by_one(), phys;

	if (used)
		CHECK(mios_fs_next(&w.fs[0], file, &index, &phys) &&
		      index == 4 && phys == used);
	else
		whole();	/* also where one that died had everybody unmap it */
}

/* Who has it attached has its file; then all of it goes. */
static void attached(void)
{
	struct mios_fs_seg now;
	bool lives = is_attached && !explore_is_dead(1);

	if (lives) {
		CHECK(!mios_fs_segment_stat(&w.fs[0], slot, &now));
		CHECK(inode_at(&w.fs[0], now.inode)->id && now.attached == 1);
		mios_fs_segment_detach(&w.fs[1], slot);
	}
	CHECK(!fs_sweep(&w.fs[0]));
	CHECK(mios_fs_segment_stat(&w.fs[0], slot, &now) == -ENOENT ||
	      explore_is_dead(2));
	whole();
}

/* What another one keeps can be attached, whoever looks what is to go. */
static void kept(void)
{
	CHECK(is_attached || explore_is_dead(1));
	mios_fs_segment_detach(&w.fs[3], slot);
	attached();
}

/* Each has bytes of its own, and the file has both. */
static void appended(void)
{
	struct mios_fs_attr attr;
	u64 one = begins[1], two = begins[2];

	CHECK(!mios_fs_stat(&w.fs[0], file, &attr));
	if (!explore_is_dead(1))
		CHECK(attr.size >= one + APPENDED);
	if (!explore_is_dead(2))
		CHECK(attr.size >= two + APPENDED);
	if (!explore_is_dead(1) && !explore_is_dead(2))
		CHECK(one >= two + APPENDED || two >= one + APPENDED);
	whole();
}

static void opened(void)
{
	if (is_open && !explore_is_dead(1))
		CHECK(inode_at(&w.fs[0], file)->id == id);
	if (!is_open || explore_is_dead(1))
		fs_reap(&w.fs[0], file);
	whole();
}

static const struct scenario scenarios[] = {
	{ "two faults", restore, { one_faults, two_faults }, { 1, 2 }, 1, bury,
	  whole },
	{ "two faults of one", restore, { one_faults, one_faults_too },
	  { 1, 1 }, 1, bury, whole },
	{ "a fault and a cut", restore, { one_faults_late, two_cuts },
	  { 1, 2 }, 1, bury, whole },
	{ "mapped and punched", restore, { one_maps, two_punches }, { 1, 2 }, 1,
	  bury, still_there },
	{ "mapped and cut", restore, { one_maps, two_shortens }, { 1, 2 }, 1,
	  bury, still_there },
	{ "copied and punched", restore, { one_copies, two_punches_pinned },
	  { 1, 2 }, 1, bury, still_there },
	{ "opened and removed", restore, { one_opens, two_drops }, { 1, 2 },
	  1, bury, opened },
	{ "two appends", restore_end, { one_appends, two_appends }, { 1, 2 }, 1,
	  bury, appended },
	{ "attached and removed", restore_segment,
	  { one_attaches, two_removes }, { 1, 2 }, 1, bury, attached },
	{ "attached and kept", restore_kept, { one_attaches, two_sweeps },
	  { 1, 2 }, 1, bury, kept },
	{ "looked up and exchanged", restore_names,
	  { one_looks, two_exchanges }, { 1, 2 }, 1, bury, whole },
	{ "read and renamed", restore_names, { one_reads, two_renames },
	  { 1, 2 }, 1, bury, whole },
};

void test_fs_explore(unsigned int preemptions)
{
	u32 i;

	make();
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		explore(&scenarios[i], preemptions);
	free(snapshot);
	world_forget(&w);
}
