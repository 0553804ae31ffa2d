// SPDX-License-Identifier: GPL-2.0
/*
 * Where pages come from: the own node's section, then the other; all of both,
 * and no more; the own one again when it has pages again; and that the dead
 * leave nothing in either.
 */
#include "fstest.h"

#define FILE_	0100644
/* More than there are. */
#define PAGES	((FS_EXTENTS + FAR_EXTENTS) * MIOS_EXTENT_PAGES)
/* After so many pages a section that was full is looked at again. */
#define REST	64

static struct world w;

static int section_of(u64 phys)
{
	return mios_pool_section(&w.pool[0], phys);
}

/* The next page of the file; its section, or -ENOMEM. */
static int add(u32 self, u64 inode, u64 *index)
{
	u64 phys;
	int err = mios_fs_page(&w.fs[self], w.cursor[self], inode, *index,
			       &phys);

	if (err)
		return err;
	++*index;
	return section_of(phys);
}

static u64 free_pages(u32 section)
{
	static struct mios_pool_usage u;
	u32 i;

	mios_section_usage(&w.pool[0], section, &u);
	for (i = 0; i < MIOS_POOL_INSTANCES; i++)
		u.kept += u.held[i];
	return u.pages - u.meta - u.kept;
}

/* All pages that there are, the own section's first. */
static void fill(u32 self, u64 inode)
{
	int own = self % 2, section;
	u64 index = 0, nr[2] = { 0 };

	while ((section = add(self, inode, &index)) >= 0) {
		CHECK(section == own || !free_pages(own));
		nr[section]++;
	}
	CHECK(section == -ENOMEM);
	CHECK(nr[0] && nr[1]);
	CHECK(!free_pages(0) && !free_pages(1));
}

/* All of it goes, and the own section is used again. */
static void again(u32 self, u64 inode)
{
	u64 index = 0;
	int i, own = 0;

	fs_size(&w.fs[self], inode, 0);
	CHECK(!mios_fs_cutter(&w.fs[self], inode));
	CHECK(fs_cut(&w, self, inode, NO_PIN) > MIOS_EXTENT_PAGES);
	mios_fs_cutter_end(&w.fs[self], inode);
	fs_size(&w.fs[self], inode, PAGES * (u64)MIOS_FS_PAGE);
	for (i = 0; i < 2 * REST; i++)
		own += add(self, inode, &index) == (int)self % 2;
	CHECK(own >= REST);
}

/* Who has pages of both sections under way dies. */
static void death(void)
{
	u64 before[2] = { free_pages(0), free_pages(1) };
	struct mios_page page;
	u32 i;

	for (i = 0; i < 2; i++) {
		w.cursor[1][i].section = i;
		CHECK(!mios_pool_alloc(&w.pool[1], &w.cursor[1][i], &page));
		CHECK(section_of(page.phys) == (int)i);
		CHECK(free_pages(i) == before[i] - 1);
	}
	CHECK(!mios_fs_recover(&w.fs[2], 1, 1));
	CHECK(free_pages(0) == before[0] && free_pages(1) == before[1]);
}

void test_places(void)
{
	u32 self;
	u64 inode;

	for (self = 1; self < 3; self++) {
		world_make(&w);
		inode = fs_make(&w.fs[self], MIOS_FS_ROOT, "a", FILE_);
		fs_size(&w.fs[self], inode, PAGES * (u64)MIOS_FS_PAGE);
		fill(self, inode);
		again(self, inode);
		world_release(&w, self);
		WHOLE(&w.fs[0], 0);
		death();
		WHOLE(&w.fs[0], 0);
		world_forget(&w);
	}
}
