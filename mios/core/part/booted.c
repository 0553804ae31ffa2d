// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that this kernel has booted with, for a part that names it.  What holds
 * data that cannot move does not go; so an operator first takes the blocks offline
 * one by one, which Linux refuses or undoes, and the part is made of those that went.
 * Here they are removed: from then on they are as what memmap= sets aside, until the
 * machine boots again.  Called when the module is loaded, by part.c alone.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <uapi/linux/mios.h>
#include <mios/layout.h>

#include "part.h"

#define OWN	(IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY)

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
 * mios_part_remove - make blocks that are offline nobody's
 * @r: a range of a part; what of it is nobody's already stays so
 *
 * Return: what is wrong, or NULL.  What has been removed by then can be named again.
 */
const char *mios_part_remove(const struct mios_range *r)
{
	const u64 block = memory_block_size_bytes();
	u64 at;

	if (!has_booted(r->base, r->size))
		return NULL;
	if (!IS_ALIGNED(r->base, block) || !IS_ALIGNED(r->size, block))
		return "its memory is instance 0's, and not of whole memory blocks";
	for (at = r->base; at < r->base + r->size; at += block) {
		if (!has_booted(at, block))
			continue;
		if (kernel_above(at))
			return "its memory is instance 0's, below its kernel in that range";
		if (offline_and_remove_memory(at, block))
			return "its memory is instance 0's, and was not removed";
		/* Something else was listed there: nobody can have that block. */
		if (has_booted(at, block))
			return "its memory is instance 0's, and was not let go of";
	}
	return NULL;
}
