// SPDX-License-Identifier: GPL-2.0
/*
 * Where pages come from: the own node's section, then the other; all of both,
 * and no more; the own one again when it has pages again; what policies change
 * about that; and that the dead leave nothing in either.
 */
#include "fstest.h"

#define FILE_	0100644
/* More than there are. */
#define PAGES	((FS_EXTENTS + FAR_EXTENTS) * MIOS_EXTENT_PAGES)

#define AGAIN	128

static struct world w;
static u64 task_policy;		/* of who adds pages */

static int section_of(u64 phys)
{
	return mios_pool_section(&w.pool[0], phys);
}

/* The next page of the file; its section, or -ENOMEM. */
static int add(u32 self, u64 inode, u64 *index)
{
	u64 phys;
	int err = fs_fault_at(&w.fs[self], &w.source[self], task_policy, inode,
			      *index, &phys);

	if (err)
		return err;
	++*index;
	return section_of(phys);
}

static u64 free_pages(u32 section)
{
	static struct mios_pool_usage u;
	u32 i, extent = 0;

	while (mios_section_usage(&w.pool[0], section, &extent, &u))
		;
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

static void empty(u32 self, u64 inode)
{
	fs_size(&w.fs[self], inode, 0);
	CHECK(!mios_fs_cutter(&w.fs[self], inode));
	CHECK(fs_cut(&w, self, inode, NO_PIN) > MIOS_EXTENT_PAGES);
	mios_fs_cutter_end(&w.fs[self], inode);
}

/* All of it goes, and the own section is used again. */
static void again(u32 self, u64 inode)
{
	u64 index = 0;
	int i, own = 0;

	empty(self, inode);
	fs_size(&w.fs[self], inode, PAGES * (u64)MIOS_FS_PAGE);
	for (i = 0; i < AGAIN; i++)
		own += add(self, inode, &index) == (int)self % 2;
	CHECK(own == AGAIN);
}

static u64 nodes(u64 mode, u64 nodes_)
{
	return mode | nodes_ << MIOS_FS_POLICY_NODES;
}

/* The sections that the next pages come from, as digits. */
static u32 digits(u32 self, u64 inode, u64 *index, u32 nr)
{
	u32 found = 1;

	while (nr--)
		found = found * 10 + add(self, inode, index);
	return found;
}

/* Section 0 is in node NODE, section 1 in the next. */
static void policies(u32 self, u64 inode)
{
	const u64 both = 3ull << NODE;
	u32 own = self % 2 ? 1111 : 1000, turn;
	u64 index = 512;

	/* The page of the index is there. */
	CHECK(add(self, inode, &index) >= 0);
	CHECK(digits(self, inode, &index, 3) == own);
	mios_fs_policy_set(&w.fs[0], inode, nodes(MIOS_FS_PREFERRED, 1 << NODE));
	CHECK(digits(self, inode, &index, 3) == 1000);
	mios_fs_policy_set(&w.fs[0], inode, nodes(MIOS_FS_BIND, 2 << NODE));
	CHECK(digits(self, inode, &index, 3) == 1111);
	mios_fs_policy_set(&w.fs[0], inode, nodes(MIOS_FS_INTERLEAVE, both));
	turn = digits(self, inode, &index, 4);
	CHECK(turn == 10101 || turn == 11010);
	mios_fs_policy_set(&w.fs[0], inode, MIOS_FS_LOCAL);
	task_policy = nodes(MIOS_FS_INTERLEAVE, both);
	CHECK(digits(self, inode, &index, 3) == own);
	mios_fs_policy_set(&w.fs[0], inode, 0);
	turn = digits(self, inode, &index, 4);
	CHECK(turn == 10101 || turn == 11010);
	task_policy = 0;
	/* Nobody's node, and what no policy is. */
	mios_fs_policy_set(&w.fs[0], inode, nodes(MIOS_FS_INTERLEAVE, 1));
	CHECK(digits(self, inode, &index, 3) == own);
	mios_fs_policy_set(&w.fs[0], inode, ~0ull);
	CHECK(digits(self, inode, &index, 3) == own);
}

/* No more than so many pages, whoever has taken them. */
static void limited(u32 self, u64 inode)
{
	u64 used = mios_fs_used(&w.fs[0]), index = 2048;

	w.fs[self].limit = used + 20;
	while (add(self, inode, &index) >= 0)
		;
	CHECK(mios_fs_used(&w.fs[3]) == used + 20);
	CHECK(add(self, inode, &index) == -ENOMEM);
	CHECK(add(!self, inode, &index) >= 0);
	w.fs[self].limit = 0;
	CHECK(add(self, inode, &index) >= 0);
}

/* Nothing from elsewhere, though there is. */
static void bound(u32 self, u64 inode)
{
	u64 index = 1024;
	int section;

	mios_fs_policy_set(&w.fs[0], inode, nodes(MIOS_FS_BIND, 2 << NODE));
	while ((section = add(self, inode, &index)) == 1)
		;
	CHECK(section == -ENOMEM);
	CHECK(!free_pages(1) && free_pages(0));
	mios_fs_policy_set(&w.fs[0], inode, 0);
	CHECK(!add(self, inode, &index));
	empty(self, inode);
	/* Pages of the index stay. */
	CHECK(mios_fs_used(&w.fs[0]) < 16);
}

/* Who has pages of both sections under way dies. */
static void death(void)
{
	u64 before[2] = { free_pages(0), free_pages(1) };
	struct mios_page page;
	u32 i;

	for (i = 0; i < 2; i++) {
		w.source[1].cursor[i].section = i;
		CHECK(!pool_alloc(&w.pool[1], &w.source[1].cursor[i], &page));
		CHECK(section_of(page.phys) == (int)i);
		CHECK(free_pages(i) == before[i] - 1);
	}
	CHECK(!fs_recover(&w.fs[2], 1, 1));
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
		policies(self, inode);
		limited(self, inode);
		bound(self, inode);
		world_release(&w, self);
		WHOLE(&w.fs[0], 0);
		death();
		WHOLE(&w.fs[0], 0);
		world_forget(&w);
	}
}
