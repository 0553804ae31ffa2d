// SPDX-License-Identifier: GPL-2.0
/*
 * What a pool is made of: sections are formatted, found again by the next
 * boot, opened and closed.  Called when an instance starts, and by who makes
 * a pool larger or smaller; nothing of a header is used before it was copied
 * and checked.
 */
#include "../../inject/inject.h"
#include "word.h"

MIOS_INJECT_UNIT(any_epoch);
MIOS_INJECT_UNIT(unordered);

static u32 records_pages(u64 nr)
{
	return DIV_ROUND_UP(nr * sizeof(struct mios_pool_record),
			    MIOS_POOL_PAGE);
}

/* Pages in front of those that can be allocated. */
static u32 meta_pages(u32 nr_extents)
{
	return 2 + records_pages(nr_extents) +
	       records_pages((u64)nr_extents * MIOS_EXTENT_PAGES);
}

static bool place_is_sane(const struct mios_pool_place *place)
{
	return !(place->base % MIOS_EXTENT_SIZE) &&
	       !(place->size % MIOS_EXTENT_SIZE) && place->size &&
	       place->size / MIOS_EXTENT_SIZE <= MIOS_SECTION_EXTENTS &&
	       place->node < MIOS_POOL_INSTANCES &&
	       place->base + place->size > place->base;
}

static struct mios_pool_header *pool_header(void *memory)
{
	return memory + MIOS_POOL_HEADER_AT;
}

static void section_set(struct mios_section *section, void *memory, u64 base,
			u32 nr_extents, u32 node)
{
	section->header = memory;
	section->extent = memory + MIOS_POOL_RECORDS_AT;
	section->page = memory + MIOS_POOL_RECORDS_AT +
			(size_t)records_pages(nr_extents) * MIOS_POOL_PAGE;
	section->base = base;
	section->nr_extents = nr_extents;
	section->node = node;
}

static void section_format(void *memory, const struct mios_pool_place *place,
			   u32 index)
{
	struct mios_section_header *header = memory;
	u32 nr = place->size / MIOS_EXTENT_SIZE;
	u32 meta = meta_pages(nr);
	struct mios_section section;
	u32 i;

	WRITE_ONCE(header->magic, 0);
	smp_wmb(); /* half a section is none */
	section_set(&section, memory, place->base, nr, place->node);
	memset(header + 1, 0, (size_t)meta * MIOS_POOL_PAGE - sizeof(*header));
	for (i = 0; i < meta; i++)
		section.page[i].word = word_make(MIOS_PAGE_META, 0, 0, 0);
	for (i = 0; i < meta / MIOS_EXTENT_PAGES; i++)
		section.extent[i].word = word_make(MIOS_PAGE_META, 0, 0, 0);
	header->version = MIOS_POOL_VERSION;
	header->size = sizeof(*header);
	header->self = place->base;
	header->node = place->node;
	header->index = index;
	header->nr_extents = nr;
	header->state = MIOS_SECTION_CLOSED;
	memset(header->reserved, 0, sizeof(header->reserved));
	header->freed = 0;
	smp_store_release(&header->magic, MIOS_SECTION_MAGIC); /* FORM */
}

int mios_pool_format(void *memory, u64 base, u64 size, u32 node)
{
	const struct mios_pool_place place = {
		.base = base, .size = size, .node = node,
	};
	struct mios_pool_header *header = pool_header(memory);

	if (!place_is_sane(&place))
		return -EINVAL;
	section_format(memory, &place, 0);
	header->version = MIOS_POOL_VERSION;
	header->size = sizeof(*header);
	header->self = base;
	header->node = node;
	header->section[0] = place;
	header->nr_sections = 1;
	smp_store_release(&header->magic, MIOS_POOL_MAGIC); /* FORM */
	return 0;
}

/* Section @index is there, but nobody has been told yet. */
static void section_order(struct mios_pool *pool, u32 index)
{
	u32 at;

	for (at = index; at && pool->section[pool->order[at - 1]].base >
			       pool->section[index].base; at--)
		WRITE_ONCE(pool->order[at], pool->order[at - 1]);
	WRITE_ONCE(pool->order[at], index);
}

/* Take section @index of the pool, which should be @place, into the view. */
static int section_check(struct mios_pool *pool, void *memory,
			 const struct mios_pool_place *place, u32 index)
{
	struct mios_section_header *header = memory;
	struct mios_section_header copy;

	if (smp_load_acquire(&header->magic) != MIOS_SECTION_MAGIC) /* FORM */
		return -EBADMSG;
	memcpy(&copy, header, sizeof(copy));
	if (copy.version != MIOS_POOL_VERSION)
		return -EPROTO;
	if (copy.size != sizeof(copy) || copy.self != place->base ||
	    copy.node != place->node || copy.index != index ||
	    copy.nr_extents != place->size / MIOS_EXTENT_SIZE)
		return -EBADMSG;
	section_set(&pool->section[index], memory, place->base,
		    copy.nr_extents, copy.node);
	if (!inject_unordered)
		section_order(pool, index);
	smp_store_release(&pool->nr_sections, index + 1); /* VIEW */
	return 0;
}

int mios_pool_attach(struct mios_pool *pool, void *memory,
		     const struct mios_pool_place *place, u32 node, u32 self,
		     u32 epoch)
{
	const struct mios_pool_place first = {
		.base = place->base, .size = place->size, .node = node,
	};
	struct mios_pool_header *header = pool_header(memory);

	memset(pool, 0, sizeof(*pool));
	if (!place_is_sane(place) || self >= MIOS_POOL_INSTANCES || !epoch ||
	    epoch > MIOS_EPOCH_MAX)
		return -EINVAL;
	if (smp_load_acquire(&header->magic) != MIOS_POOL_MAGIC) /* FORM */
		return -EBADMSG;
	if (READ_ONCE(header->version) != MIOS_POOL_VERSION)
		return -EPROTO;
	if (READ_ONCE(header->size) != sizeof(*header) ||
	    READ_ONCE(header->self) != place->base ||
	    READ_ONCE(header->node) != node)
		return -EBADMSG;
	if (READ_ONCE(header->dead[self]) >= epoch &&
	    !inject_any_epoch)
		return -ESTALE;
	pool->header = header;
	pool->self = self;
	pool->epoch = epoch;
	return section_check(pool, memory, &first, 0);
}

int mios_pool_place(const struct mios_pool *pool,
		    struct mios_pool_place *place)
{
	u32 nr = smp_load_acquire(&pool->header->nr_sections); /* GROW */
	u32 index = pool->nr_sections;

	if (nr > MIOS_POOL_SECTIONS)
		return -EBADMSG;
	if (index >= nr)
		return 0;
	memcpy(place, &pool->header->section[index], sizeof(*place));
	return place_is_sane(place) ? 1 : -EBADMSG;
}

int mios_pool_adopt(struct mios_pool *pool, void *memory,
		    const struct mios_pool_place *place)
{
	if (!place_is_sane(place) || pool->nr_sections >= MIOS_POOL_SECTIONS)
		return -EINVAL;
	return section_check(pool, memory, place, pool->nr_sections);
}

int mios_pool_grow(struct mios_pool *pool, void *memory,
		   const struct mios_pool_place *place)
{
	u32 nr = pool->nr_sections;

	if (!place_is_sane(place))
		return -EINVAL;
	if (nr >= MIOS_POOL_SECTIONS)
		return -ENOSPC;
	if (nr != READ_ONCE(pool->header->nr_sections))
		return -EAGAIN;
	section_format(memory, place, nr);
	pool->header->section[nr] = *place;
	smp_store_release(&pool->header->nr_sections, nr + 1); /* GROW */
	return mios_pool_adopt(pool, memory, place);
}

u64 mios_pool_pages(const struct mios_pool *pool)
{
	u32 nr = pool_sections(pool);
	u64 pages = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		pages += (u64)pool->section[i].nr_extents * MIOS_EXTENT_PAGES -
			 meta_pages(pool->section[i].nr_extents);
	return pages;
}

static bool section_has(const struct mios_section *section, u64 phys)
{
	return phys >= section->base &&
	       (phys - section->base) / MIOS_EXTENT_SIZE < section->nr_extents;
}

/*
 * By halving, as each page fault does this for each level of an index.  Who does
 * it while a section is added may be led to a wrong one: then he looks at all.
 */
int mios_pool_section(const struct mios_pool *pool, u64 phys)
{
	u32 nr = pool_sections(pool), low = 0, high = nr;
	u32 i, half;

	if (phys % MIOS_POOL_PAGE)
		return -EINVAL;
	while (high - low > 1) {
		half = (low + high) / 2;
		i = READ_ONCE(pool->order[half]) % MIOS_POOL_SECTIONS;
		if (phys < pool->section[i].base)
			high = half;
		else
			low = half;
	}
	i = READ_ONCE(pool->order[low]) % MIOS_POOL_SECTIONS;
	if (i < nr && section_has(&pool->section[i], phys))
		return i;
	for (i = 0; i < nr; i++)
		if (section_has(&pool->section[i], phys))
			return i;
	return -EINVAL;
}

void *mios_pool_memory(const struct mios_pool *pool, u64 phys)
{
	int i = mios_pool_section(pool, phys);

	return i < 0 ? NULL : (u8 *)pool->section[i].header +
			      (phys - pool->section[i].base);
}

void mios_pool_open(struct mios_pool *pool, u32 section)
{
	WRITE_ONCE(pool->section[section].header->state, MIOS_SECTION_OPEN);
}

static bool is_used(u64 word)
{
	return word_is_mortal(word) || word_state(word) == MIOS_PAGE_KEPT;
}

u64 mios_pool_close(struct mios_pool *pool, u32 index)
{
	struct mios_section *section = &pool->section[index];
	u64 used = 0;
	u32 extent, i;

	WRITE_ONCE(section->header->state, MIOS_SECTION_CLOSED);
	smp_mb(); /* LOOK */
	for (extent = 0; extent < section->nr_extents; extent++) {
		struct mios_pool_record *page = extent_pages(section, extent);

		if (is_used(word_read(&section->extent[extent])))
			used += MIOS_EXTENT_PAGES;
		for (i = 0; i < MIOS_EXTENT_PAGES; i++)
			used += is_used(word_read(&page[i]));
	}
	return used;
}
