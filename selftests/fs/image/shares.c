// SPDX-License-Identifier: GPL-2.0
/*
 * A user's share: files and names to the last one, pages on whatever instance, those
 * of indices too; others go on; what goes is given back; more users than there are
 * slots; and who may have more.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define FILE_	0100644
#define DIR	0040755

static struct world w;

static int make(u32 self, u32 uid, const char *name, u32 mode, u64 *inode)
{
	struct mios_fs_place at = fs_place(&w.fs[self], MIOS_FS_ROOT, name);
	struct mios_fs_attr attr = fs_attr(mode);

	attr.uid = uid;
	return mios_fs_make(&w.fs[self], &at, &attr, inode);
}

static int link_to(u64 inode, const char *name)
{
	struct mios_fs_place at = fs_place(&w.fs[0], MIOS_FS_ROOT, name);

	at.file = fs_judged(&w.fs[0], inode);
	return mios_fs_link(&w.fs[0], &at, false, 1);
}

static void drop(u32 self, const char *name, bool directory)
{
	struct mios_fs_place at = fs_place(&w.fs[self], MIOS_FS_ROOT, name);
	int err;

	CHECK(!mios_fs_remove(&w.fs[self], &at, directory, 1));
	err = fs_reap(&w.fs[self], at.file.inode);
	CHECK(!err || err == -EEXIST);
}

static int fault(u32 self, u64 inode, u64 index)
{
	u64 phys;

	return fs_fault(&w.fs[self], &w.source[self], inode, index, &phys);
}

static void share(u64 pages, u64 files)
{
	const struct mios_fs_share s = { pages, files };

	CHECK(!mios_fs_share_set(&w.fs[1], &s));
	CHECK(mios_fs_share(&w.fs[0]).pages == pages &&
	      mios_fs_share(&w.fs[0]).files == files);
}

/* As the next instance sees it: pages << 32 | files; 0: he has none. */
static u64 has(u32 uid)
{
	struct mios_fs_payer payer;
	u32 slot = 0;

	while (mios_fs_payer_next(&w.fs[2], &slot, &payer))
		if (payer.uid == uid && !payer.others)
			return upper_lower(payer.has.pages, payer.has.files);
	return 0;
}

static bool always(void)
{
	return true;
}

static void test_files_of(void)
{
	u64 a, b, none, dir;

	CHECK(!make(0, 5, "before", FILE_, &none));
	share(0, 0);
	CHECK(mios_fs_extents(&w.fs[0]) == 1);
	share(0, 3);
	CHECK(mios_fs_extents(&w.fs[0]) == 2 && !has(5));
	CHECK(!make(0, 5, "a", FILE_, &a));
	CHECK(!make(1, 5, "dir", DIR, &dir));
	CHECK(!link_to(a, "b") && has(5) == 3);
	/* Nothing of what is refused stays. */
	CHECK(make(2, 5, "c", FILE_, &b) == -EDQUOT);
	CHECK(link_to(a, "c") == -EDQUOT);
	WHOLE(&w.fs[0], 0);
	CHECK(!make(2, 7, "of another", FILE_, &b) && has(7) == 1);
	CHECK(!make(2, 0, "of root", FILE_, &none) && !has(0));
	CHECK(!link_to(none, "c"));
	/* What was made before is had for nothing, and its names too. */
	CHECK(!link_to(fs_find(&w.fs[0], MIOS_FS_ROOT, "before"), "d"));
	/* The first name goes: one that is left comes with the file. */
	drop(1, "a", false);
	CHECK(has(5) == 2);
	CHECK(!make(0, 5, "e", FILE_, &b));
	CHECK(make(0, 5, "f", FILE_, &none) == -EDQUOT);
	w.fs[0].exempt = always;
	CHECK(!make(0, 5, "f", FILE_, &none) && has(5) == 4);
	w.fs[0].exempt = NULL;
	drop(2, "f", false);
	drop(2, "e", false);
	drop(2, "dir", true);
	drop(2, "b", false);
	drop(2, "of another", false);
	CHECK(!has(5) && !has(7));
	WHOLE(&w.fs[0], 0);
}

static void test_pages_of(void)
{
	struct mios_fs_attr attr = fs_attr(0);
	struct mios_fs_judged file;
	u64 one, two, other;

	/* With an index page for each. */
	share(8, 0);
	CHECK(!make(0, 5, "one", FILE_, &one));
	CHECK(!make(0, 5, "two", FILE_, &two));
	CHECK(!make(0, 7, "three", FILE_, &other));
	fs_size(&w.fs[0], one, 600 * 4096);
	fs_size(&w.fs[0], two, 600 * 4096);
	fs_size(&w.fs[0], other, 4096);
	CHECK(!fault(0, one, 0) && !fault(1, one, 1) && !fault(2, one, 2));
	CHECK(!fault(3, two, 0) && !fault(0, two, 1));
	CHECK(has(5) >> 32 == 7);
	/* One is left, and a page of a new file takes one of an index, too. */
	CHECK(!mios_fs_share_fits(&w.fs[3], 5, 1));
	CHECK(mios_fs_share_fits(&w.fs[3], 9, 7));
	CHECK(!mios_fs_share_fits(&w.fs[3], 9, 8));
	CHECK(!mios_share_refuses(&w.fs[3], one, 600 * 4096));
	/* It takes three: two of the index. */
	CHECK(fault(1, one, 599) == -EDQUOT);
	/* So one is there now, and the next has no room. */
	CHECK(fault(2, two, 3) == -EDQUOT && has(5) >> 32 == 8);
	CHECK(mios_share_refuses(&w.fs[3], one, 600 * 4096));
	CHECK(!mios_share_refuses(&w.fs[3], one, 600 * 4096 - 1));
	CHECK(!mios_share_refuses(&w.fs[3], other, 600 * 4096));
	CHECK(!fault(2, two, 1) && !fault(2, other, 0));
	/* Who is the owner by now does not matter. */
	attr.uid = 7;
	file = fs_judged(&w.fs[0], two);
	CHECK(!mios_fs_setattr(&w.fs[0], &file, &attr, MIOS_FS_SET_UID));
	CHECK(fault(2, two, 3) == -EDQUOT);
	w.fs[2].exempt = always;
	CHECK(!fault(2, two, 3) && has(5) >> 32 == 9);
	w.fs[2].exempt = NULL;
	/* Nor is who pays for its attributes. */
	share(20, 0);
	fs_attributes(&w, 1, two, true);
	CHECK(has(5) == upper_lower(11, 3) && has(7) == upper_lower(2, 1));
	fs_attributes(&w, 1, two, false);
	CHECK(has(5) == upper_lower(9, 2));
	share(8, 0);
	/* Taken by one, given back by another one. */
	fs_size(&w.fs[3], one, 4096);
	CHECK(!mios_fs_cutter(&w.fs[3], one));
	CHECK(fs_cut(&w, 3, one, NO_PIN) == 2);
	mios_fs_cutter_end(&w.fs[3], one);
	CHECK(has(5) >> 32 == 7 && !fault(1, two, 5));
	drop(1, "two", false);
	drop(1, "one", false);
	CHECK(!has(5) && has(7) >> 32 == 2);
	drop(1, "three", false);
}

/* Others may have been granted some: what all have beyond the share is bounded. */
static void test_grants(void)
{
	u64 file, index = 0, more;
	u32 self;

	share(640, 0);
	CHECK(!make(0, 5, "one", FILE_, &file));
	fs_size(&w.fs[0], file, 700 * 4096);
	for (self = 1; self < VIEWS; self++)
		CHECK(!fault(self, file, index++));
	while (!fault(0, file, index))
		index++;
	CHECK(fault(0, file, index) == -EDQUOT && has(5) >> 32 == 640);
	for (more = 0, self = 1; self < VIEWS; self++)
		for (; !fault(self, file, index); index++)
			more++;
	CHECK(more && more <= 3 * 640 / 128 && has(5) >> 32 == 640 + more);
	/* What is granted of a large share is void where it has become small. */
	share(64000, 0);
	CHECK(!fault(1, file, index++));
	share(640, 0);
	CHECK(fault(1, file, index) == -EDQUOT);
	drop(1, "one", false);
	share(0, 0);
}

static u64 dying;

static void fault_dying(void)
{
	fault(1, dying, 0);
}

/* What deaths have left in a user's count goes with his last file. */
static void test_forgiven(void)
{
	unsigned long at = 0;
	u64 most = 0;
	bool dead;

	share(100, 0);
	do {
		CHECK(!make(0, 5, "one", FILE_, &dying));
		CHECK(has(5) == 1);
		fs_size(&w.fs[0], dying, 4096);
		dead = fs_dies(fault_dying, at++);
		CHECK(!fs_recover(&w.fs[2], 1, w.pool[1].epoch++));
		world_views(&w);
		fs_size(&w.fs[0], dying, 0);
		CHECK(!mios_fs_cutter(&w.fs[0], dying));
		fs_cut(&w, 0, dying, NO_PIN);
		mios_fs_cutter_end(&w.fs[0], dying);
		/* But for the page of the index. */
		if (has(5) >> 32 > most)
			most = has(5) >> 32;
		drop(0, "one", false);
	} while (dead);
	CHECK(most == 2);
	WHOLE(&w.fs[0], 0);
	share(0, 0);
}

void fs_users(struct world *w, u32 self, u64 dir)
{
	struct mios_fs_judged in = fs_judged(&w->fs[self], dir);
	struct mios_fs_attr attr = fs_attr(FILE_);
	struct mios_fs *fs = &w->fs[self];
	u64 inode;

	for (attr.uid = 7; attr.uid < 9; attr.uid++) {
		CHECK(!mios_fs_make_nameless(fs, &in, &attr, &inode));
		fs_size(fs, inode, 4096);
		*fs_page(w, self, inode, 0) = 1;
		mios_fs_close(fs, inode);
		CHECK(!fs_reap(fs, inode));
	}
}

#define USERS	4200

/* Each has one file: for some there is no slot, and they share one. */
static void test_users(void)
{
	struct mios_fs_payer payer;
	u64 files = 0, others = 0, inode;
	u32 uid, slot = 0;
	char name[32];

	for (uid = 1; uid <= USERS; uid++) {
		snprintf(name, sizeof(name), "of %u", uid);
		CHECK(!make(uid % VIEWS, uid, name, FILE_, &inode));
	}
	while (mios_fs_payer_next(&w.fs[2], &slot, &payer)) {
		if (payer.others)
			others = payer.has.files;
		files += payer.has.files;
	}
	CHECK(files == USERS && others && others < USERS / 4);
	WHOLE(&w.fs[0], 0);
	share(0, others);
	for (uid = 1; uid <= USERS; uid++) {
		snprintf(name, sizeof(name), "of %u", uid);
		drop(uid % VIEWS, name, false);
	}
	slot = 0;
	CHECK(!mios_fs_payer_next(&w.fs[2], &slot, &payer));
	/* Slots are used again. */
	for (uid = USERS; uid < USERS + 100; uid++) {
		CHECK(!make(0, uid, "again", FILE_, &inode));
		CHECK(has(uid) == 1);
		drop(1, "again", false);
	}
	share(0, 0);
	WHOLE(&w.fs[0], 0);
}

void test_shares(void)
{
	world_make_of(&w, 2 * FS_EXTENTS);
	test_files_of();
	test_pages_of();
	test_grants();
	test_forgiven();
	test_users();
	world_forget(&w);
}
