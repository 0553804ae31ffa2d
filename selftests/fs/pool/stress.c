// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of three instances on one pool that is too small for them: each page
 * is one thread's at a time (its first word says whose, and is no atomic, so
 * that TSan sees who else is there).  Then they all stop in the middle, and
 * what they held is recovered by two at once.
 */
#include <pthread.h>

#include "test.h"

#define EXTENTS		4
#define THREADS		6
#define HOLD		400

struct worker {
	struct mios_pool *pool;
	u8 *memory;
	u64 seed;
	unsigned long rounds;
	u32 id;
	struct mios_cursor cursor;
	struct mios_page page[HOLD];
	u32 nr;
};

static u32 *stamp(struct worker *w, const struct mios_page *page, bool last)
{
	size_t at = page->phys - BASE;

	if (last && page->huge)
		at += MIOS_EXTENT_SIZE - MIOS_POOL_PAGE;
	return (u32 *)(w->memory + at);
}

static void take_one(struct worker *w)
{
	struct mios_page *page = &w->page[w->nr];
	int err;

	if (test_random(&w->seed) % 256)
		err = pool_alloc(w->pool, &w->cursor, page);
	else
		err = mios_pool_alloc_huge(w->pool, page);
	CHECK(!err || err == -ENOMEM);
	if (err)
		return;
	*stamp(w, page, false) = w->id;
	*stamp(w, page, true) = w->id;
	w->nr++;
}

static void give_one(struct worker *w)
{
	u32 i = test_random(&w->seed) % w->nr;
	struct mios_page *page = &w->page[i];

	CHECK(*stamp(w, page, false) == w->id);
	CHECK(*stamp(w, page, true) == w->id);
	CHECK(!mios_pool_free(w->pool, page));
	*page = w->page[--w->nr];
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned long i;

	for (i = 0; i < w->rounds; i++) {
		if (w->nr < HOLD && (!w->nr || test_random(&w->seed) % 16 > 6))
			take_one(w);
		else
			give_one(w);
		if (test_random(&w->seed) % 512 == 0)
			mios_cursor_release(w->pool, &w->cursor);
	}
	return NULL;
}

static void *recover(void *arg)
{
	u32 instance;

	for (instance = 0; instance < 3; instance++)
		pool_recover(arg, instance, 1, NULL, NULL);
	return NULL;
}

void test_stress(u64 seed, unsigned long rounds)
{
	u8 *memory = section_memory(EXTENTS);
	struct mios_pool view[3], last;
	struct worker *w = calloc(THREADS, sizeof(*w));
	pthread_t thread[THREADS];
	u32 i;

	CHECK(w && !mios_pool_format(memory, BASE, EXTENTS * MIOS_EXTENT_SIZE,
				     NODE));
	for (i = 0; i < 3; i++)
		view_make(&view[i], memory, EXTENTS, i, 1);
	view_make(&last, memory, EXTENTS, 5, 1);
	mios_pool_open(&last, 0);
	for (i = 0; i < THREADS; i++) {
		w[i].pool = &view[i % 3];
		w[i].memory = memory;
		w[i].seed = seed + i;
		w[i].rounds = rounds;
		w[i].id = i + 1;
		CHECK(!pthread_create(&thread[i], NULL, work, &w[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, recover, &last));
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	pool_is_whole(&last);
	for (i = 0; i < 3; i++)
		CHECK(!view[i].refused[MIOS_REFUSED_TWICE]);
	free(w);
	section_forget(memory, EXTENTS);
}
