// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of files, by several instances in turn: what each call means, whose
 * turn it is, and what a death and a full table leave.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define FLOCK	MIOS_FS_FILELOCK_FLOCK
#define POSIX	MIOS_FS_FILELOCK_POSIX
#define OFD	MIOS_FS_FILELOCK_OFD
#define EXCL	MIOS_FS_FILELOCK_EXCLUSIVE
#define END	(~0ull)
#define SOME	40		/* records of one owner: more than one change does */
#define TEXT	256
#define RESERVE	64		/* as in filelock_table.c */

static struct mios_fs *one, *two, *three;
static u64 file, id;

static struct mios_fs_lock_wish wish(u32 how, u64 owner, u64 first, u64 last)
{
	return (struct mios_fs_lock_wish) {
		.inode = file, .id = id, .kind = how & ~EXCL,
		.exclusive = how & EXCL, .owner = owner, .first = first,
		.last = last, .pid = owner + 100,
	};
}

/* Until all of it is done. */
static int take(struct mios_fs *fs, u32 how, u64 owner, u64 first, u64 last)
{
	struct mios_fs_lock_wish w = wish(how, owner, first, last);
	int err = mios_fs_lock_take(fs, &w, false);

	while (err == MIOS_FS_LOCK_MORE)
		err = mios_fs_lock_trim(fs, &w);
	return err;
}

static int drop(struct mios_fs *fs, u32 how, u64 owner, u64 first, u64 last)
{
	struct mios_fs_lock_wish w = wish(how, owner, first, last);
	int err;

	do {
		err = mios_fs_lock_drop(fs, &w);
	} while (err == MIOS_FS_LOCK_MORE);
	return err;
}

/* MIOS_FS_LOCK_WAITS, for the most part. */
static int await(struct mios_fs *fs, struct mios_fs_lock_wish *w, u32 how,
		 u64 owner, u64 first, u64 last)
{
	*w = wish(how, owner, first, last);
	return mios_fs_lock_take(fs, w, true);
}

static int again(struct mios_fs *fs, struct mios_fs_lock_wish *w)
{
	return mios_fs_lock_take(fs, w, true);
}

static bool is_in_table(const struct mios_fs_filelock *lock, u32 instance)
{
	return (u32)lock->file && (lock->who & 63) == instance;
}

/* How many an instance has in the table, or waits for. */
static u32 has_in_table(u32 instance)
{
	const struct mios_fs_filelocks *table = filelocks_of(three);
	u32 i, nr = 0;

	for (i = 1; i < MIOS_FS_FILELOCKS; i++)
		nr += is_in_table(&table->lock[i], instance);
	return nr;
}

static const struct mios_fs_filelock *next_after(struct mios_fs *fs, u64 owner,
						 u64 first)
{
	const struct mios_fs_filelocks *table = filelocks_of(fs);
	const struct mios_fs_filelock *lock, *found = NULL;

	for (lock = table->lock + 1; lock < table->lock + MIOS_FS_FILELOCKS;
	     lock++)
		if (is_in_table(lock, fs->pool->self) && lock->owner == owner &&
		    lock->first >= first &&
		    (!found || lock->first < found->first))
			found = lock;
	return found;
}

/* What an owner has, in the order of its bytes: "x0-9 s10-e". */
static bool has(struct mios_fs *fs, u64 owner, const char *all)
{
	const struct mios_fs_filelock *lock;
	char text[TEXT] = "", end[24];
	size_t used = 0;
	u64 at = 0;

	while (used < sizeof(text) && (lock = next_after(fs, owner, at))) {
		snprintf(end, sizeof(end), lock->last == END ? "e" : "%llu",
			 (unsigned long long)lock->last);
		used += snprintf(text + used, sizeof(text) - used, "%s%c%llu-%s",
				 used ? " " : "",
				 lock->file >> 32 & EXCL ? 'x' : 's',
				 (unsigned long long)lock->first, end);
		at = lock->first + 1;
	}
	if (strcmp(text, all))
		fprintf(stderr, "has %s, not %s\n", text, all);
	return !strcmp(text, all);
}

static void nobody_has_any(void)
{
	CHECK(!has_in_table(1) && !has_in_table(2) && !has_in_table(3));
	WHOLE(three, 14);
}

static void meanings(void)
{
	CHECK(!take(one, FLOCK | EXCL, 1, 0, END));
	CHECK(take(two, FLOCK | EXCL, 1, 0, END) == -EAGAIN);
	CHECK(take(one, FLOCK, 2, 0, END) == -EAGAIN);
	/* fcntl() and flock() do not meet. */
	CHECK(!take(two, POSIX | EXCL, 1, 0, END));
	CHECK(!take(one, FLOCK, 1, 0, END));
	CHECK(!take(two, FLOCK, 1, 0, END));
	/* What was there goes, even where the other one is refused. */
	CHECK(take(two, FLOCK | EXCL, 1, 0, END) == -EAGAIN);
	CHECK(has(two, 1, "x0-e"));
	CHECK(!drop(two, POSIX, 1, 0, END) && has(two, 1, ""));
	CHECK(has(one, 1, "s0-e"));
	CHECK(!drop(one, FLOCK, 1, 0, END));
	/* A process and an open file description of its own do. */
	CHECK(!take(one, POSIX | EXCL, 1, 5, 9));
	CHECK(take(one, OFD, 1, 9, 9) == -EAGAIN);
	CHECK(take(one, OFD | EXCL, 1, 0, 5) == -EAGAIN);
	CHECK(!take(one, OFD | EXCL, 1, 0, 4));
	CHECK(!take(one, OFD | EXCL, 1, 10, END));
	CHECK(!drop(one, OFD, 1, 0, END) && has(one, 1, "x5-9"));
	CHECK(!drop(one, POSIX, 1, 0, END));
	nobody_has_any();
}

static void ranges(void)
{
	CHECK(!take(one, POSIX, 1, 10, 19) && !take(one, POSIX, 1, 30, 39));
	CHECK(has(one, 1, "s10-19 s30-39"));
	CHECK(!take(one, POSIX, 1, 20, 29) && has(one, 1, "s10-39"));
	/* Up, down, and in the middle. */
	CHECK(!take(one, POSIX | EXCL, 1, 20, 24));
	CHECK(has(one, 1, "s10-19 x20-24 s25-39"));
	CHECK(!take(two, POSIX, 1, 0, 19) && !take(two, POSIX, 1, 25, END));
	CHECK(take(two, POSIX, 1, 24, 24) == -EAGAIN);
	CHECK(take(one, POSIX | EXCL, 1, 19, 19) == -EAGAIN);
	CHECK(!take(one, POSIX, 1, 15, 30) && has(one, 1, "s10-39"));
	CHECK(!take(two, POSIX, 1, 24, 24));
	CHECK(has(two, 1, "s0-19 s24-e"));
	CHECK(!drop(one, POSIX, 1, 20, 29));
	CHECK(has(one, 1, "s10-19 s30-39"));
	CHECK(!drop(one, POSIX, 1, 15, 34));
	CHECK(has(one, 1, "s10-14 s35-39"));
	CHECK(!drop(one, POSIX, 1, 14, 14) && has(one, 1, "s10-13 s35-39"));
	CHECK(!drop(one, POSIX, 1, 0, 10) && has(one, 1, "s11-13 s35-39"));
	CHECK(!drop(one, POSIX, 1, 12, END) && has(one, 1, "s11-11"));
	CHECK(!drop(two, POSIX, 1, 100, END) && has(two, 1, "s0-19 s24-99"));
	CHECK(!drop(two, POSIX, 1, 0, END) && has(two, 1, ""));
	CHECK(!take(one, POSIX | EXCL, 1, 0, END) && has(one, 1, "x0-e"));
	CHECK(!drop(one, POSIX, 1, END, END));
	CHECK(!drop(one, POSIX, 1, 0, END - 1));
	nobody_has_any();
}

static void tests(void)
{
	struct mios_fs_lock_wish other, w = wish(POSIX, 9, 5, 7);

	CHECK(!take(one, POSIX, 3, 0, 6));
	CHECK(!mios_fs_lock_test(two, &w, &other));
	w.exclusive = true;
	CHECK(mios_fs_lock_test(two, &w, &other) == 1);
	CHECK(other.instance == 1 && other.owner == 3 && other.pid == 103);
	CHECK(!other.exclusive && other.kind == POSIX);
	CHECK(!other.first && other.last == 6);
	w.owner = 3;
	CHECK(mios_fs_lock_test(two, &w, &other) == 1);
	CHECK(!mios_fs_lock_test(one, &w, &other));
	CHECK(!drop(one, POSIX, 3, 0, END));
	nobody_has_any();
}

/* Of three that wait for one each gets it in turn. */
static void turns(void)
{
	struct mios_fs_lock_wish a, b, c, w;

	CHECK(!take(one, POSIX | EXCL, 1, 0, 9));
	CHECK(await(two, &a, POSIX | EXCL, 1, 0, 4) == MIOS_FS_LOCK_WAITS);
	CHECK(await(three, &b, POSIX | EXCL, 1, 0, 9) == MIOS_FS_LOCK_WAITS);
	CHECK(await(two, &c, POSIX | EXCL, 2, 5, 9) == MIOS_FS_LOCK_WAITS);
	CHECK(a.ticket < b.ticket && b.ticket < c.ticket);
	CHECK(again(two, &a) == MIOS_FS_LOCK_WAITS);
	w = wish(POSIX, 1, 0, END);
	CHECK(!mios_fs_lock_drop(one, &w) && w.tell == (1 << 2 | 1 << 3));
	/* Not before the earlier ones, which could be had now. */
	CHECK(again(two, &c) == MIOS_FS_LOCK_WAITS);
	CHECK(again(three, &b) == MIOS_FS_LOCK_WAITS);
	CHECK(!again(two, &a) && has(two, 1, "x0-4"));
	/* One that could not any more holds up nobody. */
	CHECK(again(three, &b) == MIOS_FS_LOCK_WAITS);
	CHECK(!again(two, &c) && has(two, 2, "x5-9"));
	w = wish(POSIX, 1, 0, END);
	CHECK(!mios_fs_lock_drop(two, &w) && w.tell == 1 << 3);
	CHECK(again(three, &b) == MIOS_FS_LOCK_WAITS);
	CHECK(!drop(two, POSIX, 2, 0, END));
	CHECK(!again(three, &b) && !b.tell && has(three, 1, "x0-9"));
	CHECK(!drop(three, POSIX, 1, 0, END));
	nobody_has_any();
}

/* Who comes when others wait, and who goes. */
static void passing(void)
{
	struct mios_fs_lock_wish a, b, c;

	CHECK(!take(one, POSIX, 1, 0, 9));
	CHECK(await(two, &a, POSIX | EXCL, 1, 0, 19) == MIOS_FS_LOCK_WAITS);
	/* It could not be had yet, and so holds up nobody. */
	CHECK(!await(three, &b, POSIX, 1, 10, 19) && has(three, 1, "s10-19"));
	CHECK(!await(one, &c, POSIX, 1, 10, 12) && has(one, 1, "s0-12"));
	/* Out of its way. */
	CHECK(!await(three, &c, OFD | EXCL, 2, 20, 29));
	CHECK(!drop(three, OFD, 2, 0, END));
	CHECK(!mios_fs_lock_forgo(two, &a) && !a.tell);
	CHECK(!drop(three, POSIX, 1, 0, END) && !drop(one, POSIX, 1, 0, END));
	CHECK(again(two, &a) == -ESTALE);
	nobody_has_any();
}

static void deadlocks(void)
{
	struct mios_fs_lock_wish a, b, c, d;

	CHECK(!take(one, POSIX | EXCL, 1, 0, 0));
	CHECK(!take(two, POSIX | EXCL, 1, 1, 1));
	CHECK(!take(three, POSIX | EXCL, 1, 2, 2));
	CHECK(!take(one, POSIX | EXCL, 2, 3, 3));
	CHECK(await(one, &a, POSIX, 1, 1, 1) == MIOS_FS_LOCK_WAITS);
	/* Two of them, then three, then two of one instance. */
	CHECK(await(two, &b, POSIX, 1, 0, 0) == -EDEADLK);
	CHECK(await(two, &b, POSIX, 1, 2, 2) == MIOS_FS_LOCK_WAITS);
	CHECK(await(three, &c, POSIX, 1, 0, 0) == -EDEADLK);
	CHECK(await(one, &c, POSIX, 2, 0, 0) == MIOS_FS_LOCK_WAITS);
	CHECK(await(three, &d, POSIX, 1, 3, 3) == -EDEADLK);
	CHECK(has(three, 1, "x2-2"));
	CHECK(!drop(three, POSIX, 1, 0, END) && !again(two, &b));
	CHECK(!drop(two, POSIX, 1, 0, END) && !again(one, &a));
	CHECK(!drop(one, POSIX, 1, 0, END) && !again(one, &c));
	CHECK(has(one, 2, "s0-0 x3-3"));
	CHECK(!drop(one, POSIX, 2, 0, END));
	nobody_has_any();
}

/* Whom one waits for changes: then, too, somebody would wait for himself. */
static void late_deadlock(void)
{
	struct mios_fs_lock_wish a, b;

	CHECK(!take(one, POSIX | EXCL, 1, 0, 0));
	CHECK(!take(two, POSIX, 1, 1, 1) && !take(three, POSIX, 1, 1, 1));
	/* Of two the one that is met first is looked at. */
	CHECK(await(one, &a, POSIX | EXCL, 1, 1, 1) == MIOS_FS_LOCK_WAITS);
	CHECK(await(two, &b, POSIX | EXCL, 1, 0, 0) == MIOS_FS_LOCK_WAITS);
	CHECK(!drop(three, POSIX, 1, 0, END));
	CHECK(again(one, &a) == -EDEADLK && has(one, 1, "x0-0"));
	CHECK(again(two, &b) == MIOS_FS_LOCK_WAITS);
	CHECK(!drop(one, POSIX, 1, 0, END) && !again(two, &b));
	CHECK(!drop(two, POSIX, 1, 0, END));
	nobody_has_any();
}

/* Of two threads one waits for who waits for the other one. */
static void threads(void)
{
	struct mios_fs_lock_wish a, b, c;

	CHECK(!take(three, POSIX | EXCL, 1, 0, 0));
	CHECK(await(one, &a, POSIX | EXCL, 1, 0, 0) == MIOS_FS_LOCK_WAITS);
	CHECK(await(two, &b, POSIX | EXCL, 1, 0, 1) == MIOS_FS_LOCK_WAITS);
	CHECK(!await(one, &c, POSIX | EXCL, 1, 1, 1));
	CHECK(again(two, &b) == MIOS_FS_LOCK_WAITS);
	CHECK(!drop(three, POSIX, 1, 0, END));
	CHECK(!again(one, &a) && has(one, 1, "x0-1"));
	CHECK(!drop(one, POSIX, 1, 0, END) && !again(two, &b));
	CHECK(!drop(two, POSIX, 1, 0, END));
	nobody_has_any();
}

/* As many as @nr single bytes, 2 apart, from @first on. */
static u32 scatter(struct mios_fs *fs, u64 owner, u64 first, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (take(fs, POSIX, owner, first + 2 * i, first + 2 * i))
			break;
	return i;
}

/* More than one change does at once. */
static void many(void)
{
	struct mios_fs_lock_wish w = wish(POSIX | EXCL, 1, 0, END);
	u32 nr = 0;
	int err;

	CHECK(scatter(one, 1, 0, SOME) == SOME);
	err = mios_fs_lock_take(one, &w, false);
	for (; err == MIOS_FS_LOCK_MORE; nr++) {
		/* It is had at once. */
		CHECK(take(two, POSIX, 1, 2 * SOME, END) == -EAGAIN);
		err = mios_fs_lock_trim(one, &w);
	}
	CHECK(!err && nr == 2 && has(one, 1, "x0-e"));
	CHECK(!drop(one, POSIX, 1, 0, END));
	/* The same that were in one row. */
	CHECK(scatter(one, 1, 0, SOME) == SOME);
	CHECK(scatter(one, 1, 1, SOME - 1) == SOME - 1);
	CHECK(has(one, 1, "s0-78"));
	CHECK(!drop(one, POSIX, 1, 0, END));

	CHECK(scatter(one, 1, 0, SOME) == SOME);
	CHECK(!take(one, POSIX, 2, 0, END));
	w = wish(POSIX, 1, 2, END);
	for (nr = 0; mios_fs_lock_drop(one, &w) == MIOS_FS_LOCK_MORE; nr++)
		/* What comes in between stays. */
		CHECK(nr || !take(one, POSIX, 1, 100, 100));
	CHECK(nr == 2 && has(one, 1, "s0-0 s100-100"));
	CHECK(!drop(one, POSIX, 1, 0, END) && !drop(one, POSIX, 2, 0, END));
	nobody_has_any();
}

/* Who finds no place has what he had, and waits no more when he says so. */
static void full(void)
{
	struct mios_fs_lock_wish a, b;
	u64 cut = 1001;
	u32 nr;

	CHECK(!take(one, POSIX, 1, 0, 9));
	CHECK(!take(two, POSIX, 1, 5, 5));
	CHECK(!take(two, POSIX, 2, 1000, 2000));
	CHECK(await(one, &a, POSIX | EXCL, 1, 5, 5) == MIOS_FS_LOCK_WAITS);
	CHECK(await(one, &b, FLOCK, 3, 0, END) == 0);
	nr = scatter(three, 1, 10, MIOS_FS_FILELOCKS);
	CHECK(nr == MIOS_FS_FILELOCKS - 1 - RESERVE - 5);
	CHECK(take(one, POSIX | EXCL, 1, 0, 0) == -ENOLCK);
	/* Who lets go has some places more. */
	for (nr = 0; nr < RESERVE; nr++, cut += 2)
		CHECK(!drop(two, POSIX, 2, cut, cut));
	WHOLE(three, 14);
	CHECK(drop(one, POSIX, 1, 3, 6) == -ENOLCK);
	CHECK(await(two, &b, POSIX | EXCL, 1, 10, 10) == -ENOLCK);
	CHECK(has(two, 1, "s5-5") && !b.ticket);
	/* Its turn, but two places are wanted, and there is one. */
	CHECK(!drop(two, POSIX, 1, 0, END));
	CHECK(!drop(two, POSIX, 2, cut, cut));
	CHECK(again(one, &a) == -ENOLCK);
	CHECK(!mios_fs_lock_forgo(one, &a));
	CHECK(has(one, 1, "s0-9") && has(one, 3, "s0-e"));
	/* One goes for another; and the end of a file wants no place. */
	CHECK(!take(one, FLOCK | EXCL, 3, 0, END));
	CHECK(!drop(two, POSIX, 2, cut + 2, cut + 2));
	CHECK(!take(one, FLOCK, 3, 0, END));
	CHECK(!drop(one, FLOCK, 3, 0, END) && !drop(one, POSIX, 1, 0, END));
	CHECK(!drop(two, POSIX, 2, 0, END) && !drop(three, POSIX, 1, 0, END));
	nobody_has_any();
}

/* Of the dead nothing is left, of its next boot all is; @w: the world. */
static void deaths(struct world *w)
{
	struct mios_fs_lock_wish a, b;

	CHECK(scatter(one, 1, 0, SOME) == SOME);
	CHECK(!take(two, POSIX | EXCL, 1, 200, 200));
	CHECK(await(one, &a, POSIX | EXCL, 1, 200, 209) == MIOS_FS_LOCK_WAITS);
	CHECK(await(two, &b, POSIX | EXCL, 2, 0, 99) == MIOS_FS_LOCK_WAITS);
	w->pool[1].epoch = 3;
	CHECK(!take(one, OFD, 1, 100, 100) && has_in_table(1) == SOME + 2);
	CHECK(!fs_recover(three, 1, 2));
	CHECK(has_in_table(1) == 1 && has(one, 1, "s100-100"));
	CHECK(!again(two, &b) && has(two, 2, "x0-99"));
	CHECK(!fs_recover(three, 1, 3) && !has_in_table(1));
	CHECK(!drop(two, POSIX, 1, 0, END) && !drop(two, POSIX, 2, 0, END));
	nobody_has_any();
}

/* Another file with the number of one that had locks. */
static void numbers(void)
{
	struct mios_fs_place at = fs_place(three, MIOS_FS_ROOT, "locked");
	struct mios_fs_lock_wish old;

	CHECK(!take(two, POSIX | EXCL, 1, 0, 9));
	CHECK(!take(two, FLOCK | EXCL, 2, 0, END));
	old = wish(POSIX, 1, 0, END);
	CHECK(!mios_fs_remove(three, &at, false, 1));
	CHECK(at.file.inode == file && !fs_reap(three, file));
	WHOLE(three, 14);
	CHECK(fs_make(three, MIOS_FS_ROOT, "locked", 0100644) == file);
	id = inode_at(three, file)->id;
	CHECK(id != old.id);
	CHECK(!take(three, POSIX | EXCL, 1, 5, 14));
	CHECK(!take(three, FLOCK | EXCL, 2, 0, END));
	CHECK(!mios_fs_lock_drop(two, &old) && has(two, 1, ""));
	CHECK(has(three, 1, "x5-14"));
	CHECK(!fs_recover(three, 2, 1) && has(three, 2, "x0-e"));
	CHECK(!drop(three, POSIX, 1, 0, END) && !drop(three, FLOCK, 2, 0, END));
	nobody_has_any();
}

void test_filelocks(void)
{
	struct mios_fs_attr attr;
	struct world w;

	world_make(&w);
	one = &w.fs[1];
	two = &w.fs[2];
	three = &w.fs[3];
	file = fs_make(one, MIOS_FS_ROOT, "locked", 0100644);
	CHECK(!mios_fs_stat(one, file, &attr));
	id = attr.id;
	meanings();
	ranges();
	tests();
	turns();
	passing();
	deadlocks();
	late_deadlock();
	threads();
	many();
	full();
	deaths(&w);
	numbers();
	world_forget(&w);
}
