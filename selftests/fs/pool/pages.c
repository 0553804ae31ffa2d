// SPDX-License-Identifier: GPL-2.0
/*
 * One step after another: sections, pages and large pages, what is refused,
 * death, and what lies in the records being garbage.
 */
#include "test.h"

/* Pages in front of the first one that can be allocated. */
static u32 meta_of(u32 extents)
{
	return 2 + DIV_ROUND_UP(extents * 16, 4096) + extents * 2;
}

static u32 accesses;

static void count(const volatile void *address, bool write)
{
	(void)address;
	(void)write;
	accesses++;
}

/*
 * However large a section is that is full: some records at a time are looked at,
 * and then, until a page has become free, none.
 */
static void pieces(struct mios_pool *pool, u32 section)
{
	struct mios_cursor cursor = { .section = section };
	struct mios_look look = { 0 };
	struct mios_page page;
	u32 before;
	int err;

	CHECK(mios_pool_is_full(pool, section));
	pool->section[section].full = 0;
	test_point = count;
	do {
		before = look.extent;
		accesses = 0;
		err = mios_pool_look(pool, &cursor, &look, &page);
		CHECK(accesses < 4 * MIOS_EXTENT_PAGES);
		CHECK(err == -ENOMEM ||
		      (err == -EINPROGRESS && look.extent > before));
	} while (err != -ENOMEM);
	accesses = 0;
	CHECK(mios_pool_is_full(pool, section));
	CHECK(accesses <= 3);
	test_point = NULL;
	CHECK(look.extent == pool->section[section].nr_extents);
}

void pool_is_whole(struct mios_pool *pool)
{
	struct mios_pool_usage usage;
	struct mios_page page;
	u64 count = 0;
	u32 i;

	mios_pool_usage(pool, &usage);
	CHECK(!usage.kept);
	for (i = 0; i < MIOS_POOL_INSTANCES; i++) {
		CHECK(!usage.held[i]);
		CHECK(!usage.leases[i]);
	}
	for (i = 0; i < pool->nr_sections; i++) {
		struct mios_cursor cursor = { .section = i };

		while (!pool_alloc(pool, &cursor, &page)) {
			CHECK(page.phys - pool->section[i].base <
			      (u64)pool->section[i].nr_extents *
			      MIOS_EXTENT_SIZE);
			count++;
		}
		pieces(pool, i);
	}
	CHECK(count == usage.pages - usage.meta);
	mios_pool_usage(pool, &usage);
	CHECK(usage.held[pool->self] == count);
	/* Give all back as if it had died; as the same boot, for the test. */
	CHECK(pool_recover(pool, pool->self, pool->epoch, NULL, NULL) ==
	      count);
	pool->header->dead[pool->self] = 0;
}

static void sections(u32 extents)
{
	struct mios_pool_place place = section_place(BASE, extents);
	struct mios_pool_place more = section_place(BASE << 1, 2);
	void *memory = section_memory(extents), *second = section_memory(2);
	struct mios_cursor cursor = { 0 };
	struct mios_pool one, two;
	struct mios_page page;

	CHECK(mios_pool_attach(&one, memory, &place, NODE, 1, 1) == -EBADMSG);
	CHECK(!mios_pool_format(memory, BASE, place.size, NODE));
	view_make(&one, memory, extents, 1, 1);
	CHECK(pool_alloc(&one, &cursor, &page) == -ENOMEM);
	CHECK(mios_pool_alloc_huge(&one, &page) == -ENOMEM);
	mios_pool_open(&one, 0);
	CHECK(!pool_alloc(&one, &cursor, &page));
	CHECK(page.phys == BASE + meta_of(extents) * 4096ull);
	CHECK(mios_pool_close(&one, 0) == 1);
	CHECK(!mios_pool_free(&one, &page));
	CHECK(mios_pool_close(&one, 0) == 0);
	CHECK(pool_alloc(&one, &cursor, &page) == -ENOMEM);
	mios_pool_open(&one, 0);
	mios_cursor_release(&one, &cursor);

	/* It grows; another instance finds that, and the next boot too. */
	view_make(&two, memory, extents, 2, 1);
	CHECK(!mios_pool_place(&two, &more));
	more = section_place(BASE << 1, 2);
	more.node = NODE + 1;
	CHECK(!mios_pool_grow(&one, second, &more));
	CHECK(mios_pool_place(&two, &place) == 1);
	CHECK(place.base == more.base && place.size == more.size);
	CHECK(place.node == more.node);
	CHECK(!mios_pool_adopt(&two, second, &place));
	CHECK(!mios_pool_place(&two, &place));
	mios_pool_open(&one, 1);
	pool_is_whole(&two);
	CHECK(!mios_pool_alloc_huge(&two, &page));
	CHECK(!mios_pool_free(&two, &page));
	section_forget(second, 2);
	section_forget(memory, extents);
}

static void headers(void)
{
	struct mios_pool_place place = section_place(BASE, 2), bad;
	void *memory = section_memory(2);
	struct mios_section_header *section = memory;
	struct mios_pool_header *header = memory + MIOS_POOL_HEADER_AT;
	struct mios_pool pool;

	CHECK(mios_pool_format(memory, BASE + 4096, place.size, NODE) ==
	      -EINVAL);
	CHECK(mios_pool_format(memory, BASE, 4096, NODE) == -EINVAL);
	CHECK(!mios_pool_format(memory, BASE, place.size, NODE));
	CHECK(mios_pool_attach(&pool, memory, &place, NODE + 1, 1, 1) ==
	      -EBADMSG);
	bad = section_place(BASE * 2, 2);
	CHECK(mios_pool_attach(&pool, memory, &bad, NODE, 1, 1) == -EBADMSG);
	bad = section_place(BASE, 3);
	CHECK(mios_pool_attach(&pool, memory, &bad, NODE, 1, 1) == -EBADMSG);
	CHECK(mios_pool_attach(&pool, memory, &place, NODE, 64, 1) == -EINVAL);
	CHECK(mios_pool_attach(&pool, memory, &place, NODE, 1, 0) == -EINVAL);
	CHECK(mios_pool_attach(&pool, memory, &place, NODE, 1, 1 << 24) ==
	      -EINVAL);
	header->version++;
	CHECK(mios_pool_attach(&pool, memory, &place, NODE, 1, 1) == -EPROTO);
	header->version--;
	section->version++;
	CHECK(mios_pool_attach(&pool, memory, &place, NODE, 1, 1) == -EPROTO);
	section->version--;
	view_make(&pool, memory, 2, 1, 1);
	header->nr_sections = MIOS_POOL_SECTIONS + 1;
	CHECK(mios_pool_place(&pool, &bad) == -EBADMSG);
	header->nr_sections = 2;
	header->section[1] = section_place(4096, 1);
	CHECK(mios_pool_place(&pool, &bad) == -EBADMSG);
	section_forget(memory, 2);
}

/* Sections that lie in no order are found in the order of their addresses. */
static void order(void)
{
	struct mios_pool_place place = section_place(BASE, 1);
	void *memory[MIOS_POOL_SECTIONS] = { section_memory(1) };
	static struct mios_pool pool;
	u64 last;
	u32 i;

	CHECK(!mios_pool_format(memory[0], BASE, place.size, NODE));
	view_make(&pool, memory[0], 1, 1, 1);
	for (i = 1; i < MIOS_POOL_SECTIONS; i++) {
		/* 37 is prime to 64; a gap behind each but the last. */
		place = section_place(BASE + i * 37ull % 64 * (4ull << 20), 1);
		memory[i] = section_memory(1);
		CHECK(!mios_pool_grow(&pool, memory[i], &place));
	}
	for (i = 0; i < MIOS_POOL_SECTIONS; i++) {
		last = pool.section[i].base + MIOS_EXTENT_SIZE - 4096;
		CHECK(!i || pool.section[pool.order[i - 1]].base <
			    pool.section[pool.order[i]].base);
		CHECK(mios_pool_section(&pool, pool.section[i].base) == i);
		CHECK(mios_pool_section(&pool, last) == i);
		CHECK(mios_pool_section(&pool, last + 4096) == -EINVAL);
		CHECK(mios_pool_memory(&pool, last) ==
		      memory[i] + MIOS_EXTENT_SIZE - 4096);
	}
	CHECK(mios_pool_section(&pool, BASE - 4096) == -EINVAL);
	for (i = 0; i < MIOS_POOL_SECTIONS; i++)
		section_forget(memory[i], 1);
}

/*
 * All extents are another one's, and all pages but one of each are free: a page
 * costs no look at all extents before it, nor at all pages of one.
 */
static void borrowed(u32 extents)
{
	struct mios_cursor other = { 0 }, cursor = { 0 };
	void *memory = section_memory(extents);
	struct mios_pool one, two;
	struct mios_page page;
	u32 i, left;
	int err;

	CHECK(!mios_pool_format(memory, BASE,
				extents * (u64)MIOS_EXTENT_SIZE, NODE));
	view_make(&one, memory, extents, 1, 1);
	view_make(&two, memory, extents, 2, 1);
	mios_pool_open(&one, 0);
	do {
		err = mios_pool_alloc(&two, &other, &page);
		other.word = 0;
	} while (!err || err == -EINPROGRESS);
	for (left = extents / 4 * MIOS_EXTENT_PAGES; left; left -= 512) {
		accesses = 0;
		test_point = count;
		for (i = 0; i < 512; i++)
			CHECK(!pool_alloc(&one, &cursor, &page));
		test_point = NULL;
		CHECK(accesses < 512 * 16 + 4 * extents);
	}
	CHECK(pool_recover(&two, 1, 1, NULL, NULL) ==
	      extents / 4 * MIOS_EXTENT_PAGES);
	section_forget(memory, extents);
}

void test_section(void)
{
	headers();
	order();
	sections(1);
	sections(3);
	/* Records of so many fill more than one extent. */
	sections(300);
	borrowed(2000);
}

static void *pool_make(struct mios_pool *one, struct mios_pool *two)
{
	void *memory = section_memory(3);

	CHECK(!mios_pool_format(memory, BASE, 3 * MIOS_EXTENT_SIZE, NODE));
	view_make(one, memory, 3, 1, 7);
	view_make(two, memory, 3, 2, 4);
	mios_pool_open(one, 0);
	return memory;
}

/* What each wrong free says, and that nothing of it changes anything. */
static void refusals(struct mios_pool *one, struct mios_pool *two)
{
	struct mios_cursor cursor = { 0 };
	struct mios_pool later = *one;
	struct mios_page page, again, old;

	CHECK(!pool_alloc(one, &cursor, &page));
	CHECK(mios_pool_free(two, &page) == -EPERM);
	CHECK(two->refused[MIOS_REFUSED_FOREIGN] == 1);
	later.epoch++;
	CHECK(mios_pool_free(&later, &page) == -ESTALE);
	CHECK(later.refused[MIOS_REFUSED_EPOCH] == 1);
	old = page;
	CHECK(!mios_pool_free(one, &page));
	CHECK(mios_pool_free(one, &page) == -EALREADY);
	CHECK(one->refused[MIOS_REFUSED_TWICE] == 1);
	/* The same page once more: the old handle is not worth it. */
	cursor.next = 0;
	CHECK(!pool_alloc(one, &cursor, &again));
	CHECK(again.phys == old.phys);
	CHECK(mios_pool_free(one, &old) == -EALREADY);
	CHECK(mios_pool_keep(one, &old) == -EALREADY);
	CHECK(!mios_pool_free(one, &again));
	page.phys = BASE - 4096;
	CHECK(mios_pool_free(one, &page) == -EINVAL);
	page.phys = BASE + 3 * MIOS_EXTENT_SIZE;
	CHECK(mios_pool_free(one, &page) == -EINVAL);
	page.phys = old.phys + 1;
	CHECK(mios_pool_free(one, &page) == -EINVAL);
	CHECK(one->refused[MIOS_REFUSED_UNKNOWN] == 3);
	mios_cursor_release(one, &cursor);
}

static void objects(struct mios_pool *one, struct mios_pool *two)
{
	struct mios_cursor cursor = { 0 };
	struct mios_page page, taken;

	CHECK(!pool_alloc(one, &cursor, &page));
	CHECK(!mios_pool_object(one, &page, 77));
	CHECK(mios_pool_object(two, &page, 78) == -EPERM);
	CHECK(!mios_pool_keep(one, &page));
	CHECK(mios_pool_free(one, &page) == -EALREADY);
	CHECK(mios_pool_take(two, page.phys, false, 78, &taken) == -ENOENT);
	CHECK(mios_pool_take(two, page.phys + 1, false, 77, &taken) == -EINVAL);
	CHECK(!mios_pool_take(two, page.phys, false, 77, &taken));
	CHECK(mios_pool_free(one, &page) == -EALREADY);
	CHECK(!mios_pool_free(two, &taken));
	CHECK(mios_pool_take(two, page.phys, false, 77, &taken) == -ENOENT);
	mios_cursor_release(one, &cursor);
}

static void large(struct mios_pool *one, struct mios_pool *two)
{
	struct mios_cursor cursor = { 0 };
	struct mios_page page, small, third;

	CHECK(!mios_pool_alloc_huge(one, &page));
	CHECK(page.phys == BASE + 2 * MIOS_EXTENT_SIZE && page.huge);
	CHECK(!mios_pool_alloc_huge(two, &third));
	CHECK(mios_pool_alloc_huge(two, &small) == -ENOMEM);
	CHECK(mios_pool_free(two, &page) == -EPERM);
	CHECK(!mios_pool_free(two, &third));
	while (!pool_alloc(two, &cursor, &small))
		CHECK(small.phys < page.phys);
	CHECK(!mios_pool_object(one, &page, 5));
	CHECK(!mios_pool_keep(one, &page));
	CHECK(!mios_pool_take(one, page.phys, true, 5, &page));
	CHECK(!mios_pool_free(one, &page));
	CHECK(mios_pool_free(one, &page) == -EALREADY);
	CHECK(pool_recover(two, 2, 4, NULL, NULL) > 512);
	one->header->dead[2] = 0;
}

/* As many as pool_alloc() does, for a run. */
static int run_alloc(struct mios_pool *pool, struct mios_cursor *cursor,
		     u64 *phys)
{
	struct mios_look look = { 0 };
	int err;

	do {
		err = mios_pool_alloc_run(pool, cursor->section, cursor, &look,
					  phys);
	} while (err == -EINPROGRESS);
	return err;
}

static void run_free(struct mios_pool *pool, u64 phys, u32 but)
{
	struct mios_page page;
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		CHECK(!mios_pool_held(pool, phys + i * MIOS_POOL_PAGE, &page));
		if (i != but)
			CHECK(!mios_pool_free(pool, &page));
	}
}

/* Pages that are freed one by one; and a run of them only when all are. */
static void runs(struct mios_pool *one, struct mios_pool *two)
{
	struct mios_cursor cursor = { 0 }, other = { 0 };
	struct mios_page page, small;
	u64 phys, next;
	u32 i;

	CHECK(!run_alloc(one, &cursor, &phys));
	CHECK(phys == BASE + 2 * MIOS_EXTENT_SIZE);
	CHECK(!run_alloc(two, &other, &next));
	CHECK(next == BASE + MIOS_EXTENT_SIZE);
	CHECK(mios_pool_held(two, phys, &page) == -EALREADY);
	CHECK(mios_pool_held(one, phys + 1, &page) == -EINVAL);
	CHECK(run_alloc(two, &other, &next) == -ENOMEM);
	run_free(one, phys, 300);
	cursor.run_rest = 0;
	CHECK(run_alloc(one, &cursor, &next) == -ENOMEM);
	CHECK(!mios_pool_held(one, phys + 300 * MIOS_POOL_PAGE, &page));
	CHECK(!mios_pool_free(one, &page));
	/* It is not looked for each time. */
	for (i = 0; run_alloc(one, &cursor, &next) == -ENOMEM; i++)
		CHECK(i < MIOS_EXTENT_PAGES);
	CHECK(i && next == phys);
	while (!pool_alloc(two, &other, &small))
		CHECK(small.phys < BASE + MIOS_EXTENT_SIZE);
	run_free(one, phys, MIOS_EXTENT_PAGES);
	CHECK(pool_recover(one, 2, 4, NULL, NULL) > MIOS_EXTENT_PAGES);
	one->header->dead[2] = 0;
}

void test_pages(void)
{
	struct mios_pool one, two;
	void *memory = pool_make(&one, &two);

	refusals(&one, &two);
	pool_is_whole(&one);
	objects(&one, &two);
	pool_is_whole(&two);
	large(&one, &two);
	pool_is_whole(&one);
	runs(&one, &two);
	pool_is_whole(&one);
	section_forget(memory, 3);
}

static bool is_this(void *ctx, u64 phys, bool huge, u64 object)
{
	(void)huge;
	return object == 9 && phys == *(u64 *)ctx;
}

void test_death(void)
{
	struct mios_pool one, two, again;
	void *memory = pool_make(&one, &two);
	struct mios_pool_place place = section_place(BASE, 3);
	struct mios_cursor cursor = { 0 }, other = { 0 };
	struct mios_page page, named, huge, mine;

	CHECK(!pool_alloc(&one, &cursor, &page));
	CHECK(!pool_alloc(&one, &cursor, &named));
	CHECK(!mios_pool_object(&one, &named, 9));
	CHECK(!mios_pool_alloc_huge(&one, &huge));
	CHECK(!pool_alloc(&two, &other, &mine));

	/* An earlier boot is over: nothing of this one's is touched. */
	CHECK(!pool_recover(&two, 1, 6, is_this, &named.phys));
	CHECK(pool_recover(&two, 1, 7, is_this, &named.phys) == 513);
	CHECK(!pool_recover(&two, 1, 7, is_this, &named.phys));
	CHECK(!mios_pool_take(&two, named.phys, false, 9, &named));
	CHECK(!mios_pool_free(&two, &named));

	/* Who was declared dead gets nothing any more, nor comes back as such. */
	memset(&cursor, 0, sizeof(cursor));
	CHECK(pool_alloc(&one, &cursor, &page) == -ESTALE);
	CHECK(mios_pool_alloc_huge(&one, &huge) == -ESTALE);
	CHECK(mios_pool_free(&one, &huge) == -EALREADY);
	CHECK(mios_pool_attach(&again, memory, &place, NODE, 1, 7) == -ESTALE);
	CHECK(!mios_pool_attach(&again, memory, &place, NODE, 1, 8));
	CHECK(!mios_pool_free(&two, &mine));
	mios_cursor_release(&two, &other);
	pool_is_whole(&again);
	section_forget(memory, 3);
}
