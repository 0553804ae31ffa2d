// SPDX-License-Identifier: GPL-2.0
/*
 * Two names that change places: what each leads to then, what is counted, and
 * what is refused.  test_rights() has who may.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define DIR	0040755
#define FILE_	0100644

static u64 now = 1000;

static int swap(struct mios_fs *fs, u64 dir, const char *name, u64 to_dir,
		const char *to)
{
	struct mios_fs_place one = fs_place(fs, dir, name);
	struct mios_fs_place two = fs_place(fs, to_dir, to);

	one.file = fs_judged(fs, fs_find(fs, dir, name));
	two.file = fs_judged(fs, fs_find(fs, to_dir, to));
	return mios_fs_exchange(fs, &one, &two, ++now);
}

static u32 links(struct mios_fs *fs, u64 inode)
{
	struct mios_fs_attr attr;

	CHECK(!mios_fs_stat(fs, inode, &attr));
	return attr.nlink;
}

/* /d/sub, /d/f, /g: directories of other kinds of files, and back. */
static void kinds(struct mios_fs *one, struct mios_fs *two)
{
	u64 d = fs_make(one, MIOS_FS_ROOT, "d", DIR);
	u64 sub = fs_make(one, d, "sub", DIR), f = fs_make(one, d, "f", FILE_);
	u64 g = fs_make(one, MIOS_FS_ROOT, "g", FILE_);
	u32 root = links(one, MIOS_FS_ROOT);

	CHECK(!swap(one, d, "sub", d, "f"));
	CHECK(fs_find(two, d, "sub") == f && fs_find(two, d, "f") == sub);
	CHECK(links(two, d) == 3);
	CHECK(!swap(two, d, "f", MIOS_FS_ROOT, "g"));
	CHECK(fs_find(one, d, "f") == g);
	CHECK(fs_find(one, MIOS_FS_ROOT, "g") == sub);
	CHECK(links(one, d) == 2 && links(one, MIOS_FS_ROOT) == root + 1);
	WHOLE(two, 0);
	CHECK(!swap(one, MIOS_FS_ROOT, "g", d, "f"));
	CHECK(links(one, d) == 3 && links(one, MIOS_FS_ROOT) == root);
}

/* Of two names of one file there is nothing to exchange. */
static void same_file(struct mios_fs *one, struct mios_fs *two)
{
	struct mios_fs_place at = fs_place(one, MIOS_FS_ROOT, "again");
	u64 g = fs_find(one, MIOS_FS_ROOT, "g");

	at.file = fs_judged(one, g);
	CHECK(!mios_fs_link(one, &at, false, ++now));
	CHECK(!swap(two, MIOS_FS_ROOT, "g", MIOS_FS_ROOT, "again"));
	CHECK(links(two, g) == 2);
}

static void refusals(struct mios_fs *one, struct mios_fs *two)
{
	u64 d = fs_find(one, MIOS_FS_ROOT, "d"), sub = fs_find(one, d, "f");
	u64 deep = fs_make(one, sub, "deep", FILE_);
	struct mios_fs_place none = fs_place(one, MIOS_FS_ROOT, "none");
	struct mios_fs_place to = fs_place(one, d, "sub");

	CHECK(swap(one, MIOS_FS_ROOT, "d", sub, "deep") == -EINVAL);
	CHECK(swap(two, sub, "deep", MIOS_FS_ROOT, "d") == -EINVAL);
	CHECK(fs_find(two, sub, "deep") == deep);
	CHECK(mios_fs_exchange(one, &none, &to, ++now) == -ENOENT);
	CHECK(mios_fs_exchange(one, &to, &none, ++now) == -ENOENT);
	/* Another kind of file was judged. */
	to = fs_place(one, d, "f");
	none.name = fs_name("g");
	CHECK(mios_fs_exchange(one, &to, &none, ++now) == -ESTALE);
	CHECK(mios_fs_exchange(one, &none, &to, ++now) == -ESTALE);
}

void test_exchange(void)
{
	struct world w;

	world_make(&w);
	kinds(&w.fs[1], &w.fs[2]);
	same_file(&w.fs[1], &w.fs[2]);
	refusals(&w.fs[1], &w.fs[2]);
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}
