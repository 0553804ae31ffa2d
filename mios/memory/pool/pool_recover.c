// SPDX-License-Identifier: GPL-2.0
/*
 * The death of an instance, and who uses what.  Recovery is called by any
 * survivor, once the dead one is fenced and everybody has acknowledged that;
 * it changes each word from exactly what it saw, so that it can be done twice,
 * by two at once, or again by another one where the first died in it.
 */
#include "../../inject/inject.h"
#include "word.h"

MIOS_INJECT_UNIT(free_named);
MIOS_INJECT_UNIT(lose_page);
MIOS_INJECT_UNIT(lose_lease);
MIOS_INJECT_UNIT(lose_freed);

struct recovery {
	struct mios_pool *pool;
	u32 instance;
	u32 epoch;
	mios_pool_named named;
	void *ctx;
};

static bool is_over(const struct recovery *r, u64 word)
{
	return word_owner(word) == r->instance && word_epoch(word) <= r->epoch;
}

static void declare_over(const struct recovery *r)
{
	u32 *dead = &r->pool->header->dead[r->instance];
	u32 was = READ_ONCE(*dead);

	/* Epochs only grow: so often can others come before us, at most. */
	while (was < r->epoch && !try_cmpxchg(dead, &was, r->epoch))
		;
}

/* KEEP: 1 if what the dead held here has become free. */
static u64 record_recover(const struct recovery *r, struct mios_pool_record *record,
			  u64 phys, bool huge)
{
	u64 word = word_read(record);

	if (!word_is_mortal(word) || !is_over(r, word))
		return 0;
	if (r->named && !inject_free_named &&
	    r->named(r->ctx, phys, huge, READ_ONCE(record->object))) {
		word_change(record, word, word_become(word, MIOS_PAGE_KEPT));
		return 0;
	}
	if (inject_lose_page)
		return 0;
	return word_change(record, word,
			   word_next(r->pool, word, MIOS_PAGE_FREE));
}

static u64 extent_recover(const struct recovery *r, struct mios_section *section,
			  u32 extent)
{
	struct mios_pool_record *record = &section->extent[extent];
	struct mios_pool_record *page = extent_pages(section, extent);
	u64 phys = section->base + (u64)extent * MIOS_EXTENT_SIZE;
	u64 word = word_read(record);
	bool any_free = false;
	u64 freed = 0;
	u32 i;

	if (word_state(word) == MIOS_EXTENT_LEASED && is_over(r, word) &&
	    !inject_lose_lease)
		word_change(record, word,
			    word_next(r->pool, word, MIOS_PAGE_FREE));
	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		freed += record_recover(r, &page[i],
					phys + (u64)i * MIOS_POOL_PAGE, false);
		any_free |= word_state(word_read(&page[i])) == MIOS_PAGE_FREE;
	}
	/* FULL: the dead may have been between its two looks, too. */
	if (any_free)
		mios_page_given(section, extent);
	return freed + record_recover(r, record, phys, true) *
		       MIOS_EXTENT_PAGES;
}

/* As many as are recovered in one go: some eight thousand records. */
#define RECOVER_EXTENTS	16u

bool mios_pool_recover(struct mios_pool *pool, struct mios_pool_recovery *r,
		       mios_pool_named named, void *ctx)
{
	const struct recovery of = { pool, r->instance, r->epoch, named, ctx };
	u32 nr = pool_sections(pool), left = RECOVER_EXTENTS;

	if (r->instance >= MIOS_POOL_INSTANCES || r->epoch > MIOS_EPOCH_MAX)
		return false;
	declare_over(&of);
	for (; r->section < nr; r->section++, r->extent = 0) {
		struct mios_section *section = &pool->section[r->section];

		for (; r->extent < section->nr_extents; r->extent++) {
			if (!left--)
				return true;
			r->freed += extent_recover(&of, section, r->extent);
		}
		/* FREED: the dead may have been about to say so. */
		if (!inject_lose_freed)
			mios_section_freed(section);
	}
	return false;
}

/* As many as are looked at in one go: half a megabyte of records. */
#define USAGE_EXTENTS	64u

static void record_count(u64 word, u32 pages, struct mios_pool_usage *usage)
{
	switch (word_state(word)) {
	case MIOS_PAGE_HELD:
	case MIOS_PAGE_TAKEN:
		usage->held[word_owner(word)] += pages;
		break;
	case MIOS_PAGE_KEPT:
		usage->kept += pages;
		usage->made[word_owner(word)] += pages;
		break;
	case MIOS_EXTENT_LEASED:
		usage->leases[word_owner(word)]++;
		break;
	}
}

static void section_count(const struct mios_section *section, u32 extent,
			  u32 end, struct mios_pool_usage *usage)
{
	u32 i;

	for (; extent < end; extent++) {
		struct mios_pool_record *page = extent_pages(section, extent);

		record_count(word_read(&section->extent[extent]),
			     MIOS_EXTENT_PAGES, usage);
		for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
			u64 word = word_read(&page[i]);

			record_count(word, 1, usage);
			usage->meta += word_state(word) == MIOS_PAGE_META;
		}
		usage->pages += MIOS_EXTENT_PAGES;
	}
}

bool mios_section_usage(const struct mios_pool *pool, u32 section, u32 *extent,
			struct mios_pool_usage *usage)
{
	u32 nr = pool->section[section].nr_extents;
	u32 first = *extent;

	if (!first)
		memset(usage, 0, sizeof(*usage));
	*extent = nr - first > USAGE_EXTENTS ? first + USAGE_EXTENTS : nr;
	section_count(&pool->section[section], first, *extent, usage);
	return *extent < nr;
}

void mios_pool_usage(const struct mios_pool *pool,
		     struct mios_pool_usage *usage)
{
	u32 nr = pool_sections(pool);
	u32 index;

	memset(usage, 0, sizeof(*usage));
	for (index = 0; index < nr; index++)
		section_count(&pool->section[index], 0,
			      pool->section[index].nr_extents, usage);
}
