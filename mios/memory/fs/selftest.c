// SPDX-License-Identifier: GPL-2.0
/*
 * When the module is loaded it makes a pool in memory of its own, and goes
 * through the life of a few pages and files in it as the compiler of this
 * kernel has built it, by two instances that are both this one.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "selftest.h"
#include "tx.h"

#define TEST_BASE	((u64)MIOS_EXTENT_SIZE)
#define TEST_SIZE	(2UL * MIOS_EXTENT_SIZE)
#define TEST_NODE	0
#define TEST_FILE	0100644

static bool always_late(void *ctx)
{
	return true;
}

static void nobody_sleeps(void *ctx, u64 *word)
{
}

/* One after the other, the lock is always to be had. */
static const struct mios_lock_wait waits = {
	.wake = nobody_sleeps, .late = always_late,
};

struct selftest {
	struct mios_pool one;
	struct mios_pool two;
	struct mios_fs fs_one;
	struct mios_fs fs_two;
	struct mios_fs_parts parts_one;
	struct mios_fs_parts parts_two;
	struct mios_cursor cursor;
	struct mios_source source;
};

static int pool_make(struct selftest *t, void *memory)
{
	const struct mios_pool_place place = {
		.base = TEST_BASE, .size = TEST_SIZE,
	};
	int err = mios_pool_format(memory, place.base, place.size, TEST_NODE);

	if (!err)
		err = mios_pool_attach(&t->one, memory, &place, TEST_NODE, 1,
				       1);
	if (!err)
		err = mios_pool_attach(&t->two, memory, &place, TEST_NODE, 2,
				       1);
	if (!err)
		mios_pool_open(&t->one, 0);
	return err;
}

static int pages_live(struct selftest *t)
{
	struct mios_page first, second;

	if (mios_pool_alloc(&t->one, &t->cursor, &first) ||
	    mios_pool_alloc(&t->one, &t->cursor, &second) ||
	    first.phys == second.phys)
		return -EIO;
	if (mios_pool_free(&t->two, &first) != -EPERM ||
	    mios_pool_free(&t->one, &first) ||
	    mios_pool_free(&t->one, &first) != -EALREADY)
		return -EIO;
	if (mios_pool_object(&t->one, &second, 1) ||
	    mios_pool_keep(&t->one, &second) ||
	    mios_pool_take(&t->two, second.phys, false, 1, &second) ||
	    mios_pool_free(&t->two, &second))
		return -EIO;
	return 0;
}

static int fs_make(struct selftest *t)
{
	const struct mios_fs_attr attr = { .mode = 0755 };
	const u64 key[2] = { 1, 2 };
	struct mios_page page;
	void *image;
	int err = mios_pool_alloc_huge(&t->one, &page);

	if (err)
		return err;
	image = mios_pool_memory(&t->one, page.phys);
	err = mios_fs_format(image, page.phys, &attr, key);
	if (!err)
		err = mios_pool_object(&t->one, &page, MIOS_FS_IMAGE);
	if (!err)
		err = mios_pool_keep(&t->one, &page);
	if (!err)
		err = mios_fs_attach(&t->fs_one, &t->one, image, page.phys,
				     &t->parts_one);
	if (!err)
		err = mios_fs_attach(&t->fs_two, &t->two, image, page.phys,
				     &t->parts_two);
	t->fs_one.lock.wait = &waits;
	t->fs_one.recovery.wait = &waits;
	t->fs_two.lock.wait = &waits;
	t->fs_two.recovery.wait = &waits;
	return err;
}

static int one_dies(struct selftest *t)
{
	struct mios_fs_recovery r = { .pool = { .instance = 1, .epoch = 1 } };
	int err;

	do {
		err = mios_fs_recover(&t->fs_two, &r);
	} while (err > 0);
	return err;
}

/* What the one makes the other sees, page and all; then the one dies. */
static int files_live(struct selftest *t)
{
	struct mios_fs_place at = {
		.dir = { .inode = MIOS_FS_ROOT }, .name = { "file", 4 },
	};
	struct mios_fs_attr attr = { .mode = TEST_FILE };
	struct mios_fs_judged file = { .by = MIOS_FS_BY_ID };
	struct mios_need need = { .from = &t->source };
	u64 inode, seen, stamp, phys, same;

	if (mios_fs_make(&t->fs_one, &at, &attr, &inode) ||
	    mios_fs_lookup(&t->fs_two, MIOS_FS_ROOT, &at.name, &seen,
			   &stamp) ||
	    inode != seen || mios_fs_stat(&t->fs_two, seen, &attr))
		return -EIO;
	file.inode = seen;
	file.id = attr.id;
	attr.size = PAGE_SIZE;
	if (mios_fs_setattr(&t->fs_two, &file, &attr, MIOS_FS_SET_SIZE) ||
	    mios_fs_open(&t->fs_one, inode, attr.id) ||
	    mios_fs_page(&t->fs_one, &need, inode, 0, &phys) ||
	    mios_fs_page(&t->fs_two, NULL, seen, 0, &same) || phys != same)
		return -EIO;
	if (mios_fs_remove(&t->fs_two, &at, false, 1) ||
	    at.file.inode != seen ||
	    mios_fs_reap_begin(&t->fs_two, seen) != -EEXIST ||
	    one_dies(t) || mios_fs_stat(&t->fs_two, inode, &attr) != -ENOENT)
		return -EIO;
	return 0;
}

int mios_fs_selftest(void)
{
	struct selftest *t = vzalloc(sizeof(*t));
	void *memory = vzalloc(TEST_SIZE);
	int err = -ENOMEM;

	if (t && memory) {
		spin_lock_init(&t->source.lock);
		err = pool_make(t, memory);
		if (!err)
			err = pages_live(t);
		if (!err)
			err = fs_make(t);
		if (!err)
			err = files_live(t);
		if (err)
			pr_err("mios_fs: self-test failed: %d\n", err);
	}
	vfree(memory);
	vfree(t);
	return err;
}
