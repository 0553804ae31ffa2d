// SPDX-License-Identifier: GPL-2.0
/*
 * Each operation is done by instance 1, which dies before its first store to
 * shared memory, then before its second, and so on.  Instance 3 may change
 * something else at once.  Instance 2 recovers, and dies in it, too, at some
 * store; instance 3 recovers both.  Then the image must be whole, the operation
 * have happened or not, and another one work.
 */
#include <setjmp.h>

#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define DIR	0040755
#define FILE_	0100644
#define PARTS	4
#define TEXT	4096
#define NOW	99

static struct world w;
static u8 *snapshot, *users;
static u64 a, d, e, x;
static jmp_buf died;
static unsigned long stores_left;

static void count_down(const volatile void *address, bool write)
{
	(void)address;
	if (write && !stores_left--)
		longjmp(died, 1);
}

bool fs_dies(void (*what)(void), unsigned long at)
{
	volatile bool survived = false;

	stores_left = at;
	if (!setjmp(died)) {
		test_point = count_down;
		what();
		survived = true;
	}
	test_point = NULL;
	return !survived;
}

static void do_make(void)
{
	fs_make(&w.fs[1], d, "a name that is longer than a word or two", FILE_);
}

static void do_mkdir(void)
{
	fs_make(&w.fs[1], d, "sub", DIR);
}

static void do_device(void)
{
	struct mios_fs_place at = fs_place(&w.fs[1], d, "device");
	struct mios_fs_attr attr = fs_attr(0060600);
	u64 inode;

	attr.rdev = ~0ull;
	CHECK(!mios_fs_make(&w.fs[1], &at, &attr, &inode));
}

static void do_link(void)
{
	struct mios_fs_place at = fs_place(&w.fs[1], d, "link");

	at.file = fs_judged(&w.fs[1], a);
	mios_fs_link(&w.fs[1], &at, false, NOW);
}

/* With its name, or not at all. */
static void do_nameless(void)
{
	struct mios_fs_place at = fs_place(&w.fs[1], d, "named");
	struct mios_fs_attr attr = fs_attr(FILE_);
	u64 inode;

	CHECK(!mios_fs_make_nameless(&w.fs[1], &at.dir, &attr, &inode));
	fs_size(&w.fs[1], inode, 4096);
	*fs_page(&w, 1, inode, 0) = 1;
	at.file = fs_judged(&w.fs[1], inode);
	CHECK(!mios_fs_link(&w.fs[1], &at, true, NOW));
	mios_fs_close(&w.fs[1], inode);
}

static void drop(u64 dir, const char *name, bool directory)
{
	struct mios_fs_place at = fs_place(&w.fs[1], dir, name);

	CHECK(!mios_fs_remove(&w.fs[1], &at, directory, NOW));
	fs_reap(&w.fs[1], at.file.inode);
}

static void do_unlink(void)
{
	drop(MIOS_FS_ROOT, "a", false);
}

static void do_unlink_open(void)
{
	drop(d, "x", false);
}

static void do_rmdir(void)
{
	drop(MIOS_FS_ROOT, "e", true);
}

static void move(u64 dir, const char *name, u64 to_dir, const char *to,
		 bool directory)
{
	struct mios_fs_place from = fs_place(&w.fs[1], dir, name);
	struct mios_fs_place at = fs_place(&w.fs[1], to_dir, to);

	CHECK(!mios_fs_rename(&w.fs[1], &from, &at, directory, NOW));
	if (at.file.inode)
		fs_reap(&w.fs[1], at.file.inode);
}

static void do_rename(void)
{
	move(MIOS_FS_ROOT, "a", d, "b", false);
}

static void do_replace(void)
{
	move(d, "x", MIOS_FS_ROOT, "a", false);
}

static void do_move_directory(void)
{
	move(MIOS_FS_ROOT, "e", d, "e", true);
}

static void swap(u64 dir, const char *name, u64 to_dir, const char *to)
{
	struct mios_fs_place one = fs_place(&w.fs[1], dir, name);
	struct mios_fs_place two = fs_place(&w.fs[1], to_dir, to);

	one.file = fs_judged(&w.fs[1], fs_find(&w.fs[1], dir, name));
	two.file = fs_judged(&w.fs[1], fs_find(&w.fs[1], to_dir, to));
	CHECK(!mios_fs_exchange(&w.fs[1], &one, &two, NOW));
}

static void do_exchange(void)
{
	swap(MIOS_FS_ROOT, "a", MIOS_FS_ROOT, "e");
}

static void do_exchange_directory(void)
{
	swap(MIOS_FS_ROOT, "e", d, "x");
}

static void do_attributes(void)
{
	fs_attributes(&w, 1, a, true);
}

static void do_attributes_again(void)
{
	fs_attributes(&w, 1, e, true);
}

static void do_attributes_go(void)
{
	fs_attributes(&w, 1, e, false);
}

static void do_fault(void)
{
	*fs_page(&w, 1, a, 700) = 1;
}

static void do_cut(void)
{
	fs_size(&w.fs[1], a, 5000);
	CHECK(!mios_fs_cutter(&w.fs[1], a));
	fs_cut(&w, 1, a, NO_PIN);
	mios_fs_cutter_end(&w.fs[1], a);
}

static void do_cut_pinned(void)
{
	fs_size(&w.fs[1], a, 100);
	CHECK(!mios_fs_cutter(&w.fs[1], a));
	fs_cut(&w, 1, a, 1);
	mios_fs_cutter_end(&w.fs[1], a);
}

static void do_punch(void)
{
	CHECK(!mios_fs_cutter(&w.fs[1], a));
	mios_fs_hole(&w.fs[1], a, 0, 700);
	fs_cut(&w, 1, a, 1);
	mios_fs_cutter_end(&w.fs[1], a);
}

static void do_open(void)
{
	struct mios_fs_attr attr;

	CHECK(!mios_fs_stat(&w.fs[1], x, &attr));
	CHECK(!mios_fs_open(&w.fs[1], x, attr.id));
	mios_fs_close(&w.fs[1], x);
}

/* A segment that nobody else has. */
static void do_segment(void)
{
	struct mios_fs_seg seg = {
		.key = 5, .mode = 0600, .size = 4096, .uid = 5,
	};
	u32 slot;

	CHECK(!mios_fs_segment_make(&w.fs[1], &seg, 1, &slot));
	CHECK(!mios_fs_segment_attach(&w.fs[1], slot, seg.sequence));
	CHECK(!fs_segment_remove(&w.fs[1], slot, &seg));
	if (mios_fs_segment_detach(&w.fs[1], slot))
		CHECK(!fs_sweep(&w.fs[1]));
}

static void do_users(void)
{
	fs_users(&w, 1, d);
}

/* It is left where its maker dies before it says that it is to go. */
static void segments_go(void)
{
	struct mios_fs_seg seg;
	u32 slot;

	for (slot = 0; slot < mios_fs_segments(&w.fs[3]); slot++)
		if (!mios_fs_segment_stat(&w.fs[3], slot, &seg)) {
			CHECK(!seg.attached);
			CHECK(!fs_segment_remove(&w.fs[3], slot, &seg));
		}
}

static struct mios_fs_lock_wish lock_of_a(u64 first, u64 last)
{
	return (struct mios_fs_lock_wish) {
		.inode = a, .id = inode_at(&w.fs[0], a)->id, .owner = 7,
		.kind = MIOS_FS_FILELOCK_POSIX, .exclusive = true,
		.first = first, .last = last, .pid = 8,
	};
}

static void do_lock(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(0, 99);

	CHECK(!mios_fs_lock_take(&w.fs[1], &wish, false));
}

static void do_lock_split(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(40, 59);

	do_lock();
	wish.exclusive = false;
	CHECK(!mios_fs_lock_take(&w.fs[1], &wish, false));
}

static void do_unlock(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(40, 59);
	struct mios_fs_lock_wish rest = lock_of_a(0, 99);

	do_lock();
	CHECK(!mios_fs_lock_drop(&w.fs[1], &wish));
	CHECK(!mios_fs_lock_drop(&w.fs[1], &rest));
}

/* Of instance 3, which lives on. */
static void other_takes(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(0, 99);

	CHECK(!mios_fs_lock_take(&w.fs[3], &wish, false));
}

static void other_drops(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(0, 99);

	CHECK(!mios_fs_lock_drop(&w.fs[3], &wish));
}

/* Nobody dies in it. */
static void safely(void (*what)(void))
{
	test_point = NULL;
	what();
	test_point = count_down;
}

static void do_wait(void)
{
	struct mios_fs_lock_wish wish = lock_of_a(0, 99);
	struct mios_fs_lock_wish gone = lock_of_a(50, 149);

	safely(other_takes);
	CHECK(mios_fs_lock_take(&w.fs[1], &gone, true) == MIOS_FS_LOCK_WAITS);
	CHECK(mios_fs_lock_take(&w.fs[1], &wish, true) == MIOS_FS_LOCK_WAITS);
	CHECK(!mios_fs_lock_forgo(&w.fs[1], &gone));
	safely(other_drops);
	CHECK(!mios_fs_lock_take(&w.fs[1], &wish, true));
}

/* Whatever the other one had: nothing of the dead, and nobody in the way. */
static void locks_go(void)
{
	const struct mios_fs_filelock *lock = filelocks_of(&w.fs[3])->lock;
	u32 i;

	other_drops();
	for (i = 1; i < MIOS_FS_FILELOCKS; i++)
		CHECK(!(u32)lock[i].file);
	other_takes();
	other_drops();
}

static void recover(void)
{
	CHECK(!fs_recover(&w.fs[2], 1, 1));
}

/* Whoever has the lock next, before that: every fourth time. */
static void change_between(void)
{
	struct mios_fs_place at = fs_place(&w.fs[3], MIOS_FS_ROOT, "between");

	mios_fs_dequeue(&w.fs[0], 1, 1);
	fs_make(&w.fs[3], MIOS_FS_ROOT, "between", FILE_);
	CHECK(!mios_fs_remove(&w.fs[3], &at, false, NOW));
	CHECK(!fs_reap(&w.fs[3], at.file.inode));
}

/* Which of the two has the lock is not known. */
static void recover_both(void)
{
	fs_recover(&w.fs[3], 1, 1);
	CHECK(!fs_recover(&w.fs[3], 2, 1));
	CHECK(!fs_recover(&w.fs[3], 1, 1));
}

static const struct {
	const char *name;
	void (*run)(void);
} ops[] = {
	{ "make", do_make }, { "mkdir", do_mkdir }, { "link", do_link },
	{ "unlink", do_unlink }, { "unlink, open", do_unlink_open },
	{ "rmdir", do_rmdir }, { "rename", do_rename },
	{ "exchange", do_exchange }, { "attributes", do_attributes },
	{ "exchange, directory", do_exchange_directory },
	{ "attributes, again", do_attributes_again },
	{ "attributes go", do_attributes_go },
	{ "replace", do_replace }, { "move", do_move_directory },
	{ "fault", do_fault }, { "cut", do_cut }, { "open", do_open },
	{ "cut, pinned", do_cut_pinned }, { "punch", do_punch },
	{ "segment", do_segment }, { "nameless", do_nameless },
	{ "device", do_device }, { "users", do_users },
	{ "lock", do_lock }, { "lock, split", do_lock_split },
	{ "unlock", do_unlock }, { "wait and take", do_wait },
};

/* /a with three pages, open by 1; /d with x, open by 3; /e, with attributes. */
static void setup(void)
{
	const struct mios_fs_share share = { 1000, 1000 };
	struct mios_fs *fs = &w.fs[3];
	struct mios_fs_attr attr;

	world_make(&w);
	CHECK(!mios_fs_share_set(fs, &share));
	users = fs->parts->at[MIOS_FS_USERS_KIND][1];
	a = fs_make(fs, MIOS_FS_ROOT, "a", FILE_);
	d = fs_make(fs, MIOS_FS_ROOT, "d", DIR);
	e = fs_make(fs, MIOS_FS_ROOT, "e", DIR);
	x = fs_make(fs, d, "x", FILE_);
	fs_size(fs, a, 800 * 4096);
	fs_size(fs, x, 4096);
	*fs_page(&w, 3, a, 0) = 1;
	*fs_page(&w, 3, a, 1) = 1;
	*fs_page(&w, 3, a, 600) = 1;
	*fs_page(&w, 3, x, 0) = 1;
	fs_attributes(&w, 3, e, true);
	CHECK(!mios_fs_stat(fs, x, &attr) && !mios_fs_open(fs, x, attr.id));
	world_release(&w, 3);
	WHOLE(fs, 8);
}

/* Where anything lies: the first extents, the image and its users. */
static void copy(bool save)
{
	u8 *parts[PARTS] = { w.memory, w.far,
			     mios_pool_memory(&w.pool[0], w.image), users };
	u32 i;

	for (i = 0; i < PARTS; i++) {
		u8 *copy = snapshot + i * (size_t)MIOS_EXTENT_SIZE;

		if (save)
			memcpy(copy, parts[i], MIOS_EXTENT_SIZE);
		else
			memcpy(parts[i], copy, MIOS_EXTENT_SIZE);
	}
	world_views(&w);
}

/* Of each that died a page may have been counted, or freed, but not both. */
static void used_is_near(void)
{
	static struct mios_pool_usage usage;
	u64 used = mios_fs_used(&w.fs[3]), pages, excess;

	mios_pool_usage(&w.pool[3], &usage);
	pages = usage.kept - mios_fs_extents(&w.fs[3]) * MIOS_EXTENT_PAGES;
	CHECK(used <= pages + 2 && used + 2 >= pages);
	/* And of those that a user pays for: counted, never forgotten. */
	CHECK(!fs_check_shares(&w.fs[3], &excess) && excess <= 2);
}

static void look(const char *name, const char *before, const char *after)
{
	char now[TEXT];

	WHOLE(&w.fs[3], 8);
	believed_hold(&w.fs[3]);
	fs_describe(&w.fs[3], now, sizeof(now));
	if (strcmp(now, before) && strcmp(now, after))
		fprintf(stderr, "%s: %s\nbefore %s\nafter %s\n", name, now,
			before, after);
	CHECK(!strcmp(now, before) || !strcmp(now, after));
	used_is_near();
	/* Whoever comes next is not held up. */
	segments_go();
	locks_go();
	CHECK(!mios_fs_cutter(&w.fs[3], a));
	fs_cut(&w, 3, a, NO_PIN);
	mios_fs_cutter_end(&w.fs[3], a);
	WHOLE(&w.fs[3], 8);
	fs_make(&w.fs[3], MIOS_FS_ROOT, "next", FILE_);
	*fs_page(&w, 3, x, 0) = 2;
}

static unsigned long kill_all(const char *name, void (*run)(void), u64 *seed)
{
	char before[TEXT], after[TEXT];
	unsigned long at, second;
	bool dead;

	copy(false);
	fs_describe(&w.fs[3], before, sizeof(before));
	CHECK(!fs_dies(run, ~0ul));
	fs_describe(&w.fs[3], after, sizeof(after));
	for (at = 0;; at++) {
		copy(false);
		believed_take(&w.fs[3]);
		dead = fs_dies(run, at);
		believed_hold(&w.fs[3]);
		if (dead && !(at % 4))
			change_between();
		second = test_random(seed) % 64;
		if (!(at & 1))
			recover();
		else if (fs_dies(recover, second))
			recover_both();
		look(name, before, after);
		if (!dead)
			return at;
	}
}

void test_kills(u64 seed)
{
	unsigned long kills = 0;
	u32 i;

	snapshot = malloc(PARTS * (size_t)MIOS_EXTENT_SIZE);
	CHECK(snapshot);
	setup();
	copy(true);
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		unsigned long nr = kill_all(ops[i].name, ops[i].run, &seed);

		CHECK(nr > 1);
		kills += nr;
	}
	printf("%lu places to die in\n", kills);
	free(snapshot);
	world_forget(&w);
}
