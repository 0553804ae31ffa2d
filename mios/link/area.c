// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a ring area: instance 0 allocates it in its own node, as one
 * piece; a child maps what its manifest names, after looking at the header.
 * Called by host.c and link.c, in process context.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>

#include "ring.h"

static uint net_slots = 128;
module_param(net_slots, uint, 0400);
MODULE_PARM_DESC(net_slots, "slots of 2 KiB in each network channel (64-1024)");

/* Places to try before giving up on one piece of this size. */
#define AREA_TRIES	64

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

static struct page *zone_alloc(struct zone *zone, unsigned long pages)
{
	unsigned long step = SZ_4M >> PAGE_SHIFT;
	unsigned long pfn = ALIGN_DOWN(zone_end_pfn(zone), step);
	int tries;

	for (tries = 0; tries < AREA_TRIES; tries++) {
		pfn -= step;
		if (pfn < zone->zone_start_pfn || pfn > zone_end_pfn(zone))
			break;
		if (!range_usable(pfn, pages, zone))
			continue;
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
	struct mios_area_header *header = NULL;
	u32 slots = roundup_pow_of_two(clamp(net_slots, MIOS_NET_SLOTS_MIN,
					     MIOS_NET_SLOTS_MAX));

	for (; !header && slots >= MIOS_NET_SLOTS_MIN; slots /= 2) {
		if (mios_geometry(g, nr, slots))
			return NULL;
		header = area_pages(g->area_size);
		if (header)
			break;
	}
	if (!header)
		return NULL;
	*base = virt_to_phys(header);
	header->version = MIOS_AREA_VERSION;
	header->size = sizeof(*header);
	header->self = *base;
	header->area_size = g->area_size;
	header->ring = ring;
	header->nr = nr;
	header->net_slots = slots;
	/* A magic number that is there says that the rest is, too. */
	smp_store_release(&header->magic, MIOS_AREA_MAGIC);
	return header;
}

void mios_area_free(void *area, const struct mios_geometry *g)
{
	memset(area, 0, sizeof(struct mios_area_header));
	free_contig_range(virt_to_phys(area) >> PAGE_SHIFT,
			  g->area_size >> PAGE_SHIFT);
}

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
	area = memremap(base, MIOS_AREA_PAGE, MEMREMAP_WB);
	if (!area)
		return ERR_PTR(-ENOMEM);
	memcpy(&header, area, sizeof(header));
	memunmap(area);
	err = mios_header_check(&header, base, size, ring, g);
	if (err) {
		pr_err("the ring area at %#llx is %s\n", base,
		       err == -EPROTO ? "of another version" : "damaged");
		return ERR_PTR(err);
	}
	area = memremap(base, g->area_size, MEMREMAP_WB);
	return area ?: ERR_PTR(-ENOMEM);
}

void mios_area_unmap(void *area)
{
	memunmap(area);
}
