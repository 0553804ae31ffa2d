// SPDX-License-Identifier: GPL-2.0
/*
 * Runs: all pages of an extent at once, for who wants them side by side.  They are
 * small pages in all respects, freed, kept and recovered one by one: an extent
 * that is leased for a moment, so that two do not begin in the same one, and each
 * of its pages taken.  Where somebody has taken one meanwhile, all are given back.
 */
#include "../../inject/inject.h"
#include "word.h"

MIOS_INJECT_UNIT(part_of_run);

/* After a look in vain: pages become free one by one, and seldom a whole extent. */
#define REST		64u

/* Of so many extents of a section the last is left to who needs a whole one. */
#define SPARE		32u

/* So many of the first pages, which nobody else changes. */
static void pages_give(struct mios_pool *pool, struct mios_pool_record *record,
		       u32 nr)
{
	while (nr--) {
		u64 word = word_read(&record[nr]);

		word_change(&record[nr], word,
			    word_next(pool, word, MIOS_PAGE_FREE));
	}
}

/* LOOK: each page's word, and then once for all whether they may be used. */
static bool pages_take(struct mios_pool *pool,
		       const struct mios_section *section, u32 extent)
{
	struct mios_pool_record *record = extent_pages(section, extent);
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		u64 word = word_read(&record[i]);

		if (word_state(word) != MIOS_PAGE_FREE ||
		    !word_change(&record[i], word,
				 word_next(pool, word, MIOS_PAGE_HELD)))
			break;
	}
	if ((i == MIOS_EXTENT_PAGES || (i && inject_part_of_run)) &&
	    mios_page_may_be_used(section, extent))
		return true;
	pages_give(pool, record, i);
	return false;
}

static bool run_take(struct mios_pool *pool, struct mios_section *section,
		     u32 extent)
{
	struct mios_pool_record *record = &section->extent[extent];
	u64 word = word_read(record);
	u64 leased = word_next(pool, word, MIOS_EXTENT_LEASED);

	if (word_state(word) != MIOS_PAGE_FREE ||
	    mios_any_page(section, extent, true) ||
	    !word_change(record, word, leased))
		return false;
	if (pages_take(pool, section, extent)) {
		mios_extent_full(pool, section, extent, leased);
		return true;
	}
	/* FULL: who has found no page there may have called it so. */
	if (!word_change(record, leased,
			 word_next(pool, leased, MIOS_PAGE_FREE)))
		mios_page_given(section, extent);
	return false;
}

int mios_pool_alloc_run(struct mios_pool *pool, u32 index,
			struct mios_cursor *cursor, struct mios_look *look,
			u64 *phys)
{
	struct mios_section *section = &pool->section[index];
	u32 left = LOOK_RECORDS, extent, cost, rest, freed, nr;

	if (READ_ONCE(pool->header->dead[pool->self]) >= pool->epoch)
		return -ESTALE;
	if (index >= pool_sections(pool) || !section_is_open(section))
		return -ENOMEM;
	nr = section->nr_extents - section->nr_extents / SPARE;
	freed = READ_ONCE(section->header->freed);
	rest = READ_ONCE(cursor->run_rest);
	if (!look->extent && rest && READ_ONCE(cursor->run_freed) == freed) {
		WRITE_ONCE(cursor->run_rest, rest - 1);
		return -ENOMEM;
	}
	if (!look->extent) {
		WRITE_ONCE(cursor->run_freed, freed);
		look->start = READ_ONCE(cursor->run) % nr;
	}
	for (; look->extent < nr; look->extent++) {
		extent = nr - 1 - (look->start + look->extent) % nr;
		cost = word_state(word_read(&section->extent[extent])) ==
		       MIOS_PAGE_FREE ? MIOS_EXTENT_PAGES : 1;
		if (cost > left) {
			WRITE_ONCE(cursor->run, look->start + look->extent);
			return -EINPROGRESS;
		}
		left -= cost;
		if (!run_take(pool, section, extent))
			continue;
		WRITE_ONCE(cursor->run, nr - extent);
		*phys = section->base + (u64)extent * MIOS_EXTENT_SIZE;
		return 0;
	}
	WRITE_ONCE(cursor->run_rest, REST);
	return -ENOMEM;
}
