// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a pool in this kernel: struct pages for each section, so that
 * its pages are pages to all that look at them, and a mapping that is
 * write-back, as in all other instances.  Made and undone by mounting.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs_context.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"

#include "vfs.h"

MIOS_INJECT_SWITCH(uncached, "take the pool for memory that is not write-back");

/*
 * Is it of a node that can have a kernel of its own, and not the ring's?  Only
 * the host knows.
 */
static bool is_anothers(const struct mios_mount *m, u64 base, u64 size)
{
	return !m->ring && !mios_link_self() && mios_link_nr() > 1 &&
	       mios_link_owns(0, base, size);
}

static int place_claim(const struct mios_mount *m, struct fs_context *fc,
		       u64 base, u64 size)
{
	if (!size || base % MIOS_EXTENT_SIZE || size % MIOS_EXTENT_SIZE ||
	    base + size < base ||
	    size / MIOS_EXTENT_SIZE > MIOS_SECTION_EXTENTS)
		return invalfc(fc, "pool=SIZE@ADDRESS: multiples of 2M, 128G at most");
	if (is_anothers(m, base, size))
		return invalfc(fc, "that is not node 0's memory, but another instance's");
	if (request_mem_region(base, size, "miosfs"))
		return 0;
	errorfc(fc, "the pool is in use here, see /proc/iomem: set aside by memmap=?");
	return -EBUSY;
}

static int map_make(const struct mios_mount *m, struct mios_map *map,
		    struct fs_context *fc, u64 base, u64 size)
{
	int err = place_claim(m, fc, base, size);

	if (err)
		return err;
	map->pages.type = MEMORY_DEVICE_GENERIC;
	map->pages.nr_range = 1;
	map->pages.range.start = base;
	map->pages.range.end = base + size - 1;
	map->memory = memremap_pages(&map->pages, NUMA_NO_NODE);
	if (IS_ERR(map->memory)) {
		err = PTR_ERR(map->memory);
		errorfc(fc, "no struct pages for the pool: %d", err);
		release_mem_region(base, size);
		return err;
	}
	if (mios_memory_is_write_back(map->memory, size) &&
	    !inject_uncached)
		return 0;
	errorfc(fc, "the pool is not write-back here: see the MTRRs in /proc/mtrr");
	memunmap_pages(&map->pages);
	release_mem_region(base, size);
	return -EOPNOTSUPP;
}

/* Not pinned. */
static void map_undo(struct mios_map *map)
{
	const struct range range = map->pages.range;

	memunmap_pages(&map->pages);
	release_mem_region(range.start, range_len(&range));
}

/**
 * mios_maps_make() - map a pool
 * @m: the mount; its ->ring is known
 * @fc: who is told what is wrong
 * @place: the sections
 * @nr: how many there are
 */
int mios_maps_make(struct mios_mount *m, struct fs_context *fc,
		   const struct mios_pool_place *place, unsigned int nr)
{
	int err = 0;

	m->map = kcalloc(nr, sizeof(*m->map), GFP_KERNEL);
	if (!m->map)
		return -ENOMEM;
	while (m->nr_maps < nr && !err) {
		err = map_make(m, &m->map[m->nr_maps], fc,
			       place[m->nr_maps].base, place[m->nr_maps].size);
		if (!err)
			m->nr_maps++;
	}
	if (err)
		mios_maps_undo(m);
	return err;
}

/**
 * mios_page_let_go() - has it only the reference that a page without a user has?
 * @page: mapped by nobody here
 * @wait: a second for it
 */
bool mios_page_let_go(struct page *page, bool wait)
{
	unsigned int waited;

	for (waited = 0; page_ref_count(page) > 1; waited++) {
		if (!wait || waited >= MIOS_PIN_MS)
			return false;
		usleep_range(500, 1000);
	}
	return true;
}

static bool map_is_pinned(const struct mios_map *map)
{
	unsigned long pfn = PHYS_PFN(map->pages.range.start);

	for (; pfn <= PHYS_PFN(map->pages.range.end); pfn++) {
		if (!mios_page_let_go(pfn_to_page(pfn), true))
			return true;
		if (!(pfn % MIOS_EXTENT_PAGES))
			cond_resched();
	}
	return false;
}

/**
 * mios_maps_are_pinned() - has anybody a page that he has not mapped?
 * @m: nothing of it is mapped by anybody
 *
 * memunmap_pages() does not look: they would go away under their user.
 */
bool mios_maps_are_pinned(const struct mios_mount *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_maps; i++)
		if (map_is_pinned(&m->map[i]))
			return true;
	return false;
}

/**
 * mios_maps_undo() - unmap the pool
 * @m: nothing of it is pinned
 */
void mios_maps_undo(struct mios_mount *m)
{
	while (m->nr_maps)
		map_undo(&m->map[--m->nr_maps]);
	kfree(m->map);
}

/**
 * mios_maps_size() - bytes of the whole pool
 * @m: the mount
 */
u64 mios_maps_size(const struct mios_mount *m)
{
	unsigned int i;
	u64 size = 0;

	for (i = 0; i < m->nr_maps; i++)
		size += range_len(&m->map[i].pages.range);
	return size;
}
