// SPDX-License-Identifier: GPL-2.0
/*
 * The image grows: by an instance that dies before each of its stores in turn, by
 * two at once in every order of a few steps, and so far that a look-up would be
 * slow if it followed more entries than there are in a bucket.
 */
#include "../../../mios/memory/fs/tx.h"
#include "../pool/explore.h"
#include "fstest.h"

#define DIR	0040755
#define FILE_	0100644

/* Files that fill the first extent: number 0 and the root are no files. */
#define FULL	(MIOS_FS_FIRST - 2)
#define PARTS	(FS_EXTENTS + FAR_EXTENTS)

static struct world w;
static u8 *snapshot;
static u64 dir, first;

static void number_name(char *name, size_t size, u64 number)
{
	snprintf(name, size, "file %llu", number);
}

static void fill(struct mios_fs *fs, u64 from, u64 to)
{
	char name[32];

	for (; from < to; from++) {
		number_name(name, sizeof(name), from);
		fs_make(fs, dir, name, FILE_);
	}
}

static int link_one(struct mios_fs *fs, const char *name)
{
	struct mios_fs_place at = fs_place(fs, dir, name);

	at.file = fs_judged(fs, first);
	return mios_fs_link(fs, &at, false, 1);
}

static u64 count(struct mios_fs *fs)
{
	struct mios_fs_reading r = { .before = ~0ull };
	struct mios_fs_dirent name;
	u64 nr = 0;

	while (mios_fs_readdir(fs, dir, &r, &name) == 1)
		nr++;
	return nr;
}

/* What is free in the pool is not 0. */
static void spoil(void)
{
	memset(w.memory + MIOS_EXTENT_SIZE, 0xa5, 2 * MIOS_EXTENT_SIZE);
	memset(w.far + MIOS_EXTENT_SIZE, 0xa5, MIOS_EXTENT_SIZE);
}

/* The root's directory has a number, too. */
static void setup(u64 files)
{
	world_make(&w);
	spoil();
	dir = fs_make(&w.fs[3], MIOS_FS_ROOT, "d", DIR);
	fill(&w.fs[3], 0, files - 1);
	first = files > 1 ? fs_find(&w.fs[3], dir, "file 0") : 0;
	snapshot = malloc(PARTS * (size_t)MIOS_EXTENT_SIZE);
	CHECK(snapshot);
}

static void copy(bool save)
{
	const size_t own = w.extents * (size_t)MIOS_EXTENT_SIZE;
	const size_t far = FAR_EXTENTS * (size_t)MIOS_EXTENT_SIZE;

	if (save) {
		memcpy(snapshot, w.memory, own);
		memcpy(snapshot + own, w.far, far);
	} else {
		memcpy(w.memory, snapshot, own);
		memcpy(w.far, snapshot + own, far);
	}
	world_views(&w);
}

static void do_make(void)
{
	fs_make(&w.fs[1], dir, "one more", FILE_);
}

static void do_link(void)
{
	CHECK(!link_one(&w.fs[1], "one more"));
}

static void recover(void)
{
	CHECK(!fs_recover(&w.fs[2], 1, 1));
}

static void recover_both(void)
{
	fs_recover(&w.fs[3], 1, 1);
	CHECK(!fs_recover(&w.fs[3], 2, 1));
	CHECK(!fs_recover(&w.fs[3], 1, 1));
}

/* Whoever has the lock next needs the same. */
static void other_makes(void)
{
	mios_fs_dequeue(&w.fs[0], 1, 1);
	CHECK(!link_one(&w.fs[3], "another"));
}

/* All that were there are there, and there is room: one part has been taken. */
static void look(u64 files)
{
	struct mios_fs *fs = &w.fs[3];
	char name[32];
	u64 i, nr = 0;

	WHOLE(fs, 0);
	for (i = 0; i < files - 1; i++) {
		number_name(name, sizeof(name), i);
		CHECK(fs_find(fs, dir, name));
	}
	nr += !!fs_find(fs, dir, "one more");
	nr += !!fs_find(fs, dir, "another");
	nr += !!fs_find(fs, dir, "first link");
	CHECK(count(fs) == files - 1 + nr);
	fs_make(fs, dir, "next", FILE_);
	CHECK(!link_one(fs, "next link"));
	CHECK(mios_fs_extents(fs) <= 3);
	WHOLE(fs, 0);
}

static void segment_make(struct mios_fs *fs, u32 key)
{
	struct mios_fs_seg seg = { .key = key, .mode = 0600, .size = 1 };
	u32 slot;

	CHECK(!mios_fs_segment_make(fs, &seg, 1, &slot));
}

static void do_segment(void)
{
	segment_make(&w.fs[1], 1000);
}

static void other_segment(void)
{
	mios_fs_dequeue(&w.fs[0], 1, 1);
	segment_make(&w.fs[3], 2000);
}

/* As many as the first extent has, and one more. */
static void look_segments(u64 nr)
{
	struct mios_fs *fs = &w.fs[3];
	struct mios_fs_seg seg;
	u32 key, slot;

	WHOLE(fs, 0);
	for (key = 1; key <= nr; key++)
		CHECK(!mios_fs_segment_find(fs, key, &slot, &seg));
	segment_make(fs, 3000);
	CHECK(mios_fs_extents(fs) == 2);
	WHOLE(fs, 0);
}

static unsigned long kill_all(void (*run)(void), void (*other)(void),
			      void (*look)(u64), u64 files, u64 *seed)
{
	unsigned long at, second;
	bool dead;

	for (at = 0;; at++) {
		copy(false);
		dead = fs_dies(run, at);
		if (dead && !(at % 4))
			other();
		second = test_random(seed) % 64;
		if (!(at & 1))
			recover();
		else if (fs_dies(recover, second))
			recover_both();
		look(files);
		if (!dead)
			return at;
	}
}

static void kills(u64 *seed)
{
	unsigned long nr;
	u32 key;

	setup(FULL);
	copy(true);
	nr = kill_all(do_make, other_makes, look, FULL, seed);
	copy(false);
	CHECK(!link_one(&w.fs[3], "first link"));
	copy(true);
	nr += kill_all(do_link, other_makes, look, FULL, seed);
	free(snapshot);
	world_forget(&w);
	setup(1);
	for (key = 1; key <= MIOS_FS_FIRST_SEGMENTS; key++)
		segment_make(&w.fs[3], key);
	copy(true);
	nr += kill_all(do_segment, other_segment, look_segments,
		       MIOS_FS_FIRST_SEGMENTS, seed);
	printf("%lu places to die in while the image grows\n", nr);
	free(snapshot);
	world_forget(&w);
}

static unsigned long accesses;

static void count_up(const volatile void *address, bool write)
{
	(void)address;
	accesses += !write;
}

#define SAMPLES	1000

/* How many words are looked at to find a name, of so many. */
static unsigned long look_up(struct mios_fs *fs, u64 files)
{
	char name[32];
	u64 i;

	accesses = 0;
	for (i = 0; i < SAMPLES; i++) {
		number_name(name, sizeof(name), i * (files / SAMPLES));
		test_point = count_up;
		CHECK(fs_find(fs, dir, name));
		test_point = NULL;
	}
	return accesses;
}

/* And to read a directory of three names. */
static unsigned long read_small(struct mios_fs *fs, u64 small)
{
	struct mios_fs_reading r = { .before = ~0ull };
	struct mios_fs_dirent name;
	u32 nr = 0;

	accesses = 0;
	test_point = count_up;
	while (mios_fs_readdir(fs, small, &r, &name) == 1)
		nr++;
	test_point = NULL;
	CHECK(nr == 3);
	return accesses;
}

/* However many there are elsewhere. */
static void flat(void)
{
	unsigned long few, many, read;
	struct mios_fs *fs;
	u64 small;

	world_make_of(&w, 20);
	fs = &w.fs[3];
	dir = fs_make(fs, MIOS_FS_ROOT, "d", DIR);
	small = fs_make(fs, MIOS_FS_ROOT, "small", DIR);
	fs_make(fs, small, "1", FILE_);
	fill(fs, 0, 1000);
	fs_make(fs, small, "2", FILE_);
	fs_make(fs, small, "3", FILE_);
	few = look_up(fs, 1000);
	read = read_small(fs, small);
	fill(fs, 1000, 100000);
	many = look_up(fs, 100000);
	printf("words for a look-up: %lu of 1,000 names, %lu of 100,000\n",
	       few / SAMPLES, many / SAMPLES);
	CHECK(many < few + few / 2);
	CHECK(read_small(fs, small) == read);
	CHECK(count(fs) == 100000);
	WHOLE(fs, 0);
	world_forget(&w);
}

/* Somebody changes times of it, say, each time that some words were read. */
static void change_often(const volatile void *address, bool write)
{
	static unsigned int reads;

	(void)address;
	if (!write && !(++reads % 100))
		*sequence_of_file(&w.fs[0], dir) += 2;
}

/* Who begins to read behind many newer names gets there all the same. */
static void busy(void)
{
	struct mios_fs_reading r = { };
	struct mios_fs_dirent name;
	struct mios_fs *fs;
	int found;
	u64 old;

	world_make(&w);
	fs = &w.fs[2];
	dir = fs_make(fs, MIOS_FS_ROOT, "d", DIR);
	old = fs_make(fs, dir, "old", FILE_);
	r.before = mios_fs_sequence(fs, dir);
	fill(fs, 0, 1000);
	test_point = change_often;
	found = mios_fs_readdir(fs, dir, &r, &name);
	test_point = NULL;
	CHECK(found == 1 && name.inode == old);
	world_forget(&w);
}

void test_grow(u64 seed)
{
	busy();
	kills(&seed);
	flat();
}

/* What of the first extent is written when a file is made in it. */
static const struct { u32 at, size; } spans[] = {
	{ 0, 5 * MIOS_FS_PAGE },
	{ MIOS_FS_LOCK_AT, MIOS_FS_LOCK_SIZE },
	{ MIOS_FS_PARTS_AT, 64 },
	{ MIOS_FS_BUCKETS_AT, MIOS_FS_INODES_AT - MIOS_FS_BUCKETS_AT },
	{ MIOS_FS_INODES_AT, MIOS_FS_PAGE },
	{ MIOS_FS_IMAGE_END - MIOS_FS_PAGE, MIOS_FS_PAGE },
};

static void section_restore(u32 index, u8 *memory, const u8 *from)
{
	const struct mios_section *section = &w.pool[0].section[index];
	u32 i;

	memcpy(memory, from, MIOS_POOL_RECORDS_AT + MIOS_POOL_PAGE);
	for (i = 0; i < section->nr_extents; i++)
		explore_hot(&section->extent[i].word);
}

static void restore(void)
{
	const u8 *image = snapshot + ((u8 *)w.fs[0].super - w.memory);
	u32 i;

	for (i = 0; i < sizeof(spans) / sizeof(*spans); i++)
		memcpy((u8 *)w.fs[0].super + spans[i].at, image + spans[i].at,
		       spans[i].size);
	section_restore(0, w.memory, snapshot);
	section_restore(1, w.far,
			snapshot + w.extents * (size_t)MIOS_EXTENT_SIZE);
	world_views(&w);
	explore_hot(&w.fs[0].lock.header->tail);
	explore_hot(&w.fs[0].super->table[MIOS_FS_INODES].parts);
	explore_hot((u64 *)((u8 *)w.fs[0].super + MIOS_FS_PARTS_AT) + 1);
	explore_hot(&redo_of(&w.fs[0], 1)->count);
	explore_hot(&redo_of(&w.fs[0], 2)->count);
}

static void makes(u32 self, const char *name)
{
	struct mios_fs *fs = &w.fs[self];
	struct mios_fs_place at = fs_place(fs, dir, name);
	struct mios_fs_attr attr = fs_attr(FILE_);
	u64 inode;
	int err;

	while ((err = mios_fs_make(fs, &at, &attr, &inode)) == -EBUSY)
		explore_pause();
	CHECK(!err);
}

static void one_makes(void)
{
	makes(1, "one");
}

static void two_makes(void)
{
	makes(2, "two");
}

static void bury(u32 dead)
{
	int err;

	while ((err = fs_recover(&w.fs[3], dead, 1)) == -EBUSY)
		explore_pause();
	CHECK(!err);
}

/* One part is enough for both, whoever has died. */
static void grown(void)
{
	struct mios_fs *fs = &w.fs[0];

	CHECK(explore_is_dead(1) || fs_find(fs, dir, "one"));
	CHECK(explore_is_dead(2) || fs_find(fs, dir, "two"));
	CHECK(mios_fs_extents(fs) == 2);
	WHOLE(fs, 8);
}

static const struct scenario two_grow = {
	"two grow", restore, { one_makes, two_makes }, { 1, 2 }, 1, bury, grown
};

/* A file of 3 without a name: so two names more need no part of entries. */
void test_grow_explore(unsigned int preemptions)
{
	const struct mios_fs_attr attr = fs_attr(FILE_);
	struct mios_fs_judged in;
	u64 inode;

	setup(FULL - 1);
	in = fs_judged(&w.fs[3], dir);
	CHECK(!mios_fs_make_nameless(&w.fs[3], &in, &attr, &inode));
	copy(true);
	world_explore(&w);
	explore(&two_grow, preemptions);
	free(snapshot);
	world_forget(&w);
}
