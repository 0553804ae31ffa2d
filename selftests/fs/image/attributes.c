// SPDX-License-Identifier: GPL-2.0
/*
 * Extended attributes: who has changed them meanwhile, what goes with a file, and
 * a list of them, whatever a peer has written there.
 */
#include "../../../mios/memory/fs/attributes.h"
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define DIR	0040755
#define FILE_	0100644
#define NOW	7

static u64 files(struct mios_fs *fs)
{
	u64 more;

	return mios_fs_files(fs, &more);
}

static struct mios_fs_holder holder_of(struct mios_fs *fs, u64 inode)
{
	struct mios_fs_holder holder;

	CHECK(!mios_fs_attributes(fs, inode, inode_at(fs, inode)->id, &holder));
	return holder;
}

static void drop(struct mios_fs *fs, const char *name, bool directory)
{
	struct mios_fs_place at = fs_place(fs, MIOS_FS_ROOT, name);

	CHECK(!mios_fs_remove(fs, &at, directory, NOW));
	CHECK(!fs_reap(fs, at.file.inode));
}

/* Who has found the old ones replaces no others. */
static void come_between(struct world *w, u64 f)
{
	struct mios_fs_judged file = fs_judged(&w->fs[1], f);
	struct mios_fs_holder none = { }, was = holder_of(&w->fs[1], f);

	CHECK(!was.inode);
	fs_attributes(w, 2, f, true);
	CHECK(mios_fs_attributes_set(&w->fs[1], &file, &was, &none, NOW) ==
	      -EAGAIN);
	was = holder_of(&w->fs[1], f);
	fs_attributes(w, 2, f, true);
	/* It may have the same number. */
	CHECK(mios_fs_attributes_set(&w->fs[1], &file, &was, &none, NOW) ==
	      -EAGAIN);
	file.id++;
	was = holder_of(&w->fs[1], f);
	CHECK(mios_fs_attributes_set(&w->fs[1], &file, &was, &none, NOW) ==
	      -ESTALE);
	CHECK(mios_fs_attributes(&w->fs[1], f, file.id, &was) == -ESTALE);
}

/* Who reads the old ones has them until he closes them. */
static void read_on(struct world *w, u64 f)
{
	struct mios_fs_holder was = holder_of(&w->fs[1], f);
	u64 before = files(&w->fs[1]);

	CHECK(!mios_fs_open(&w->fs[1], was.inode, was.id));
	drop(&w->fs[2], "f", false);
	CHECK(files(&w->fs[1]) == before - 1);
	CHECK(inode_at(&w->fs[1], was.inode)->id == was.id);
	mios_fs_close(&w->fs[1], was.inode);
	CHECK(mios_fs_is_left(&w->fs[1], was.inode));
	CHECK(!fs_reap(&w->fs[1], was.inode));
}

/* A directory moves with them, and is where it was. */
static void directory_moves(struct mios_fs *fs, u64 d, u64 sub)
{
	struct mios_fs_place from = fs_place(fs, d, "sub");
	struct mios_fs_place to = fs_place(fs, MIOS_FS_ROOT, "moved");
	struct mios_fs_holder was = holder_of(fs, sub), is;
	struct mios_fs_attr attr;

	CHECK(!mios_fs_rename(fs, &from, &to, true, NOW));
	is = holder_of(fs, sub);
	CHECK(is.inode && is.inode == was.inode && is.id == was.id);
	CHECK(!mios_fs_stat(fs, sub, &attr) && attr.parent == MIOS_FS_ROOT);
	from = fs_place(fs, MIOS_FS_ROOT, "d");
	to = fs_place(fs, sub, "under");
	CHECK(!mios_fs_rename(fs, &from, &to, true, NOW));
	WHOLE(fs, 0);
	CHECK(mios_fs_rename(fs, &to, &from, true, NOW) == 0);
}

static const struct mios_fs_name one = { "one", 3 }, two = { "second", 6 };

static void value_is(const struct mios_attributes *a,
		     const struct mios_fs_name *name, const char *value)
{
	const struct mios_fs_attribute *found = mios_attribute_find(a, name);

	CHECK(found && found->size == strlen(value));
	CHECK(!memcmp(mios_attribute_value(found), value, found->size));
}

static void lists(void)
{
	struct mios_attributes a = { .room = 64 };
	u64 seed = 1;
	u32 i, at;

	a.list = malloc(a.room);
	CHECK(a.list && !mios_attribute_find(&a, &one));
	CHECK(!mios_attribute_put(&a, &one, "abc", 3));
	CHECK(!mios_attribute_put(&a, &two, "", 0) && a.size == 32);
	CHECK(!mios_attribute_put(&a, &one, "value", 5) && a.size == 32);
	value_is(&a, &one, "value");
	value_is(&a, &two, "");
	CHECK(mios_attribute_put(&a, &one, a.list, 60) == -ENOSPC);
	value_is(&a, &two, "");
	CHECK(!mios_attribute_put(&a, &two, NULL, 0));
	CHECK(!a.size && !mios_attribute_find(&a, &two));
	for (i = 0; i < 100000; i++) {
		a.size = test_random(&seed) % (a.room / 8 + 1) * 8;
		for (at = 0; at < a.room; at++)
			a.list[at] = test_random(&seed) % 4 ? 0 :
				     test_random(&seed);
		for (at = 0; mios_attribute_next(&a, &at);)
			CHECK(at <= a.size);
		mios_attribute_put(&a, &one, i % 2 ? "ab" : NULL, 2);
		CHECK(a.size <= a.room);
	}
	free(a.list);
}

void test_attributes(void)
{
	struct world w;
	u64 f, d, sub, before;

	lists();
	world_make(&w);
	f = fs_make(&w.fs[0], MIOS_FS_ROOT, "f", FILE_);
	d = fs_make(&w.fs[0], MIOS_FS_ROOT, "d", DIR);
	sub = fs_make(&w.fs[0], d, "sub", DIR);
	before = files(&w.fs[0]);
	come_between(&w, f);
	CHECK(files(&w.fs[0]) == before + 1);
	WHOLE(&w.fs[0], 0);
	read_on(&w, f);
	CHECK(files(&w.fs[0]) == before - 1);
	fs_attributes(&w, 1, sub, true);
	directory_moves(&w.fs[2], d, sub);
	fs_attributes(&w, 1, sub, false);
	CHECK(files(&w.fs[0]) == before - 1);
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}
