// SPDX-License-Identifier: GPL-2.0
/*
 * Extents: leased, so that those who allocate small pages do not meet, or
 * allocated whole.  A lease keeps nobody out who finds no extent of his own:
 * what excludes is the word of each page.  Small pages are taken from the
 * front of a section, large ones from its back, to leave whole extents whole.
 */
#include "../../inject/inject.h"
#include "word.h"

MIOS_INJECT_UNIT(any_epoch);
MIOS_INJECT_UNIT(full_at_once);
MIOS_INJECT_UNIT(no_rest);

/* Extents that are looked at in one go: the caller may have a lock. */
#define LEASE_EXTENTS	1024u

int mios_extent_lease(struct mios_pool *pool, struct mios_cursor *cursor)
{
	struct mios_section *section = &pool->section[cursor->section];
	u32 left = LEASE_EXTENTS;

	if (READ_ONCE(pool->header->dead[pool->self]) >= pool->epoch &&
	    !inject_any_epoch)
		return -ESTALE;
	if (!section_is_open(section))
		return -ENOMEM;
	if (cursor->rest) {
		cursor->rest--;
		return -ENOMEM;
	}
	for (; cursor->extent < section->nr_extents; cursor->extent++) {
		u64 word = word_read(&section->extent[cursor->extent]);
		u64 leased = word_next(pool, word, MIOS_EXTENT_LEASED);

		if (!left--)
			return -EINPROGRESS;
		if (word_state(word) != MIOS_PAGE_FREE ||
		    !word_change(&section->extent[cursor->extent], word, leased))
			continue;
		cursor->word = leased;
		cursor->next = 0;
		return 0;
	}
	cursor->extent = 0;
	if (!inject_no_rest)
		cursor->rest = MIOS_EXTENT_PAGES;
	return -ENOMEM;
}

void mios_cursor_release(struct mios_pool *pool, struct mios_cursor *cursor)
{
	struct mios_section *section = &pool->section[cursor->section];

	if (cursor->word)
		word_change(&section->extent[cursor->extent], cursor->word,
			    word_next(pool, cursor->word, MIOS_PAGE_FREE));
	cursor->word = 0;
	cursor->extent = 0;
}

/* Is any page of the extent in this state, or @other than in it? */
bool mios_any_page(const struct mios_section *section, u32 extent, bool other)
{
	struct mios_pool_record *page = extent_pages(section, extent);
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++)
		if ((word_state(word_read(&page[i])) != MIOS_PAGE_FREE) ==
		    other)
			return true;
	return false;
}

/*
 * No page of an extent with this word was free: call it full, and look again.
 * Who has leased it goes on in it, as far as there is anything.  Is it full now?
 */
bool mios_extent_full(struct mios_pool *pool, struct mios_section *section,
		      u32 extent, u64 word)
{
	struct mios_pool_record *record = &section->extent[extent];
	u64 full = word_next(pool, word, MIOS_EXTENT_FULL);

	if (!word_change(record, word, full))
		return false;
	if (inject_full_at_once || !mios_any_page(section, extent, false)) /* FULL */
		return true;
	if (word_change(record, full, word_become(full, MIOS_PAGE_FREE)))
		mios_section_freed(section);
	return false;
}

/* LOOK: all of an extent, or nothing. */
static bool extent_take(struct mios_pool *pool, struct mios_section *section,
			u32 extent, struct mios_page *page)
{
	struct mios_pool_record *record = &section->extent[extent];
	u64 word = word_read(record);
	u64 held = word_next(pool, word, MIOS_PAGE_HELD);

	if (word_state(word) != MIOS_PAGE_FREE ||
	    mios_any_page(section, extent, true) || !word_change(record, word, held))
		return false;
	if (mios_any_page(section, extent, true) || !section_is_open(section)) {
		word_change(record, held,
			    word_next(pool, held, MIOS_PAGE_FREE));
		mios_section_freed(section);
		return false;
	}
	page->phys = section->base + (u64)extent * MIOS_EXTENT_SIZE;
	page->word = held;
	page->huge = true;
	return true;
}

bool mios_extent_is_large(const struct mios_pool *pool, u32 index, u32 extent)
{
	u32 state;

	if (index >= pool_sections(pool) ||
	    extent >= pool->section[index].nr_extents)
		return false;
	state = word_state(word_read(&pool->section[index].extent[extent]));
	return state == MIOS_PAGE_KEPT || state == MIOS_PAGE_HELD;
}

int mios_pool_alloc_huge(struct mios_pool *pool, struct mios_page *page)
{
	u32 nr = pool_sections(pool);
	u32 index, extent;

	if (READ_ONCE(pool->header->dead[pool->self]) >= pool->epoch &&
	    !inject_any_epoch)
		return -ESTALE;
	for (index = 0; index < nr; index++) {
		struct mios_section *section = &pool->section[index];

		if (!section_is_open(section))
			continue;
		for (extent = section->nr_extents; extent--;)
			if (extent_take(pool, section, extent, page))
				return 0;
	}
	return -ENOMEM;
}
