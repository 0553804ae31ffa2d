// SPDX-License-Identifier: GPL-2.0
/*
 * Pages: allocated in an extent that the caller's instance has leased, held,
 * kept by an object, taken out of it again, freed.  Each is a change of one
 * word from exactly what was seen; word.h says why the order is right.  Called
 * by page faults and by whoever cuts a file; bounded, without locks.
 */
#include "../../inject/inject.h"
#include "word.h"

MIOS_INJECT_UNIT(no_second_look);
MIOS_INJECT_UNIT(any_owner);
MIOS_INJECT_UNIT(unsaid);
MIOS_INJECT_UNIT(look_anew);

/* Extents whose pages are looked at in one go: the caller may have a lock. */
#define LEASE_TURNS	2

/* Where a record is. */
struct spot {
	struct mios_section *section;
	struct mios_pool_record *record;
	u32 extent;
};

static int spot_find(struct mios_pool *pool, u64 phys, bool huge,
		     struct spot *spot)
{
	struct mios_section *section;
	int index = mios_pool_section(pool, phys);

	if (index < 0 || (huge && phys % MIOS_EXTENT_SIZE))
		return -EINVAL;
	section = &pool->section[index];
	spot->section = section;
	spot->extent = (phys - section->base) / MIOS_EXTENT_SIZE;
	spot->record = huge ? &section->extent[spot->extent] :
		&section->page[(phys - section->base) / MIOS_POOL_PAGE];
	return 0;
}

/* Can small pages be allocated in an extent with this word? */
bool mios_extent_is_small(u64 word)
{
	u32 state = word_state(word);

	return state == MIOS_EXTENT_LEASED || state == MIOS_EXTENT_FULL ||
	       state == MIOS_PAGE_FREE;
}

/* FREED: who has looked for a page in vain may do so again. */
void mios_section_freed(struct mios_section *section)
{
	u64 *freed = &section->header->freed;
	u64 was = READ_ONCE(*freed);

	/* Each failure is another one's success. */
	while (!inject_unsaid && !try_cmpxchg(freed, &was, was + 1))
		;
}

/* FULL: a page of the extent has become free. */
void mios_page_given(struct mios_section *section, u32 extent)
{
	struct mios_pool_record *record = &section->extent[extent];
	u64 word = word_read(record);

	/* Who changes it instead of us has yet to look for free pages. */
	if (word_state(word) == MIOS_EXTENT_FULL &&
	    word_change(record, word, word_become(word, MIOS_PAGE_FREE)))
		mios_section_freed(section);
}

/* LOOK: may a page that has just been taken in this extent be used? */
bool mios_page_may_be_used(const struct mios_section *section, u32 extent)
{
	if (inject_no_second_look)
		return true;
	return mios_extent_is_small(word_read(&section->extent[extent])) &&
	       section_is_open(section);
}

/* One free page of an extent, looked for from @from on. */
static int extent_alloc(struct mios_pool *pool, u32 index, u32 extent,
			u32 *from, struct mios_page *page)
{
	struct mios_section *section = &pool->section[index];
	struct mios_pool_record *record = extent_pages(section, extent);
	u32 i, at;

	if (!mios_extent_is_small(word_read(&section->extent[extent])) ||
	    !section_is_open(section))
		return -ENOMEM;
	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		u64 word, held;

		at = (*from + i) % MIOS_EXTENT_PAGES;
		word = word_read(&record[at]);
		if (word_state(word) != MIOS_PAGE_FREE)
			continue;
		held = word_next(pool, word, MIOS_PAGE_HELD);
		if (!word_change(&record[at], word, held))
			continue;
		if (!mios_page_may_be_used(section, extent)) {
			word_change(&record[at], held,
				    word_next(pool, held, MIOS_PAGE_FREE));
			mios_page_given(section, extent);
			return -ENOMEM;
		}
		page->phys = section->base + (u64)extent * MIOS_EXTENT_SIZE +
			     (u64)at * MIOS_POOL_PAGE;
		page->word = held;
		page->huge = false;
		*from = at + 1;
		return 0;
	}
	return -ENOMEM;
}

int mios_pool_alloc(struct mios_pool *pool, struct mios_cursor *cursor,
		    struct mios_page *page)
{
	int turn, err;

	if (cursor->section >= pool_sections(pool))
		return -ENOMEM;
	for (turn = 0; turn < LEASE_TURNS; turn++) {
		if (!cursor->word) {
			err = mios_extent_lease(pool, cursor);
			if (err)
				return err;
		}
		if (!extent_alloc(pool, cursor->section, cursor->extent,
				  &cursor->next, page))
			return 0;
		mios_extent_full(pool, &pool->section[cursor->section],
				 cursor->extent, cursor->word);
		cursor->word = 0;
		cursor->extent = 0;
	}
	return -EINPROGRESS;
}

bool mios_pool_is_full(const struct mios_pool *pool, u32 index)
{
	const struct mios_section *section = &pool->section[index];

	return index < pool_sections(pool) &&
	       READ_ONCE(section->full) == READ_ONCE(section->header->freed) + 1;
}

/*
 * The next extent, or -ENOMEM: who finds no page there sees to it that he is told
 * of the next.  The first is looked through from the place behind the last find.
 */
static int extent_look(struct mios_pool *pool, u32 index, u32 extent,
		       struct mios_look *look, struct mios_page *page)
{
	struct mios_section *section = &pool->section[index];
	u64 word = word_read(&section->extent[extent]);
	u32 from = look->extent ? 0 : look->start % MIOS_EXTENT_PAGES;

	if (!extent_alloc(pool, index, extent, &from, page))
		return 0;
	if (!mios_extent_full(pool, section, extent, word))
		look->full = 0;
	return -ENOMEM;
}

/* Where @cursor says, unless that is nowhere. */
static void look_begin(const struct mios_section *section,
		       const struct mios_cursor *cursor, struct mios_look *look)
{
	u32 found = inject_look_anew ? 0 : READ_ONCE(cursor->found);

	look->full = smp_load_acquire(&section->header->freed) + 1; /* FREED */
	look->start = found / MIOS_EXTENT_PAGES < section->nr_extents ?
		      found : 0;
}

/* No extent is to be had: take a page wherever one is, leased or not. */
int mios_pool_look(struct mios_pool *pool, struct mios_cursor *cursor,
		   struct mios_look *look, struct mios_page *page)
{
	u32 index = cursor->section, left = LOOK_RECORDS, cost;
	struct mios_section *section = &pool->section[index];
	bool is_full;

	if (index >= pool_sections(pool) || !section_is_open(section))
		return -ENOMEM;
	if (!look->extent)
		look_begin(section, cursor, look);
	for (; look->extent < section->nr_extents; look->extent++) {
		u32 extent = (look->start / MIOS_EXTENT_PAGES + look->extent) %
			     section->nr_extents;
		u64 word = word_read(&section->extent[extent]);

		is_full = !mios_extent_is_small(word) ||
			  word_state(word) == MIOS_EXTENT_FULL;
		cost = is_full ? 1 : MIOS_EXTENT_PAGES;
		if (cost > left)
			return -EINPROGRESS;
		left -= cost;
		if (is_full || extent_look(pool, index, extent, look, page))
			continue;
		WRITE_ONCE(cursor->found,
			   (page->phys - section->base) / MIOS_POOL_PAGE + 1);
		return 0;
	}
	if (look->full)
		WRITE_ONCE(section->full, look->full);
	return -ENOMEM;
}

/* Why what this handle says is not so, or not any more. */
static int refuse(struct mios_pool *pool, const struct mios_page *page)
{
	if (word_owner(page->word) != pool->self) {
		pool->refused[MIOS_REFUSED_FOREIGN]++;
		return -EPERM;
	}
	if (word_epoch(page->word) != pool->epoch) {
		pool->refused[MIOS_REFUSED_EPOCH]++;
		return -ESTALE;
	}
	pool->refused[MIOS_REFUSED_TWICE]++;
	return -EALREADY;
}

/* The record of a page that the caller says it holds. */
static int held_find(struct mios_pool *pool, const struct mios_page *page,
		     struct spot *spot)
{
	if (spot_find(pool, page->phys, page->huge, spot)) {
		pool->refused[MIOS_REFUSED_UNKNOWN]++;
		return -EINVAL;
	}
	if ((!word_is_own(pool, page->word) &&
	     !inject_any_owner) ||
	    !word_is_mortal(page->word))
		return refuse(pool, page);
	return 0;
}

int mios_pool_free(struct mios_pool *pool, const struct mios_page *page)
{
	struct spot spot;
	int err = held_find(pool, page, &spot);

	if (err)
		return err;
	if (!word_change(spot.record, page->word,
			 word_next(pool, page->word, MIOS_PAGE_FREE)))
		return refuse(pool, page);
	if (page->huge)
		mios_section_freed(spot.section);
	else
		mios_page_given(spot.section, spot.extent);
	return 0;
}

int mios_pool_held(struct mios_pool *pool, u64 phys, struct mios_page *page)
{
	struct spot spot;

	if (spot_find(pool, phys, false, &spot))
		return -EINVAL;
	page->phys = phys;
	page->word = word_read(spot.record);
	page->huge = false;
	return word_state(page->word) == MIOS_PAGE_HELD &&
	       word_is_own(pool, page->word) ? 0 : -EALREADY;
}

bool mios_pool_is_held(const struct mios_pool *pool, u64 phys)
{
	const struct mios_section *section;
	int index = mios_pool_section(pool, phys);
	u64 word;

	if (index < 0)
		return false;
	section = &pool->section[index];
	word = word_read(&section->page[(phys - section->base) / MIOS_POOL_PAGE]);
	return word_state(word) == MIOS_PAGE_HELD &&
	       READ_ONCE(pool->header->dead[word_owner(word)]) <
	       word_epoch(word);
}

int mios_pool_object(struct mios_pool *pool, const struct mios_page *page,
		     u64 object)
{
	struct spot spot;
	int err = held_find(pool, page, &spot);

	if (err)
		return err;
	WRITE_ONCE(spot.record->object, object);
	return 0;
}

int mios_pool_keep(struct mios_pool *pool, const struct mios_page *page)
{
	struct spot spot;
	int err = held_find(pool, page, &spot);

	if (err)
		return err;
	return word_change(spot.record, page->word,
			   word_become(page->word, MIOS_PAGE_KEPT)) ?
		0 : -EALREADY;
}

int mios_pool_take(struct mios_pool *pool, u64 phys, bool huge, u64 object,
		   struct mios_page *page)
{
	struct spot spot;
	u64 word;

	if (spot_find(pool, phys, huge, &spot))
		return -EINVAL;
	/* Only its publisher can be in the way, and once: HELD to KEPT. */
	for (;;) {
		word = word_read(spot.record);
		if (word_state(word) != MIOS_PAGE_KEPT &&
		    word_state(word) != MIOS_PAGE_HELD)
			return -ENOENT;
		if (READ_ONCE(spot.record->object) != object)
			return -ENOENT;
		page->word = word_next(pool, word, MIOS_PAGE_TAKEN);
		if (word_change(spot.record, word, page->word))
			break;
	}
	page->phys = phys;
	page->huge = huge;
	return 0;
}
