/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The word of a record, and finding a record: for the files of
 * mios/memory/pool/.
 *
 * Ordering, by name.  Every change of a word is a full barrier.
 *   GIVE	who frees: its last stores to the page, then FREE into the word;
 *		who allocates: FREE out of the word, then its own stores.
 *   LOOK	who allocates: the page's word, then a look at the extent's word
 *		and the section's state; who takes the whole extent, or closes
 *		the section: that word or state, then a look at all pages' words.
 *		One of the two sees the other; both may, and both give way.
 *   FULL	who calls an extent full: its word, then a look at all pages'
 *		words; who frees a page: the page's word, then a look at the
 *		extent's.  One of the two sees the other, so that no extent with
 *		a free page stays full.
 *   FREED	who gives an extent free pages that had none (is no longer FULL, or
 *		taken as a whole): its word, then ->freed raised; who looks for a
 *		page: ->freed, then all extents' words, and the pages of those that
 *		are not FULL, each of which he calls FULL when none of its pages is
 *		free.  What becomes free in one behind him is told by FULL, and
 *		raises ->freed after he had read it: he does not take the section
 *		for full any more.  Who dies before he raises it has it raised by
 *		recovery.
 *   KEEP	who publishes: ->object, then the place where the page is found,
 *		then KEPT into the word; who recovers: the word, then ->object,
 *		then that place.  A page of the dead that can be found is kept.
 *   TAKE	who removes: HELD into the word, then out of that place.  One who
 *		dies in between leaves a page that is found, and so is kept.
 */
#ifndef _MIOS_POOL_WORD_H
#define _MIOS_POOL_WORD_H

#include "../../inject/inject.h"
#include "pool.h"

MIOS_INJECT_UNIT(same_generation);

#define OWNER_SHIFT	MIOS_WORD_STATE_BITS
#define EPOCH_SHIFT	(OWNER_SHIFT + MIOS_WORD_OWNER_BITS)
#define GEN_SHIFT	(EPOCH_SHIFT + MIOS_WORD_EPOCH_BITS)

static inline u32 word_state(u64 word)
{
	return word & ((1u << MIOS_WORD_STATE_BITS) - 1);
}

static inline u32 word_owner(u64 word)
{
	return word >> OWNER_SHIFT & ((1u << MIOS_WORD_OWNER_BITS) - 1);
}

static inline u32 word_epoch(u64 word)
{
	return word >> EPOCH_SHIFT & MIOS_EPOCH_MAX;
}

static inline u32 word_gen(u64 word)
{
	return word >> GEN_SHIFT;
}

static inline u64 word_make(u32 state, u32 owner, u32 epoch, u32 gen)
{
	return (u64)gen << GEN_SHIFT | (u64)epoch << EPOCH_SHIFT |
	       (u64)owner << OWNER_SHIFT | state;
}

/* The same generation: whoever has it goes on having it. */
static inline u64 word_become(u64 word, u32 state)
{
	return word_make(state, word_owner(word), word_epoch(word),
			 word_gen(word));
}

/* Another generation: no earlier copy of the word is worth anything. */
static inline u64 word_next(const struct mios_pool *pool, u64 word, u32 state)
{
	u32 step = !inject_same_generation;

	return word_make(state, pool->self, pool->epoch,
			 word_gen(word) + step);
}

static inline u64 word_read(const struct mios_pool_record *record)
{
	return READ_ONCE(record->word);
}

/* Does its owner's death free it, unless an object names it? */
static inline bool word_is_mortal(u64 word)
{
	return word_state(word) == MIOS_PAGE_HELD ||
	       word_state(word) == MIOS_PAGE_TAKEN;
}

/* From exactly this to that. */
static inline bool word_change(struct mios_pool_record *record, u64 from,
			       u64 to)
{
	return try_cmpxchg(&record->word, &from, to);
}

static inline bool word_is_own(const struct mios_pool *pool, u64 word)
{
	return word_owner(word) == pool->self &&
	       word_epoch(word) == pool->epoch;
}

/* Sections that are mapped here. */
static inline u32 pool_sections(const struct mios_pool *pool)
{
	return smp_load_acquire(&pool->nr_sections); /* VIEW */
}

static inline bool section_is_open(const struct mios_section *section)
{
	return READ_ONCE(section->header->state) == MIOS_SECTION_OPEN;
}

/* Records that are looked at in one go: a few microseconds. */
#define LOOK_RECORDS	1024u

/* The records of the pages of an extent. */
static inline struct mios_pool_record *
extent_pages(const struct mios_section *section, u32 extent)
{
	return section->page + (size_t)extent * MIOS_EXTENT_PAGES;
}

/* lease.c */
int mios_extent_lease(struct mios_pool *pool, struct mios_cursor *cursor);
bool mios_extent_full(struct mios_pool *pool, struct mios_section *section,
		      u32 extent, u64 word);
bool mios_any_page(const struct mios_section *section, u32 extent, bool other);

/* page_alloc.c */
bool mios_extent_is_small(u64 word);
bool mios_page_may_be_used(const struct mios_section *section, u32 extent);
void mios_section_freed(struct mios_section *section);
void mios_page_given(struct mios_section *section, u32 extent);

#endif /* _MIOS_POOL_WORD_H */
