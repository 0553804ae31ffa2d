// SPDX-License-Identifier: GPL-2.0
/*
 * A peer writes anything over headers and records while pages are allocated,
 * freed, kept, taken and recovered: nothing outside the sections is touched
 * (AddressSanitizer looks), no handle lies outside them, and every call ends.
 */
#include "test.h"

#define EXTENTS	2
#define PAGES	32

static bool by_chance(void *ctx, u64 phys, bool huge, u64 object)
{
	(void)phys;
	(void)huge;
	(void)object;
	return test_random(ctx) & 1;
}

/* All that the core reads: two headers and the records. */
static void scribble(u8 *memory, u64 *seed)
{
	u32 at = test_random(seed) % (7 * MIOS_POOL_PAGE / 8) * 8;
	u64 value = (u64)test_random(seed) << 32 | test_random(seed);

	switch (test_random(seed) % 3) {
	case 0:
		/* States that exist, so that not all is refused at once. */
		value &= ~0xfull;
		value |= test_random(seed) % MIOS_PAGE_STATES;
		break;
	case 1:
		value &= 0xff;
		break;
	}
	memcpy(memory + at, &value, sizeof(value));
}

static bool is_inside(const struct mios_page *page)
{
	u64 size = page->huge ? MIOS_EXTENT_SIZE : MIOS_POOL_PAGE;

	return page->phys >= BASE && !(page->phys % size) &&
	       page->phys + size <= BASE + EXTENTS * MIOS_EXTENT_SIZE;
}

static void work(struct mios_pool *pool, struct mios_cursor *cursor,
		 struct mios_page *page, u64 *seed)
{
	switch (test_random(seed) % 7) {
	case 0:
		if (!pool_alloc(pool, cursor, page))
			CHECK(is_inside(page));
		break;
	case 1:
		if (!mios_pool_alloc_huge(pool, page))
			CHECK(is_inside(page));
		break;
	case 2:
		mios_pool_free(pool, page);
		break;
	case 3:
		mios_pool_object(pool, page, test_random(seed));
		mios_pool_keep(pool, page);
		break;
	case 4:
		mios_pool_take(pool, page->phys, page->huge, 0, page);
		break;
	case 5:
		mios_cursor_release(pool, cursor);
		break;
	case 6:
		if (test_random(seed) % 16 == 0)
			pool_recover(pool, test_random(seed) % 64,
				     test_random(seed), by_chance, seed);
		break;
	}
}

void test_garbage(u64 seed, unsigned long rounds)
{
	struct mios_pool_place place = section_place(BASE, EXTENTS), next;
	void *memory = section_memory(EXTENTS);
	struct mios_page page[PAGES] = { 0 };
	struct mios_cursor cursor = { 0 };
	struct mios_pool_usage usage;
	struct mios_pool pool, other;

	CHECK(!mios_pool_format(memory, BASE, place.size, NODE));
	view_make(&pool, memory, EXTENTS, 1, 1);
	mios_pool_open(&pool, 0);
	while (rounds--) {
		scribble(memory, &seed);
		work(&pool, &cursor, &page[test_random(&seed) % PAGES], &seed);
		if (rounds % 64)
			continue;
		mios_pool_usage(&pool, &usage);
		mios_pool_place(&pool, &next);
		mios_pool_attach(&other, memory, &place, NODE, 1, 2);
	}
	section_forget(memory, EXTENTS);
}
