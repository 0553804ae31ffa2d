// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a ring area: instance 0 allocates it in its own node, as one
 * piece; a child maps what its manifest names, after looking at the header.
 * Called by host.c and link.c, in process context.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/nodemask.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/pgtable.h>

#include "../part/part.h"
#include "ring.h"

static uint net_slots = 128;
module_param(net_slots, uint, 0400);
MODULE_PARM_DESC(net_slots, "slots of 2 KiB in each network channel (64-1024)");

/* Places to empty before giving up on one piece of this size. */
#define AREA_TRIES	256

static bool range_usable(unsigned long pfn, unsigned long pages,
			 struct zone *zone)
{
	unsigned long i;

	for (i = 0; i < pages; i++) {
		struct page *page = pfn_to_online_page(pfn + i);

		if (!page || page_zone(page) != zone || PageReserved(page) ||
		    PageHuge(page))
			return false;
	}
	return true;
}

/*
 * From the top, where less is in use.  What cannot be usable at all is no try:
 * a debug kernel has hundreds of MiB of its own there.
 */
static struct page *zone_alloc(struct zone *zone, unsigned long pages)
{
	unsigned long step = SZ_4M >> PAGE_SHIFT;
	unsigned long pfn = ALIGN_DOWN(zone_end_pfn(zone), step);
	int tries = 0;

	while (pfn >= zone->zone_start_pfn + step && tries < AREA_TRIES) {
		pfn -= step;
		if (!range_usable(pfn, pages, zone))
			continue;
		tries++;
		if (!alloc_contig_range(pfn, pfn + pages, MIGRATE_MOVABLE,
					GFP_KERNEL | __GFP_NOWARN))
			return pfn_to_page(pfn);
	}
	return NULL;
}

/* In the node that booted first, and not where memory is lent and taken. */
static void *area_pages(u64 size)
{
	pg_data_t *node = NODE_DATA(first_online_node);
	unsigned long pages = size >> PAGE_SHIFT;
	struct page *page = NULL;
	int i;

	for (i = ZONE_NORMAL; i > ZONE_DMA && !page; i--)
		if (managed_zone(&node->node_zones[i]))
			page = zone_alloc(&node->node_zones[i], pages);
	if (!page)
		return NULL;
	memset(page_address(page), 0, size);
	return page_address(page);
}

static void header_make(struct mios_area_header *header, u32 ring, u64 base,
			const struct mios_geometry *g)
{
	*header = (struct mios_area_header){
		.magic = MIOS_AREA_MAGIC,
		.version = MIOS_AREA_VERSION,
		.size = sizeof(*header),
		.self = base,
		.area_size = g->area_size,
		.ring = ring,
		.nr = g->nr,
		.net_slots = g->shape[MIOS_CLASS_NET].nr_slots,
	};
}

/* Also right while somebody reads: the same bytes again change nothing. */
static void distances_fill(void *area, u32 nr)
{
	struct mios_area_distances *d = area + MIOS_AREA_PAGE;
	u32 from, to;
	u8 distance;

	for (from = 0; from < MIOS_AREA_INSTANCES; from++)
		for (to = 0; to < MIOS_AREA_INSTANCES; to++) {
			distance = from < nr && to < nr ?
				   mios_part_distance(from, to) : 0;
			WRITE_ONCE(d->from[from][to], distance);
		}
}

/* Who is in another ring hears too little of the deaths in ring 0. */
static void pools_fill(void *area, u32 ring)
{
	static const struct mios_range none[MIOS_AREA_INSTANCES];

	mios_pools_write(area, ring ? none : mios_link.pools);
}

static void nodes_fill(void *area, u32 ring)
{
	static struct mios_area_nodes none;

	mios_nodes_write(area, ring ? &none : &mios_link.nodes);
}

/*
 * Instance 0 acknowledges nothing, has no successor, and nobody beyond the last
 * asks it.
 */
static void lines_restore(struct mios_ring *ring)
{
	struct mios_lines *lines = ring->lines;
	u32 i;

	WRITE_ONCE(lines->host, 0);
	WRITE_ONCE(lines->hang, READ_ONCE(mios_link.hang));
	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		WRITE_ONCE(lines->ack[i], 0);
		if (i < ring->g.nr)
			continue;
		WRITE_ONCE(lines->echo_request[i], 0);
		WRITE_ONCE(lines->echo_reply[i], 0);
	}
}

/**
 * mios_area_restore - put right what is constant in an area
 * @ring: one of instance 0
 *
 * Under link_lock; called again and again, for anybody may overwrite it.
 */
void mios_area_restore(struct mios_ring *ring)
{
	struct mios_area_header header;

	header_make(&header, ring->id, ring->base, &ring->g);
	if (memcmp(ring->area, &header, sizeof(header))) {
		pr_warn_ratelimited("the header of ring %u has been overwritten; written anew\n",
				    ring->id);
		memcpy(ring->area, &header, sizeof(header));
	}
	distances_fill(ring->area, mios_link.nr);
	pools_fill(ring->area, ring->id);
	nodes_fill(ring->area, ring->id);
	lines_restore(ring);
}

/**
 * mios_area_alloc - memory for a ring, with its header
 * @ring: which
 * @nr: blocks
 * @base: out, physical address
 * @g: out, where things are in it
 *
 * Takes fewer slots for the network when memory is short or in pieces.
 */
void *mios_area_alloc(u32 ring, u32 nr, u64 *base, struct mios_geometry *g)
{
	struct mios_area_header header, *area = NULL;
	u32 slots = roundup_pow_of_two(clamp(net_slots, MIOS_NET_SLOTS_MIN,
					     MIOS_NET_SLOTS_MAX));

	for (; !area && slots >= MIOS_NET_SLOTS_MIN; slots /= 2) {
		if (mios_geometry(g, nr, slots))
			return NULL;
		area = area_pages(g->area_size);
	}
	if (!area)
		return NULL;
	*base = virt_to_phys(area);
	distances_fill(area, nr);
	pools_fill(area, ring);
	nodes_fill(area, ring);
	header_make(&header, ring, *base, g);
	header.magic = 0;
	memcpy(area, &header, sizeof(header));
	/* A magic number that is there says that the rest is, too. */
	smp_store_release(&area->magic, MIOS_AREA_MAGIC);
	return area;
}

void mios_area_free(void *area, const struct mios_geometry *g)
{
	memset(area, 0, sizeof(struct mios_area_header));
	free_contig_range(virt_to_phys(area) >> PAGE_SHIFT,
			  g->area_size >> PAGE_SHIFT);
}

/**
 * mios_memory_is_write_back - does this kernel cache what is mapped there?
 * @map: where
 * @size: bytes
 *
 * Asks the page tables, which ask the range registers first.
 */
bool mios_memory_is_write_back(const void *map, u64 size)
{
	unsigned long at = (unsigned long)map, end = at + size;
	unsigned int level;
	pte_t *pte;

	while (at < end) {
		pte = lookup_address(at, &level);
		if (!pte || pte_flags(*pte) & (level == PG_LEVEL_4K ?
					       _PAGE_CACHE_MASK :
					       _PAGE_LARGE_CACHE_MASK))
			return false;
		at = (at & page_level_mask(level)) + page_level_size(level);
	}
	return true;
}
EXPORT_SYMBOL_NS_GPL(mios_memory_is_write_back, MIOS);

/**
 * mios_memory_map - map memory that several instances read and write
 * @base: physical address
 * @size: bytes
 *
 * Only as write-back: caches agree about memory that everybody caches alike.
 *
 * Return: the mapping, for memunmap(); -ENOMEM; -EOPNOTSUPP if this kernel
 * takes that memory for something else.
 */
void *mios_memory_map(u64 base, u64 size)
{
	void *map = memremap(base, size, MEMREMAP_WB);

	if (!map)
		return ERR_PTR(-ENOMEM);
	if (mios_memory_is_write_back(map, size))
		return map;
	pr_err("memory at %#llx is not write-back here, and not shared: see the MTRRs in /proc/mtrr\n",
	       base);
	memunmap(map);
	return ERR_PTR(-EOPNOTSUPP);
}
EXPORT_SYMBOL_NS_GPL(mios_memory_map, MIOS);

/**
 * mios_area_map - map the area that instance 0 has made
 * @ring: which
 * @base: physical address, from the manifest
 * @size: bytes, from the manifest
 * @g: out, where things are in it
 *
 * The header is copied and checked before more than it is mapped.
 */
void *mios_area_map(u32 ring, u64 base, u64 size, struct mios_geometry *g)
{
	struct mios_area_header header;
	void *area;
	int err;

	if (size < 2 * MIOS_AREA_PAGE || !PAGE_ALIGNED(base))
		return ERR_PTR(-EBADMSG);
	area = mios_memory_map(base, MIOS_AREA_PAGE);
	if (IS_ERR(area))
		return area;
	memcpy(&header, area, sizeof(header));
	memunmap(area);
	err = mios_header_check(&header, base, size, ring, g);
	if (err) {
		pr_err("the ring area at %#llx is %s\n", base,
		       err == -EPROTO ? "of another version" : "damaged");
		return ERR_PTR(err);
	}
	return mios_memory_map(base, g->area_size);
}

void mios_area_unmap(void *area)
{
	memunmap(area);
}
