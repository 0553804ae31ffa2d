// SPDX-License-Identifier: GPL-2.0
/*
 * What a page fault costs others: where the page is there all that instances and
 * CPUs share can be read-only meanwhile, and no lock is taken; where it is not,
 * its source's lock is taken once, and not held while the page is zeroed.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fstest.h"

#define FILE_	0100644
#define HOST_PAGE 4096ul
#define PAGES	8

/* Whole pages, so that it can be read-only. */
static union {
	struct world world;
	u8 room[(sizeof(struct world) + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE];
} shared __attribute__((aligned(4096)));
static struct mios_source another __attribute__((aligned(4096)));

static void stored(int signal)
{
	static const char text[] =
		"faults.c: failed: nothing shared is written\n";

	(void)signal;
	_exit(write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 2 : 1);
}

static void protect(int how)
{
	struct world *w = &shared.world;

	CHECK(!mprotect(w->memory, FS_EXTENTS * (size_t)MIOS_EXTENT_SIZE, how));
	CHECK(!mprotect(w->far, FAR_EXTENTS * (size_t)MIOS_EXTENT_SIZE, how));
	CHECK(!mprotect(&shared, sizeof(shared), how));
}

/* Found, and looked at once more when it is held, as a fault does. */
static void there(u64 inode)
{
	struct world *w = &shared.world;
	unsigned long locked = test_locked;
	u64 index, phys;

	signal(SIGSEGV, stored);
	protect(PROT_READ);
	for (index = 0; index < PAGES; index++) {
		struct mios_need need = { .from = &w->source[2] };

		CHECK(!mios_fs_page(&w->fs[2], &need, inode, index, &phys));
		CHECK(mios_fs_page_is(&w->fs[2], inode, index, phys));
		CHECK(!mios_fs_page_is(&w->fs[2], inode, index + 1, phys));
	}
	protect(PROT_READ | PROT_WRITE);
	signal(SIGSEGV, SIG_DFL);
	CHECK(test_locked == locked);
}

static void is_unlocked(void)
{
	CHECK(!test_held);
}

static void made(u64 inode)
{
	struct world *w = &shared.world;
	unsigned long locked = test_locked;
	u64 index;

	test_held = 0;
	test_cleared = is_unlocked;
	for (index = 0; index < PAGES; index++)
		fs_page(w, 1, inode, index);
	test_cleared = NULL;
	CHECK(!test_held);
	/* The page of the index. */
	CHECK(test_locked == locked + PAGES + 1);
}

static u32 extent_of(u64 phys)
{
	return phys / MIOS_EXTENT_SIZE;
}

static u64 leases(u32 self)
{
	static struct mios_pool_usage u;

	mios_pool_usage(&shared.world.pool[0], &u);
	return u.leases[self];
}

/* Two CPUs of an instance do not meet in an extent; it dies, and both are free. */
static void apart(u64 inode)
{
	struct world *w = &shared.world;
	u64 index, one, two;

	for (index = PAGES; index < 3 * PAGES; index += 2) {
		CHECK(!fs_fault(&w->fs[1], &w->source[1], inode, index, &one));
		CHECK(!fs_fault(&w->fs[1], &another, inode, index + 1, &two));
		CHECK(extent_of(one) != extent_of(two));
	}
	CHECK(leases(1) == 2);
	CHECK(!fs_recover(&w->fs[2], 1, 1));
	CHECK(!leases(1));
}

void test_faults(void)
{
	struct world *w = &shared.world;
	u64 inode;

	world_make(w);
	inode = fs_make(&w->fs[1], MIOS_FS_ROOT, "a", FILE_);
	fs_size(&w->fs[1], inode, 3 * PAGES * (u64)MIOS_FS_PAGE);
	made(inode);
	there(inode);
	apart(inode);
	WHOLE(&w->fs[0], 0);
	world_forget(w);
}
