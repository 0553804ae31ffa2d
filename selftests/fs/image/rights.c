// SPDX-License-Identifier: GPL-2.0
/*
 * One judges what he may do, another instance changes what that rests on, and then
 * the first gets the lock: each kind of change is refused, or does no more than
 * was asked for.
 */
#include "fstest.h"

#define DIR	0041777
#define FILE_	0104755
#define ROOT	0
#define MINE	5		/* fs_attr()'s */
#define OTHER	7

static u64 now = 5000;

static void set(struct mios_fs *fs, u64 inode, u32 which, u32 uid, u32 gid,
		u32 mode)
{
	const struct mios_fs_judged file = fs_judged(fs, inode);
	const struct mios_fs_attr attr = { .uid = uid, .gid = gid,
					   .mode = mode, .ctime = ++now };

	CHECK(!mios_fs_setattr(fs, &file, &attr, which));
}

static struct mios_fs_judged judged(struct mios_fs *fs, u64 inode, u32 by)
{
	struct mios_fs_attr attr;

	CHECK(!mios_fs_stat(fs, inode, &attr));
	return (struct mios_fs_judged){
		.inode = inode, .id = attr.id, .uid = attr.uid,
		.gid = attr.gid, .mode = attr.mode, .by = by,
	};
}

/* As one who is nobody in particular: the directory counts, and its owner. */
static struct mios_fs_place place(struct mios_fs *fs, u64 dir, const char *name)
{
	return (struct mios_fs_place){
		.dir = judged(fs, dir, MIOS_FS_BY_ALL), .name = fs_name(name),
	};
}

/* In a sticky directory. */
static struct mios_fs_place own(struct mios_fs *fs, u64 dir, const char *name)
{
	struct mios_fs_place at = place(fs, dir, name);

	at.file.by = MIOS_FS_BY_UID;
	at.file.uid = MINE;
	return at;
}

/* Everything that adds or takes away names, by what was judged in @at. */
static void directory_says(struct mios_fs *fs, const struct mios_fs_place *at,
			   u64 file, int said)
{
	struct mios_fs_place gone = *at, to = *at, new = *at;
	struct mios_fs_attr attr = fs_attr(FILE_);
	u64 inode;

	new.name = fs_name("new");
	CHECK(mios_fs_make(fs, &new, &attr, &inode) == said);
	CHECK(mios_fs_make_nameless(fs, &at->dir, &attr, &inode) == said);
	new.file = fs_judged(fs, file);
	CHECK(mios_fs_link(fs, &new, false, ++now) == said);
	CHECK(mios_fs_remove(fs, &gone, false, ++now) == said);
	CHECK(mios_fs_rename(fs, &gone, &new, false, ++now) == said);
	new.dir = fs_judged(fs, at->dir.inode);
	new.name = gone.name;
	CHECK(mios_fs_exchange(fs, &gone, &new, ++now) == said);
	CHECK(mios_fs_exchange(fs, &new, &gone, ++now) == said);
	gone.dir = fs_judged(fs, at->dir.inode);
	to.name = fs_name("to");
	CHECK(mios_fs_rename(fs, &gone, &to, false, ++now) == said);
}

/* A directory's owner takes from others what they may there. */
static void directory_changes(struct mios_fs *one, struct mios_fs *two)
{
	u64 d = fs_make(two, MIOS_FS_ROOT, "d", DIR);
	u64 f = fs_make(two, d, "f", FILE_);
	struct mios_fs_place at;

	at = place(one, d, "f");
	set(two, d, MIOS_FS_SET_MODE, 0, 0, 0700);
	directory_says(one, &at, f, -EAGAIN);
	at = place(one, d, "f");
	set(two, d, MIOS_FS_SET_UID, OTHER, 0, 0);
	directory_says(one, &at, f, -EAGAIN);
	at = place(one, d, "f");
	set(two, d, MIOS_FS_SET_GID, 0, OTHER, 0);
	directory_says(one, &at, f, -EAGAIN);
	/* Another one, which has its number. */
	at = place(one, d, "f");
	at.dir.id++;
	at.dir.by = MIOS_FS_BY_ID;
	directory_says(one, &at, f, -ESTALE);
}

static void replace(struct mios_fs *fs, u64 dir, const char *name, u32 mode,
		    u32 uid)
{
	struct mios_fs_place at = fs_place(fs, dir, name);
	struct mios_fs_attr old;

	CHECK(!mios_fs_stat(fs, fs_find(fs, dir, name), &old));
	CHECK(!mios_fs_remove(fs, &at, (old.mode & MIOS_FS_TYPE) == 0040000,
			      ++now));
	CHECK(!fs_reap(fs, at.file.inode));
	set(fs, fs_make(fs, dir, name, mode), MIOS_FS_SET_UID, uid, 0, 0);
}

/* Another user's file has the name by now, in a sticky directory. */
static void others_file(struct mios_fs *one, struct mios_fs *two)
{
	u64 d = fs_make(two, MIOS_FS_ROOT, "sticky", DIR);
	struct mios_fs_place at, from, to;

	fs_make(two, d, "f", FILE_);
	fs_make(two, d, "mine", FILE_);
	at = own(one, d, "f");
	from = own(one, d, "mine");
	replace(two, d, "f", FILE_, OTHER);
	to = at;
	CHECK(mios_fs_exchange(one, &from, &to, ++now) == -EPERM);
	CHECK(mios_fs_exchange(one, &to, &from, ++now) == -EPERM);
	CHECK(mios_fs_remove(one, &at, false, ++now) == -EPERM);
	CHECK(mios_fs_rename(one, &from, &to, false, ++now) == -EPERM);
	to.name = fs_name("to");
	CHECK(mios_fs_rename(one, &at, &to, false, ++now) == -EPERM);
	/* One's own, whichever, is as good. */
	replace(two, d, "f", FILE_, MINE);
	CHECK(!mios_fs_rename(one, &from, &at, false, ++now));
	CHECK(!fs_reap(one, at.file.inode));
	at = own(one, d, "f");
	CHECK(!mios_fs_remove(one, &at, false, ++now));
	CHECK(!fs_reap(one, at.file.inode));
}

/* Names that must not be there, and directories that must be those. */
static void another_file(struct mios_fs *one, struct mios_fs *two)
{
	u64 d = fs_make(two, MIOS_FS_ROOT, "other", DIR);
	struct mios_fs_place at, to;
	u64 sub = fs_make(two, d, "sub", DIR);

	at = place(one, d, "sub");
	at.file = judged(one, sub, MIOS_FS_BY_ID);
	replace(two, d, "sub", FILE_, MINE);
	replace(two, d, "sub", DIR, MINE);
	CHECK(mios_fs_remove(one, &at, true, ++now) == -ESTALE);
	to = place(one, d, "to");
	CHECK(mios_fs_exchange(one, &at, &at, ++now) == -ESTALE);
	CHECK(mios_fs_rename(one, &at, &to, true, ++now) == -ESTALE);
	at = place(one, d, "sub");
	CHECK(mios_fs_rename(one, &at, &to, false, ++now) == -ESTALE);
	fs_make(two, d, "to", DIR);
	to.file.by = MIOS_FS_BY_NONE;
	CHECK(mios_fs_rename(one, &at, &to, true, ++now) == -EEXIST);
	/* protected_hardlinks: what it was when it was looked at. */
	sub = fs_make(two, d, "f", 0100666);
	at = place(one, d, "link");
	at.file = judged(one, sub, MIOS_FS_BY_ALL);
	set(two, sub, MIOS_FS_SET_MODE, 0, 0, 04755);
	CHECK(mios_fs_link(one, &at, false, ++now) == -ESTALE);
}

/* The old owner's chgrp, chmod and utimes come after root's chown and chmod. */
static void owner_changes(struct mios_fs *one, struct mios_fs *two)
{
	const struct mios_fs_attr attr = { .mode = 0666, .gid = MINE, };
	u64 f = fs_make(two, MIOS_FS_ROOT, "owned", FILE_);
	const struct mios_fs_judged mine = judged(one, f, MIOS_FS_BY_ID |
						  MIOS_FS_BY_UID);
	const struct mios_fs_judged may = judged(one, f, MIOS_FS_BY_ALL);
	struct mios_fs_attr is;

	set(two, f, MIOS_FS_SET_UID, ROOT, 0, 0);
	CHECK(mios_fs_setattr(one, &mine, &attr, MIOS_FS_SET_GID) == -EAGAIN);
	CHECK(mios_fs_setattr(one, &mine, &attr, MIOS_FS_SET_MODE) == -EAGAIN);
	CHECK(mios_fs_setattr(one, &mine, &attr, MIOS_FS_SET_ATIME) == -EAGAIN);
	set(two, f, MIOS_FS_SET_UID | MIOS_FS_SET_MODE, MINE, 0, 0600);
	CHECK(mios_fs_setattr(one, &may, &attr, MIOS_FS_SET_MTIME) == -EAGAIN);
	CHECK(mios_fs_setattr(one, &may, &attr, MIOS_FS_SET_POLICY) == -EAGAIN);
	CHECK(!mios_fs_stat(two, f, &is));
	CHECK(is.uid == MINE && is.gid == 6 && is.mode == 0100600);
}

/* What is not asked for stays; what rests on nothing is done in any case. */
static void by_themselves(struct mios_fs *one, struct mios_fs *two)
{
	u64 f = fs_make(two, MIOS_FS_ROOT, "alone", 0106755);
	struct mios_fs_attr is, was;

	set(two, f, MIOS_FS_SET_UID, ROOT, 99, 0);
	set(one, f, MIOS_FS_SET_GID, 99, OTHER, 0);
	CHECK(!mios_fs_stat(two, f, &is));
	CHECK(is.uid == ROOT && is.gid == OTHER && is.mode == 0106755);
	set(one, f, MIOS_FS_DROP_SETID, 99, 99, 0777);
	CHECK(!mios_fs_stat(two, f, &is) && is.mode == 0100755);
	set(two, f, MIOS_FS_SET_MODE, 0, 0, 06745);
	set(one, f, MIOS_FS_DROP_SETID, 0, 0, 0);
	CHECK(!mios_fs_stat(two, f, &is) && is.mode == 0102745);
	set(one, f, MIOS_FS_DROP_SETGID, 0, 0, 0);
	CHECK(!mios_fs_stat(two, f, &was) && was.mode == 0100745);
	CHECK(was.atime == is.atime && was.mtime == is.mtime);
	/* Who has waited comes with a time that is past. */
	now -= 100;
	set(one, f, MIOS_FS_SET_WRITTEN, 0, 0, 0);
	CHECK(!mios_fs_stat(two, f, &is));
	CHECK(is.ctime > was.ctime && is.mtime == is.ctime);
	now += 100;
}

void test_rights(void)
{
	struct world w;

	world_make(&w);
	directory_changes(&w.fs[1], &w.fs[2]);
	others_file(&w.fs[1], &w.fs[2]);
	another_file(&w.fs[1], &w.fs[2]);
	owner_changes(&w.fs[1], &w.fs[2]);
	by_themselves(&w.fs[1], &w.fs[2]);
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}
