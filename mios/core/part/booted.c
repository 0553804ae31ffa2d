// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that this kernel has booted with, for a part that names it.  What holds
 * data that cannot move does not go; so an operator first takes the blocks offline
 * one by one, which Linux refuses or undoes, and the part is made of those that went.
 * Here they are removed: from then on they are as what memmap= sets aside, until the
 * machine boots again; so only for a part that is all else that it must be, and all of
 * its blocks or none.  A page among them that was found bad (HWPoison) counts as free
 * when its block goes offline, and Linux forgets with the block that it is bad: it is
 * the part's then.  Called when the module is loaded, by part.c alone.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <uapi/linux/mios.h>
#include <mios/layout.h>

#include "../../inject/inject.h"
#include "part.h"

#define OWN	(IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY)

MIOS_INJECT_VALUE(refuse_block, "remove the blocks of a part but this one, from 1");

/* What an earlier mios has lent is driver-managed. */
static int see_own(struct resource *res, void *own)
{
	*(bool *)own = !(res->flags & IORESOURCE_SYSRAM_DRIVER_MANAGED);
	return *(bool *)own;
}

static bool has_booted(u64 base, u64 size)
{
	bool own = false;

	walk_iomem_res_desc(IORES_DESC_NONE, OWN, base, base + size - 1, &own,
			    see_own);
	return own;
}

/**
 * mios_part_is_booted - has this kernel booted with it, and has it still?
 * @base: of a piece
 */
bool mios_part_is_booted(u64 base)
{
	return has_booted(base, MIOS_PART_PIECE);
}

/**
 * mios_part_is_offline - and does it use no page of it any more?
 * @base: of a piece
 */
bool mios_part_is_offline(u64 base)
{
	return !pfn_to_online_page(PHYS_PFN(base));
}

static int see_end(struct resource *res, void *end)
{
	*(u64 *)end = res->end;
	return 1;
}

static int see_any(struct resource *res, void *found)
{
	*(bool *)found = true;
	return 1;
}

/*
 * What Linux lists of a range of RAM, the kernel's image or that of a crash kernel,
 * must stay in its lower end when the range is split: else it warns, and keeps all of
 * the range's name, so that the block could never be added again.
 */
static bool kernel_above(u64 base)
{
	u64 image = __pa((unsigned long)walk_iomem_res_desc);
	bool found = false;
	u64 end = 0;

	walk_iomem_res_desc(IORES_DESC_NONE, OWN, base, U64_MAX, &end, see_end);
	if (image >= base && image <= end)
		return true;
	if (end > base)
		walk_iomem_res_desc(IORES_DESC_CRASH_KERNEL,
				    IORESOURCE_MEM | IORESOURCE_BUSY, base, end,
				    &found, see_any);
	return found;
}

/**
 * mios_part_removable - can blocks that are offline be made nobody's?
 * @r: a range of a part; what of it is nobody's already stays so
 *
 * Return: what is wrong, or NULL.
 */
const char *mios_part_removable(const struct mios_range *r)
{
	const u64 block = memory_block_size_bytes();
	u64 at;

	if (!has_booted(r->base, r->size))
		return NULL;
	if (!IS_ALIGNED(r->base, block) || !IS_ALIGNED(r->size, block))
		return "its memory is instance 0's, and not of whole memory blocks";
	for (at = r->base; at < r->base + r->size; at += block)
		if (has_booted(at, block) && kernel_above(at))
			return "its memory is instance 0's, below its kernel in that range";
	return NULL;
}

/* Offline as it was, unless what is added comes online by itself; listed by itself. */
static void block_restore(u64 at, u64 block, int nid)
{
	int err = add_memory(nid, at, block, MHP_NONE);

	if (err)
		pr_err("parts=: %llu MiB at %#llx are nobody's until this kernel boots again: error %d\n",
		       block >> 20, at, err);
}

static const char *block_remove(u64 at, u64 block, int nid)
{
	if (offline_and_remove_memory(at, block))
		return "its memory is instance 0's, and was not removed";
	if (!has_booted(at, block))
		return NULL;
	/* Something else was listed there: nobody can have that block. */
	block_restore(at, block, nid);
	return "its memory is instance 0's, and was not let go of";
}

/* Notes in @removed what it has removed; the others of @r are nobody's already. */
static const char *range_remove(const struct mios_range *r, int nid,
				u64 *removed, unsigned int *nr)
{
	const u64 block = memory_block_size_bytes();
	const char *why = NULL;
	u64 at;

	/* What was set aside need not be of whole blocks. */
	if (!has_booted(r->base, r->size))
		return NULL;
	for (at = r->base; at < r->base + r->size && !why; at += block) {
		if (!has_booted(at, block))
			continue;
		if (inject_refuse_block && *nr + 1 == inject_refuse_block)
			return "its memory is instance 0's, and a block is refused";
		why = block_remove(at, block, nid);
		if (!why)
			removed[(*nr)++] = at;
	}
	return why;
}

/**
 * mios_part_remove - make the blocks of a part nobody's, all or none
 * @ranges: of the part, which mios_part_removable() has seen
 * @nr_ranges: how many there are
 * @nid: the node that they are added to again when one cannot be removed
 *
 * Return: what is wrong, or NULL.
 */
const char *mios_part_remove(const struct mios_range *ranges,
			     unsigned int nr_ranges, int nid)
{
	const u64 block = memory_block_size_bytes();
	unsigned int i, nr = 0;
	const char *why = NULL;
	u64 *removed;
	u64 size = 0;

	for (i = 0; i < nr_ranges; i++)
		size += ranges[i].size;
	removed = kvmalloc_array(size / block + 1, sizeof(*removed), GFP_KERNEL);
	if (!removed)
		return "no memory to note what is removed";
	for (i = 0; i < nr_ranges && !why; i++)
		why = range_remove(&ranges[i], nid, removed, &nr);
	while (why && nr)
		block_restore(removed[--nr], block, nid);
	kvfree(removed);
	return why;
}
