// SPDX-License-Identifier: GPL-2.0
/*
 * Node 0's pool: memory that the operator has set aside for all instances, and
 * named once more for that (mios.pool=SIZE@ADDRESS on the kernel command line).
 * Not guessed from memmap=, by which memory that is broken is left out, too.
 * Looked at once, when the module is loaded.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/numa.h>

#include "../channel/layout.h"
#include "node.h"

static char *pool;
module_param(pool, charp, 0400);
MODULE_PARM_DESC(pool, "SIZE@ADDRESS of node 0's memory that all instances share, set aside by memmap=");

static bool range_parse(const char *text, struct mios_range *range)
{
	char *rest;

	range->size = memparse(text, &rest);
	if (*rest != '@')
		return false;
	range->base = memparse(rest + 1, &rest);
	return !*rest && mios_pool_fits(range) && range->size;
}

static bool range_is_set_aside(const struct mios_range *range)
{
	u64 at;

	for (at = range->base; at < range->base + range->size;
	     at += MIOS_POOL_PIECE)
		if (!mios_node_is_reserved(at) ||
		    phys_to_target_node(at) != first_online_node)
			return false;
	return true;
}

/**
 * mios_node_pool - the memory that all instances are to share
 * @range: out; size 0: none
 */
void mios_node_pool(struct mios_range *range)
{
	if (!pool)
		goto none;
	if (!range_parse(pool, range)) {
		pr_err("pool=%s: not understood: SIZE@ADDRESS, multiples of 2M\n",
		       pool);
		goto none;
	}
	if (range_is_set_aside(range))
		return;
	pr_err("pool=%s: not RAM of node 0 that memmap= has set aside: nothing is shared\n",
	       pool);
none:
	*range = (struct mios_range){};
}
