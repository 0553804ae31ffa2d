// SPDX-License-Identifier: GPL-2.0
/*
 * One step after another, by several instances in turn: names, pages, and what
 * each call refuses.
 */
#include "fstest.h"

#define DIR	0040755
#define FILE_	0100644

static u64 now = 1000;

static int make(struct mios_fs *fs, u64 dir, const char *name, u32 mode)
{
	struct mios_fs_place at = fs_place(fs, dir, name);
	struct mios_fs_attr attr = fs_attr(mode);
	u64 inode;

	attr.ctime = ++now;
	return mios_fs_make(fs, &at, &attr, &inode);
}

static int link_to(struct mios_fs *fs, u64 inode, u64 dir, const char *name)
{
	struct mios_fs_place at = fs_place(fs, dir, name);

	at.file = fs_judged(fs, inode);
	return mios_fs_link(fs, &at, false, ++now);
}

static int drop(struct mios_fs *fs, u64 dir, const char *name, bool directory)
{
	struct mios_fs_place at = fs_place(fs, dir, name);
	int err = mios_fs_remove(fs, &at, directory, ++now);

	if (!err)
		fs_reap(fs, at.file.inode);
	return err;
}

static int move(struct mios_fs *fs, u64 dir, const char *name, u64 to_dir,
		const char *to)
{
	struct mios_fs_place from = fs_place(fs, dir, name);
	struct mios_fs_place at = fs_place(fs, to_dir, to);
	bool directory = (inode_at(fs, fs_find(fs, dir, name))->mode &
			  MIOS_FS_TYPE) == MIOS_FS_DIRECTORY;
	int err = mios_fs_rename(fs, &from, &at, directory, ++now);

	if (!err && at.file.inode)
		fs_reap(fs, at.file.inode);
	return err;
}

static int set(struct mios_fs *fs, u64 inode, const struct mios_fs_attr *attr,
	       u32 which)
{
	struct mios_fs_judged file = fs_judged(fs, inode);

	return mios_fs_setattr(fs, &file, attr, which);
}

static void refusals(struct mios_fs *one, struct mios_fs *two)
{
	const u64 root = MIOS_FS_ROOT;
	u64 d = fs_find(two, root, "d"), e = fs_make(two, d, "e", DIR);
	char longest[MIOS_FS_NAME + 2];

	CHECK(make(two, root, "a", FILE_) == -EEXIST);
	CHECK(make(two, root, "", FILE_) == -ENAMETOOLONG);
	memset(longest, 'n', sizeof(longest) - 1);
	longest[MIOS_FS_NAME + 1] = 0;
	CHECK(make(two, root, longest, FILE_) == -ENAMETOOLONG);
	longest[MIOS_FS_NAME] = 0;
	CHECK(!make(two, root, longest, FILE_));
	CHECK(fs_find(one, root, longest));
	CHECK(!drop(one, root, longest, false));
	CHECK(make(two, 4000, "x", FILE_) == -ENOENT);
	CHECK(make(two, ~0ull, "x", FILE_) == -ENOENT);
	CHECK(link_to(two, d, root, "l") == -EPERM);
	CHECK(drop(two, root, "a", true) == -ENOTDIR);
	CHECK(drop(two, root, "d", false) == -EISDIR);
	CHECK(drop(two, root, "d", true) == -ENOTEMPTY);
	CHECK(drop(two, root, "none", false) == -ENOENT);
	CHECK(move(two, root, "d", e, "d") == -EINVAL);
	CHECK(move(two, root, "d", root, "a") == -ENOTDIR);
	CHECK(move(two, root, "a", root, "d") == -EISDIR);
	CHECK(!make(one, root, "f", DIR));
	CHECK(move(one, root, "f", root, "d") == -ENOTEMPTY);
	CHECK(!move(one, root, "f", d, "e"));
	CHECK(fs_find(one, d, "e") != e);
	CHECK(!drop(one, d, "e", true));
	WHOLE(one, 0);
}

/* Were the times of a file set just now, or not? */
static void times(struct mios_fs *fs, u64 inode, bool names, bool itself)
{
	struct mios_fs_attr attr;

	CHECK(!mios_fs_stat(fs, inode, &attr));
	CHECK((attr.mtime == now) == names);
	CHECK((attr.ctime == now) == itself);
}

/* Of directories one and two, and of a file. */
static void times_of(struct mios_fs *fs, u64 one, u64 two, u64 inode,
		     bool in_one, bool in_two)
{
	times(fs, one, in_one, in_one);
	times(fs, two, in_two, in_two);
	times(fs, inode, false, in_one || in_two);
}

static void names_set_times(struct mios_fs *one, struct mios_fs *two)
{
	const u64 root = MIOS_FS_ROOT;
	u64 d = fs_find(two, root, "d"), a = fs_find(two, root, "a"), b;

	CHECK(!link_to(two, a, d, "b"));
	times_of(one, root, d, a, false, true);
	CHECK(!move(two, d, "b", root, "c"));
	times_of(one, root, d, a, true, true);
	CHECK(!drop(one, root, "c", false));
	times_of(two, root, d, a, true, false);
	CHECK(!make(one, d, "b", FILE_));
	b = fs_find(one, d, "b");
	times_of(two, root, d, b, false, true);
	/* What is replaced has a name less. */
	CHECK(!link_to(one, a, root, "c") && !move(two, d, "b", root, "c"));
	times_of(one, root, d, a, true, true);
	times(one, b, false, true);
	CHECK(move(two, d, "none", root, "c") == -ENOENT);
	now++;
	times_of(one, root, d, a, false, false);
}

/* They have no pages, and no policy: another number lies there. */
/* As many as this instance's mount allows: the other ones go on. */
static void most_files(struct mios_fs *one, struct mios_fs *two)
{
	u64 more, inode;
	struct mios_fs_attr attr = fs_attr(FILE_);
	struct mios_fs_judged root = fs_judged(one, MIOS_FS_ROOT);

	one->files = mios_fs_files(one, &more) + 1;
	CHECK(!make(one, MIOS_FS_ROOT, "last", FILE_));
	CHECK(make(one, MIOS_FS_ROOT, "none", FILE_) == -ENOSPC);
	CHECK(mios_fs_make_nameless(one, &root, &attr, &inode) == -ENOSPC);
	CHECK(!make(two, MIOS_FS_ROOT, "more", FILE_));
	CHECK(!drop(one, MIOS_FS_ROOT, "more", false));
	CHECK(!drop(one, MIOS_FS_ROOT, "last", false));
	CHECK(!make(one, MIOS_FS_ROOT, "last", FILE_));
	CHECK(!drop(one, MIOS_FS_ROOT, "last", false));
	CHECK(mios_fs_extents(one) == 1);
	one->files = 0;
}

static void devices(struct mios_fs *one, struct mios_fs *two)
{
	struct mios_fs_place at = fs_place(one, MIOS_FS_ROOT, "device");
	struct mios_fs_attr attr = fs_attr(0020600);
	u64 inode;

	attr.rdev = ~0ull;
	attr.policy = 2;
	CHECK(!mios_fs_make(one, &at, &attr, &inode));
	CHECK(!mios_fs_stat(two, inode, &attr) && attr.rdev == ~0ull);
	CHECK(!make(one, MIOS_FS_ROOT, "fifo", 0010600));
	CHECK(!mios_fs_stat(two, fs_find(two, MIOS_FS_ROOT, "fifo"), &attr));
	CHECK(!attr.rdev && attr.mode == 0010600);
	WHOLE(two, 0);
	CHECK(!drop(two, MIOS_FS_ROOT, "device", false));
	CHECK(!drop(two, MIOS_FS_ROOT, "fifo", false));
}

static u64 count_names(struct mios_fs *fs, u64 dir)
{
	struct mios_fs_reading r = { .before = ~0ull };
	struct mios_fs_dirent name;
	u64 nr = 0;

	while (mios_fs_readdir(fs, dir, &r, &name) == 1)
		nr++;
	return nr;
}

/* So many that the pool is used up; then all go. */
static void many(struct mios_fs *one, struct mios_fs *two)
{
	u64 nr, i, more, files = mios_fs_files(one, &more);
	char name[24];

	for (nr = 0;; nr++) {
		snprintf(name, sizeof(name), "%llu", nr);
		if (make(nr & 1 ? one : two, MIOS_FS_ROOT, name, FILE_))
			break;
	}
	CHECK(make(one, MIOS_FS_ROOT, name, FILE_) == -ENOSPC);
	CHECK(mios_fs_files(two, &more) == files + nr && !more);
	CHECK(mios_fs_extents(two) == 4 && nr > MIOS_FS_PART_NUMBERS);
	WHOLE(two, 0);
	CHECK(count_names(one, MIOS_FS_ROOT) >= nr);
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%llu", i);
		CHECK(fs_find(one, MIOS_FS_ROOT, name));
		CHECK(!drop(i & 2 ? one : two, MIOS_FS_ROOT, name, false));
	}
	WHOLE(one, 0);
	CHECK(mios_fs_files(two, &more) == files && more > nr - 1);
}

static u64 read_next(struct mios_fs *fs, u64 dir, struct mios_fs_reading *r)
{
	struct mios_fs_dirent name;

	return mios_fs_readdir(fs, dir, r, &name) == 1 ? name.inode : 0;
}

/* For each name that is read another one comes; yet there is an end. */
static void reading_ends(struct mios_fs *one, struct mios_fs *two)
{
	const u64 root = MIOS_FS_ROOT;
	u64 dir = fs_make(one, root, "read", DIR);
	u64 first = fs_make(one, dir, "first", FILE_);
	u64 second = fs_make(one, dir, "second", FILE_);
	u64 third = fs_make(one, dir, "third", FILE_);
	struct mios_fs_reading from = {
		.before = mios_fs_sequence(two, dir),
	};
	struct mios_fs_reading r = from;
	char name[] = "new?";

	CHECK(read_next(two, dir, &r) == third);
	/* A name that changes is met once; one that comes from elsewhere is new. */
	CHECK(!move(one, dir, "third", dir, "3") &&
	      !move(one, dir, "first", dir, "1"));
	CHECK(!move(one, dir, "second", root, "second"));
	CHECK(!move(one, root, "second", dir, "back"));
	for (name[3] = '0'; name[3] <= '9'; name[3]++)
		CHECK(!make(one, dir, name, FILE_));
	CHECK(read_next(two, dir, &r) == first && !read_next(two, dir, &r));
	CHECK(count_names(two, dir) == 13);
	/* Where it was gone on from is no more. */
	r = from;
	CHECK(read_next(two, dir, &r) == third);
	CHECK(!drop(one, dir, "3", false));
	CHECK(read_next(two, dir, &r) == first && !read_next(two, dir, &r));
	while (name[3]-- > '0')
		CHECK(!drop(one, dir, name, false));
	CHECK(drop(one, root, "read", true) == -ENOTEMPTY);
	CHECK(!drop(one, dir, "1", false) && !drop(one, dir, "back", false));
	CHECK(!drop(one, root, "read", true));
	CHECK(second != first);
	WHOLE(one, 0);
}

/* A name is as long as it likes, and changes its length. */
static void lengths(struct mios_fs *one, struct mios_fs *two)
{
	const u64 root = MIOS_FS_ROOT;
	char name[MIOS_FS_NAME + 1], other[MIOS_FS_NAME + 1];
	u32 length;

	CHECK(!make(one, root, "n", FILE_));
	strcpy(name, "n");
	for (length = 2; length <= MIOS_FS_NAME; length++) {
		memset(other, 'a' + length % 26, length);
		other[length] = 0;
		CHECK(!move(one, root, name, root, other));
		CHECK(fs_find(two, root, other) && !fs_find(two, root, name));
		CHECK(!make(two, root, name, FILE_));
		other[length - 1]++;
		CHECK(!fs_find(two, root, other));
		other[length - 1]--;
		CHECK(!drop(one, root, name, false));
		strcpy(name, other);
	}
	WHOLE(one, 0);
	CHECK(!move(two, root, name, root, "n"));
	WHOLE(one, 0);
	CHECK(!drop(one, root, "n", false));
}

void test_names(void)
{
	struct mios_fs *one, *two;
	const u64 root = MIOS_FS_ROOT;
	struct mios_fs_attr attr;
	struct world w;
	u64 a, d;

	world_make(&w);
	one = &w.fs[1];
	two = &w.fs[2];
	a = fs_make(one, root, "a", FILE_);
	d = fs_make(two, root, "d", DIR);
	CHECK(fs_find(two, root, "a") == a && fs_find(one, root, "d") == d);
	CHECK(!link_to(two, a, d, "b"));
	CHECK(!mios_fs_stat(one, a, &attr));
	CHECK(attr.nlink == 2 && attr.uid == 5 && attr.gid == 6);
	CHECK(!move(one, d, "b", root, "c"));
	CHECK(!fs_find(two, d, "b") && fs_find(two, root, "c") == a);
	CHECK(!move(two, root, "c", root, "a"));
	CHECK(!drop(two, root, "c", false));
	CHECK(!mios_fs_stat(one, root, &attr) && attr.nlink == 3);
	WHOLE(two, 0);
	refusals(one, two);
	names_set_times(one, two);
	devices(one, two);
	most_files(one, two);
	reading_ends(one, two);
	lengths(one, two);
	many(one, two);
	world_forget(&w);
}

static u64 cut_all(struct world *w, u32 self, u64 inode)
{
	u64 nr;

	CHECK(!mios_fs_cutter(&w->fs[self], inode));
	CHECK(mios_fs_cutter(&w->fs[3], inode) == -EBUSY);
	nr = fs_cut(w, self, inode, NO_PIN);
	mios_fs_cutter_end(&w->fs[self], inode);
	return nr;
}

/* What is pinned stays, in a hole as zeroes, beyond the end until it may go. */
static void pins(struct world *w, u64 inode)
{
	struct mios_fs *fs = &w->fs[1];
	struct mios_fs_attr attr;
	u64 phys, same;

	fs_size(fs, inode, 6 * 4096);
	*fs_page(w, 2, inode, 1) = 1;
	*fs_page(w, 2, inode, 2) = 2;
	*fs_page(w, 2, inode, 5) = 5;
	CHECK(!mios_fs_cutter(fs, inode));
	mios_fs_hole(fs, inode, 1, 3);
	CHECK(fs_fault(fs, &w->source[1], inode, 1, &phys) == -EBUSY);
	CHECK(fs_fault(fs, &w->source[1], inode, 2, &phys) == -EBUSY);
	CHECK(!fs_fault(fs, &w->source[1], inode, 3, &phys));
	CHECK(fs_cut(w, 1, inode, 2) == 1);
	CHECK(mios_fs_page(fs, NULL, inode, 1, &phys) == -ENOENT);
	CHECK(!*fs_page(w, 2, inode, 2) && *fs_page(w, 2, inode, 5) == 5);
	CHECK(!mios_fs_page(fs, NULL, inode, 5, &phys));
	CHECK(!mios_fs_stat(fs, inode, &attr));
	fs_size(fs, inode, 4096);
	CHECK(fs_cut(w, 1, inode, 5) == 2);
	mios_fs_cutter_end(fs, inode);
	WHOLE(fs, 0);
	CHECK(set(fs, inode, &attr, MIOS_FS_SET_SIZE) == -EINPROGRESS);
	CHECK(!set(fs, inode, &attr, MIOS_FS_SET_SIZE | MIOS_FS_SET_ZEROED));
	CHECK(!mios_fs_page(fs, NULL, inode, 5, &same) && same == phys);
	/* Inside by now: nothing is left. */
	CHECK(!cut_all(w, 2, inode));
	fs_size(fs, inode, 4096);
	CHECK(cut_all(w, 2, inode) == 1);
	CHECK(!set(fs, inode, &attr, MIOS_FS_SET_SIZE));
	fs_size(fs, inode, 0);
	cut_all(w, 1, inode);
	WHOLE(fs, 0);
}

static void sparse(struct world *w, u64 inode)
{
	const u64 far = 512ull * 512 * 512 - 1;
	u64 phys;

	fs_size(&w->fs[1], inode, (far + 1) * 4096);
	*fs_page(w, 1, inode, 0) = 1;
	*fs_page(w, 2, inode, 511) = 2;
	*fs_page(w, 1, inode, 512) = 3;
	*fs_page(w, 2, inode, far) = 4;
	CHECK(*fs_page(w, 2, inode, 0) == 1 && *fs_page(w, 1, inode, 511) == 2);
	CHECK(*fs_page(w, 2, inode, 512) == 3 && *fs_page(w, 1, inode, far) == 4);
	CHECK(fs_fault(&w->fs[1], &w->source[1], inode, far + 1, &phys) ==
	      -ERANGE);
	CHECK(mios_fs_page(&w->fs[1], NULL, inode, 1, &phys) == -ENOENT);
	WHOLE(&w->fs[1], 6);
}

/* Neither a large file nor a large pool keeps others from changes meanwhile. */
static void pieces(void)
{
	const u64 root = MIOS_FS_ROOT;
	struct mios_fs_recovery r = { .pool = { .instance = 1, .epoch = 1 } };
	struct mios_fs_attr attr;
	struct mios_fs *one, *two;
	char name[16];
	struct world w;
	u64 b, ended, nr;

	world_make(&w);
	one = &w.fs[1];
	two = &w.fs[2];
	for (nr = 0; nr < 2600; nr++) {
		snprintf(name, sizeof(name), "many %llu", nr);
		CHECK(!make(one, root, name, FILE_));
	}
	strcpy(name, "a");
	nr = 0;
	b = fs_make(one, root, "b", FILE_);
	sparse(&w, b);
	CHECK(!drop(two, root, "b", false));
	CHECK(mios_fs_stat(two, b, &attr) == -ENOENT);
	b = fs_make(one, root, "b", FILE_);
	CHECK(!mios_fs_stat(one, b, &attr) && !mios_fs_open(one, b, attr.id));
	sparse(&w, b);
	CHECK(!drop(two, root, "b", false));
	mios_fs_close(one, b);
	CHECK(!mios_fs_reap_begin(two, b));
	CHECK(!make(one, root, "c", FILE_));
	/* One is at it, and nobody opens it any more. */
	CHECK(mios_fs_reap_begin(one, b) == -EEXIST);
	CHECK(mios_fs_open(one, b, attr.id) == -ESTALE);
	mios_fs_reap_pages(two, b);
	ended = b;
	CHECK(!make(one, root, "d", FILE_) && !mios_fs_reap_end(two, &ended));
	CHECK(!ended && fs_make(one, root, "e", FILE_) == b);
	CHECK(!mios_fs_stat(one, b, &attr) && !mios_fs_open(two, b, attr.id));
	mios_fs_close(two, b);
	while (mios_fs_recover(two, &r) == 1) {
		name[0] = 'f' + nr++ % 16;
		CHECK(!make(&w.fs[3], root, name, FILE_));
		CHECK(!drop(&w.fs[3], root, name, false));
	}
	CHECK(nr > 10);
	world_release(&w, 2);
	WHOLE(two, 0);
	world_forget(&w);
}

void test_files(void)
{
	struct mios_fs *one, *two;
	const u64 root = MIOS_FS_ROOT;
	struct mios_fs_attr attr;
	struct world w;
	u64 a, id;

	pieces();
	world_make(&w);
	one = &w.fs[1];
	two = &w.fs[2];
	a = fs_make(one, root, "a", FILE_);
	pins(&w, a);
	CHECK(!mios_fs_stat(one, a, &attr));
	id = attr.id;
	CHECK(!mios_fs_open(one, a, id) && !mios_fs_open(two, a, id));
	CHECK(mios_fs_open(two, a, id + 1) == -ESTALE);
	CHECK(!mios_fs_open(two, a, id));
	sparse(&w, a);
	CHECK(mios_fs_pages(two, a) == 4);
	fs_size(two, a, 512 * 4096 + 1);
	attr.size = 513 * 4096ull * 2;
	CHECK(set(one, a, &attr, MIOS_FS_SET_SIZE) == -EINPROGRESS);
	WHOLE(one, 6);
	CHECK(cut_all(&w, 1, a) == 1);
	CHECK(mios_fs_pages(one, a) == 3);
	CHECK(!set(one, a, &attr, MIOS_FS_SET_SIZE));
	/* What is not meant stays as another instance has made it. */
	attr.size = 1;
	attr.mode = 0600;
	CHECK(!set(two, a, &attr, MIOS_FS_SET_GROW));
	CHECK(!mios_fs_stat(one, a, &attr));
	CHECK(attr.size == 513 * 4096ull * 2 && attr.mode == FILE_);
	attr.mode = 0600;
	attr.size = 1;
	CHECK(!set(two, a, &attr, MIOS_FS_SET_MODE));
	CHECK(!mios_fs_stat(one, a, &attr));
	CHECK(attr.size == 513 * 4096ull * 2 &&
	      attr.mode == (MIOS_FS_TYPE & FILE_) + 0600);
	CHECK(*fs_page(&w, 2, a, 512) == 3);

	/* No name any more, but open: it lives until the last has closed it. */
	CHECK(!drop(two, root, "a", false));
	CHECK(*fs_page(&w, 2, a, 511) == 2);
	mios_fs_close(one, a);
	CHECK(fs_reap(one, a) == -EEXIST);
	mios_fs_close(two, a);
	CHECK(!fs_reap(two, a));
	CHECK(mios_fs_open(one, a, id) == -ESTALE);
	WHOLE(one, 0);
	world_forget(&w);
}
