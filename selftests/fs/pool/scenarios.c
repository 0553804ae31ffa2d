// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer explores: the orders that mios/memory/pool/word.h argues
 * about. Two extents in which all pages but two each are the pool's own, so
 * that little is shared; SMALL pages are in extent 0, the others in extent 1.
 */
#include "../../../mios/memory/pool/word.h"
#include "explore.h"

#define EXTENTS		2
#define FIRST		510	/* free pages of an extent: this and the next */

static void *memory;
static u8 image[8 * MIOS_POOL_PAGE];	/* of the headers and records */
static struct mios_pool view[4];
static struct mios_cursor cursor[4];
static struct mios_page got[4];
static bool has[4];
static u64 run;				/* that 2 has, or 0 */
static u64 slot;			/* where a page is found */
static u64 closed;

#define OBJECT	99

static struct mios_pool_record *page_record(u32 extent, u32 page)
{
	return view[0].section[0].page + extent * MIOS_EXTENT_PAGES + page;
}

static struct mios_pool_record *extent_record(u32 extent)
{
	return view[0].section[0].extent + extent;
}

static bool is_in(const volatile void *address, const void *from, const void *to)
{
	return (u8 *)address >= (const u8 *)from && (u8 *)address < (const u8 *)to;
}

/*
 * ->object, which its holder alone writes, ->dead, of who runs no more, cursors, a
 * task's own, and of many pages at once those between the first and the last.
 */
bool explore_is_cold(const volatile void *address)
{
	size_t at = (u8 *)address - (u8 *)memory;

	if (is_in(address, cursor, cursor + 4) ||
	    is_in(address, page_record(1, 1), page_record(1, FIRST)))
		return true;
	return at < MIOS_POOL_RECORDS_AT ?
		address != &view[0].section[0].header->state &&
		address != &view[0].section[0].header->freed : at % 16 == 8;
}

static void make(void)
{
	u32 extent, i;

	memory = section_memory(EXTENTS);
	CHECK(!mios_pool_format(memory, BASE, EXTENTS * MIOS_EXTENT_SIZE,
				NODE));
	for (i = 0; i < 4; i++)
		view_make(&view[i], memory, EXTENTS, i, 1);
	mios_pool_open(&view[0], 0);
	for (extent = 0; extent < EXTENTS; extent++)
		for (i = 0; i < FIRST; i++)
			page_record(extent, i)->word = MIOS_PAGE_META;
	memcpy(image, memory, sizeof(image));
}

static void restore(void)
{
	u32 extent, i;

	memcpy(memory, image, sizeof(image));
	memset(cursor, 0, sizeof(cursor));
	memset(has, 0, sizeof(has));
	run = 0;
	slot = 0;
	closed = ~0ull;
	for (extent = 0; extent < EXTENTS; extent++) {
		explore_hot(&extent_record(extent)->word);
		explore_hot(&page_record(extent, FIRST)->word);
		explore_hot(&page_record(extent, FIRST + 1)->word);
	}
	explore_hot(&slot);
	explore_hot(&view[0].section[0].header->state);
	explore_hot(&view[0].section[0].header->freed);
	for (i = 0; i < 4; i++) {
		view[i].section[0].full = 0;
		explore_hot(&view[i].section[0].full);
	}
}

/* Only extent 0 has pages, and only one of them is free. */
static void one_left(void)
{
	restore();
	extent_record(1)->word = MIOS_PAGE_META;
	page_record(1, FIRST)->word = MIOS_PAGE_META;
	page_record(1, FIRST + 1)->word = MIOS_PAGE_META;
	CHECK(!pool_alloc(&view[2], &cursor[2], &got[2]));
	has[2] = true;
	mios_cursor_release(&view[2], &cursor[2]);
}

/* Not one is free. */
static void none_left(void)
{
	one_left();
	page_record(0, FIRST + 1)->word = MIOS_PAGE_META;
}

/* The same, and the extent is leased by who does nothing. */
static void none_left_leased(void)
{
	none_left();
	CHECK(!mios_extent_lease(&view[3], &cursor[3]));
}

/*
 * Extent 1 is wholly free, and leased, so that who wants a page takes it from
 * under the lease; only three words of it are explored.
 */
static void large_setup(void)
{
	u32 i;

	restore();
	page_record(0, FIRST)->word = MIOS_PAGE_META;
	page_record(0, FIRST + 1)->word = MIOS_PAGE_META;
	extent_record(0)->word = MIOS_PAGE_META;
	for (i = 0; i < FIRST; i++)
		page_record(1, i)->word = MIOS_PAGE_FREE;
	CHECK(!mios_extent_lease(&view[3], &cursor[3]));
	explore_hot(&page_record(1, 0)->word);
}

static void allocate(u32 self)
{
	has[self] = !pool_alloc(&view[self], &cursor[self], &got[self]);
}

static void give_back(u32 self)
{
	if (has[self])
		CHECK(!mios_pool_free(&view[self], &got[self]));
	has[self] = false;
}

static void one_allocates(void)
{
	allocate(1);
	CHECK(has[1]);
}

static void two_allocates(void)
{
	allocate(2);
	CHECK(has[2]);
}

static void one_again(void)
{
	allocate(1);
	CHECK(has[1]);
	give_back(1);
	allocate(1);
}

/* The second one may find nothing. */
static void one_to_the_end(void)
{
	struct mios_page first;
	bool got_one;

	allocate(1);
	first = got[1];
	got_one = has[1];
	allocate(1);
	if (got_one) {
		CHECK(!mios_pool_free(&view[1], &first));
		if (has[1])
			CHECK(got[1].phys != first.phys);
	}
}

static void two_frees(void)
{
	give_back(2);
}

static void one_tries(void)
{
	allocate(1);
}

/* Has it now and then. */
static void three_again(void)
{
	allocate(3);
	give_back(3);
}

/* The lease is given back; then all of the extent is wanted. */
static void two_large(void)
{
	mios_cursor_release(&view[3], &cursor[3]);
	has[2] = !mios_pool_alloc_huge(&view[2], &got[2]);
}

/* The same, page by page. */
static void two_run(void)
{
	struct mios_look look = { 0 };

	mios_cursor_release(&view[3], &cursor[3]);
	if (mios_pool_alloc_run(&view[2], 0, &cursor[2], &look, &run))
		run = 0;
}

static void two_closes(void)
{
	closed = mios_pool_close(&view[2], 0);
}

static bool in_slot(void *ctx, u64 phys, bool huge, u64 object)
{
	(void)ctx;
	return !huge && object == OBJECT && READ_ONCE(slot) == phys;
}

static void publish(u32 self)
{
	u64 empty = 0;

	allocate(self);
	CHECK(has[self]);
	has[self] = false;
	CHECK(!mios_pool_object(&view[self], &got[self], OBJECT));
	if (try_cmpxchg(&slot, &empty, got[self].phys))
		mios_pool_keep(&view[self], &got[self]);
	else
		CHECK(!mios_pool_free(&view[self], &got[self]));
}

static void cut(u32 self, u32 with)
{
	struct mios_page page;
	u64 found = READ_ONCE(slot);

	if (!found || mios_pool_take(&view[with], found, false, OBJECT, &page))
		return;
	(void)self;
	CHECK(try_cmpxchg(&slot, &found, 0));
	CHECK(!mios_pool_free(&view[with], &page));
}

static void one_publishes(void)
{
	publish(1);
}

static void two_publishes(void)
{
	publish(2);
}

static void two_cuts(void)
{
	cut(2, 2);
}

static void one_cuts(void)
{
	cut(1, 1);
}

/* By instance 0; where two have died, twice at once. */
static void bury(u32 dead)
{
	pool_recover(&view[0], dead, 1, in_slot, NULL);
}

/* Whatever has happened: the dead have nothing, the others what they know. */
static void whole(void)
{
	u32 extent, i, who;

	for (extent = 0; extent < EXTENTS; extent++) {
		u64 all = extent_record(extent)->word;
		bool any_free = false;

		for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
			u64 word = page_record(extent, i)->word;
			u64 phys = BASE + extent * (u64)MIOS_EXTENT_SIZE +
				   i * 4096;
			u32 holders = 0;

			for (who = 0; who < 4; who++)
				holders += has[who] && !got[who].huge &&
					   !explore_is_dead(who) &&
					   got[who].phys == phys;
			holders += run && !explore_is_dead(2) &&
				   phys - run < MIOS_EXTENT_SIZE;
			CHECK(holders == ((word & 15) == MIOS_PAGE_HELD));
			CHECK((slot == phys) == ((word & 15) == MIOS_PAGE_KEPT));
			any_free |= (word & 15) == MIOS_PAGE_FREE;
		}
		CHECK(!any_free || (all & 15) != MIOS_EXTENT_FULL);
		if ((all & 15) == MIOS_EXTENT_LEASED)
			CHECK(!explore_is_dead(all >> 4 & 63));
	}
}

/* Who has found none looks again, when there is one. */
static void freed_end(void)
{
	bool is_free = (page_record(0, FIRST)->word & 15) == MIOS_PAGE_FREE;

	whole();
	if (!is_free || explore_is_dead(1))
		return;
	allocate(1);
	CHECK(has[1]);
}

static void large_end(void)
{
	whole();
	CHECK(!has[1] || !has[2] || explore_is_dead(1) || explore_is_dead(2));
}

static void closed_end(void)
{
	whole();
	CHECK(closed || !has[1] || explore_is_dead(1));
}

static const struct scenario scenarios[] = {
	{ "two allocate", restore, { one_again, two_allocates }, { 1, 2 },
	  1, bury, whole },
	{ "the last page, one is freed", one_left,
	  { one_to_the_end, two_frees }, { 1, 2 }, 1, bury, whole },
	{ "none is left, one is freed", none_left, { one_tries, two_frees },
	  { 1, 2 }, 1, bury, freed_end },
	{ "none is left, leased by another", none_left_leased,
	  { one_tries, two_frees }, { 1, 2 }, 1, bury, freed_end },
	{ "one is freed, a third has it", none_left,
	  { one_tries, two_frees, three_again }, { 1, 2, 3 }, 0, bury,
	  freed_end },
	{ "small and large", large_setup, { one_tries, two_large }, { 1, 2 },
	  1, bury, large_end },
	{ "small and many", large_setup, { one_tries, two_run }, { 1, 2 },
	  1, bury, whole },
	{ "the section is closed", restore, { one_tries, two_closes },
	  { 1, 2 }, 0, bury, closed_end },
	{ "publish and cut", restore, { one_publishes, two_cuts }, { 1, 2 },
	  1, bury, whole },
	{ "both on one instance", restore, { one_publishes, one_cuts },
	  { 1, 1 }, 1, bury, whole },
	{ "two publish, one cuts", restore,
	  { one_publishes, two_publishes, two_cuts }, { 1, 2, 2 }, 0, bury,
	  whole },
	{ "two deaths", restore, { one_allocates, two_publishes }, { 1, 2 },
	  2, bury, whole },
};

void test_explore(unsigned int preemptions)
{
	unsigned int i;

	make();
	/* Each death is a choice at each step: one preemption less for it. */
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		explore(&scenarios[i], preemptions -
			(scenarios[i].deaths > 1 && preemptions));
	section_forget(memory, EXTENTS);
}
