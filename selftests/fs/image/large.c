// SPDX-License-Identifier: GPL-2.0
/*
 * Large pages: 512 pages of a file that are made at once, and lie so that they can
 * be mapped as one; when they are, and when no more; and an instance that dies
 * while it makes them leaves pages of zeroes, in the file or free.
 */
#include "../../../mios/memory/fs/large.h"
#include "../../../mios/memory/fs/share.h"
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define FILE_	0100644
#define LARGE	MIOS_EXTENT_PAGES
#define PARTS	4

static struct world w;
static u8 *snapshot, *users;
static u64 file;

static int run_at(u32 self, u64 inode, u64 first, u64 *phys)
{
	struct mios_need need = { .from = &w.source[self] };
	int err;

	do {
		err = mios_fs_run(&w.fs[self], &need, inode, first, phys);
	} while (err == -EINPROGRESS);
	return err;
}

/* What was in it before must not be seen. */
static void litter(void)
{
	memset(w.far + MIOS_EXTENT_SIZE, 0xff, MIOS_EXTENT_SIZE);
}

static void is_zero(u32 self, u64 phys)
{
	const u8 *page = mios_pool_memory(&w.pool[self], phys);

	CHECK(page[0] == 0 && page[4095] == 0);
}

static void punch(u64 inode, u32 first, u32 end)
{
	CHECK(!mios_fs_cutter(&w.fs[2], inode));
	mios_fs_hole(&w.fs[2], inode, first, end);
	fs_cut(&w, 2, inode, NO_PIN);
	mios_fs_cutter_end(&w.fs[2], inode);
}

/* Each of its pages is one like any other, whoever looks. */
static void made(void)
{
	u64 phys, again, one, index;
	u64 used = mios_fs_used(&w.fs[0]);

	litter();
	CHECK(mios_fs_run(&w.fs[1], NULL, file, 0, &phys) == -ENOENT);
	CHECK(!run_at(1, file, 0, &phys));
	CHECK(!(phys % MIOS_EXTENT_SIZE));
	/* First touch: it is nearer to 1. */
	CHECK(mios_pool_section(&w.pool[1], phys) == 1);
	CHECK(!mios_fs_run(&w.fs[2], NULL, file, 0, &again) && again == phys);
	for (index = 0; index < LARGE; index++) {
		CHECK(!mios_fs_page(&w.fs[2], NULL, file, index, &one));
		CHECK(one == phys + index * MIOS_POOL_PAGE);
		is_zero(2, one);
	}
	CHECK(mios_fs_pages(&w.fs[2], file) == LARGE);
	CHECK(mios_fs_used(&w.fs[0]) == used + LARGE + 1);
	WHOLE(&w.fs[0], 0);
}

/* A hole, a page that is elsewhere, the end: what is there stays as it is. */
static void no_more(void)
{
	u64 phys, index = 0, one;

	mios_fs_hole(&w.fs[2], file, 7, 8);
	CHECK(run_at(1, file, 0, &phys) == -EBUSY);
	punch(file, 7, 8);
	CHECK(run_at(1, file, 0, &phys) == -EEXIST);
	CHECK(!mios_fs_next(&w.fs[1], file, &index, &one) || index == 1);
	CHECK(!fs_fault(&w.fs[2], &w.source[2], file, 7, &one));
	CHECK(run_at(1, file, 0, &phys) == -EEXIST);
	CHECK(run_at(1, file, LARGE, &phys) == -ERANGE);
	fs_size(&w.fs[2], file, (2 * LARGE - 1) * (u64)MIOS_FS_PAGE);
	CHECK(run_at(1, file, LARGE, &phys) == -ERANGE);
	CHECK(run_at(1, 0, 0, &phys) == -ENOENT);
	WHOLE(&w.fs[0], 0);
}

/* Side by side, but not as a page table wants it. */
static void not_aligned(void)
{
	u64 other = fs_make(&w.fs[0], MIOS_FS_ROOT, "other", FILE_);
	u64 phys, first, last, index, at = LARGE;

	fs_size(&w.fs[0], other, 2 * LARGE * (u64)MIOS_FS_PAGE);
	/* Its index is there; then what else there is in the first extent goes. */
	fs_page(&w, 0, other, 0);
	punch(other, 0, 1);
	do
		CHECK(!fs_fault(&w.fs[0], &w.source[0], other, at++, &first));
	while (first / MIOS_EXTENT_SIZE == BASE / MIOS_EXTENT_SIZE);
	for (index = 0; index < LARGE; index++)
		CHECK(!fs_fault(&w.fs[0], &w.source[0], other, index, &last));
	CHECK(last == first + LARGE * (u64)MIOS_POOL_PAGE);
	CHECK(mios_fs_run(&w.fs[0], NULL, other, 0, &phys) == -EEXIST);
}

/* Where there is no room for all of it nothing of it is made. */
static void limits(void)
{
	u64 used = mios_fs_used(&w.fs[0]), phys;

	w.fs[1].limit = used + LARGE;
	CHECK(run_at(1, file, 0, &phys) == -ENOMEM);
	/* The page of the index has been made; nothing else, and nothing is counted. */
	CHECK(mios_fs_used(&w.fs[0]) == used + 1);
	w.fs[1].limit = used + 1 + LARGE;
	CHECK(!run_at(1, file, 0, &phys));
	CHECK(run_at(1, file, LARGE, &phys) == -ENOMEM);
	w.fs[1].limit = 0;
}

static void file_make(u64 pages)
{
	world_make(&w);
	file = fs_make(&w.fs[1], MIOS_FS_ROOT, "a", FILE_);
	fs_size(&w.fs[1], file, pages * MIOS_FS_PAGE);
}

static u64 cleared, meet_at, meet_page;

/* Instance 2 looks when 1 is about to zero its @meet_at-th page, or is quicker. */
static void meet(void)
{
	u64 phys;

	if (++cleared != meet_at)
		return;
	test_cleared = NULL;
	if (meet_page < LARGE)
		fs_page(&w, 2, file, meet_page);
	else
		CHECK(mios_fs_run(&w.fs[2], NULL, file, 0, &phys) == -EALREADY);
}

/* What 1 says of the large page that it has made, or not; and it has so many pages. */
static void meets(u64 at, u64 page, int said, u64 pages)
{
	u64 phys;

	file_make(LARGE);
	cleared = 0;
	meet_at = at;
	meet_page = page;
	test_cleared = meet;
	CHECK(run_at(1, file, 0, &phys) == said);
	CHECK(!test_cleared);
	CHECK(mios_fs_pages(&w.fs[0], file) == pages);
	CHECK(mios_fs_used(&w.fs[0]) == pages + 1);
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}

/* All, or nothing of it, of what a user has left. */
static void shares(void)
{
	const struct mios_fs_share share = { LARGE, 10 };
	u64 excess, phys;

	world_make(&w);
	CHECK(!mios_fs_share_set(&w.fs[0], &share));
	file = fs_make(&w.fs[1], MIOS_FS_ROOT, "a", FILE_);
	fs_size(&w.fs[1], file, LARGE * (u64)MIOS_FS_PAGE);
	CHECK(run_at(1, file, 0, &phys) == -EDQUOT);
	CHECK(!mios_fs_pages(&w.fs[1], file));
	fs_page(&w, 1, file, 0);
	CHECK(!fs_check_shares(&w.fs[0], &excess) && !excess);
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}

void test_large(void)
{
	file_make(LARGE);
	made();
	no_more();
	world_forget(&w);
	file_make(2 * LARGE);
	limits();
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
	/* The first page that is zeroed is one of the index. */
	meets(300, LARGE, 0, LARGE);
	meets(2, 0, -EEXIST, 1);
	meets(300, 400, -EEXIST, 401);
	file_make(LARGE);
	not_aligned();
	world_forget(&w);
	shares();
}

static void do_run(void)
{
	u64 phys;

	CHECK(!run_at(1, file, 0, &phys));
}

/* As in kills.c: the records of both sections, the image and its users. */
static void copy(bool save)
{
	u8 *parts[PARTS] = { w.memory, w.far,
			     mios_pool_memory(&w.pool[0], w.image), users };
	u32 i;

	for (i = 0; i < PARTS; i++) {
		u8 *at = snapshot + i * (size_t)MIOS_EXTENT_SIZE;

		if (save)
			memcpy(at, parts[i], MIOS_EXTENT_SIZE);
		else
			memcpy(parts[i], at, MIOS_EXTENT_SIZE);
	}
	world_views(&w);
}

/* Of the dead: zeroes in the file, or free; and counted, but for one. */
static void look(void)
{
	static struct mios_pool_usage usage;
	u64 index = 0, phys, used, pages, excess;

	WHOLE(&w.fs[3], 0);
	while (mios_fs_next(&w.fs[3], file, &index, &phys))
		is_zero(3, phys);
	mios_pool_usage(&w.pool[3], &usage);
	CHECK(!usage.held[1]);
	pages = usage.kept - mios_fs_extents(&w.fs[3]) * MIOS_EXTENT_PAGES;
	used = mios_fs_used(&w.fs[3]);
	/* They are counted before they are there. */
	CHECK(used <= pages + LARGE && used + 1 >= pages);
	CHECK(!fs_check_shares(&w.fs[3], &excess) && excess <= LARGE);
}

/* It has thousands of stores: all of the first, and then some. */
void test_large_kills(void)
{
	const struct mios_fs_share share = { 10000, 10 };
	unsigned long at, kills = 0;
	bool dead = true;
	u64 phys;

	snapshot = malloc(PARTS * (size_t)MIOS_EXTENT_SIZE);
	CHECK(snapshot);
	world_make_of(&w, FS_EXTENTS + 1);
	CHECK(!mios_fs_share_set(&w.fs[3], &share));
	users = w.fs[3].parts->at[MIOS_FS_USERS_KIND][1];
	file = fs_make(&w.fs[3], MIOS_FS_ROOT, "a", FILE_);
	fs_size(&w.fs[3], file, LARGE * (u64)MIOS_FS_PAGE);
	copy(true);
	for (at = 0; dead; at += at < 40 ? 1 : 61, kills++) {
		copy(false);
		litter();
		dead = fs_dies(do_run, at);
		CHECK(!fs_recover(&w.fs[2], 1, 1));
		look();
	}
	CHECK(!mios_fs_run(&w.fs[3], NULL, file, 0, &phys));
	printf("%lu places to die in while a large page is made\n", kills);
	free(snapshot);
	world_forget(&w);
}
