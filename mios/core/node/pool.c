// SPDX-License-Identifier: GPL-2.0
/*
 * The pools: memory of nodes that the operator has set aside for all instances,
 * and named once more for that (mios.pool=SIZE@ADDRESS,... on the kernel command
 * line, one of each node or part).  Not guessed from memmap=, by which memory
 * that is broken is left out, too.  No kernel ever has it: neither its node's
 * instance nor, while that is down, this one.  Looked at once, when the module
 * is loaded.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/kernel.h>

#include "../channel/layout.h"
#include "../part/part.h"
#include "node.h"

static char *pool[MIOS_MAX_INSTANCES];
static unsigned int nr_pools;
module_param_array(pool, charp, &nr_pools, 0400);
MODULE_PARM_DESC(pool, "SIZE@ADDRESS,...: memory of each node that all instances share, set aside by memmap=");

static struct mios_range pools[MIOS_AREA_INSTANCES];

static bool range_parse(const char *text, struct mios_range *range)
{
	char *rest;

	range->size = memparse(text, &rest);
	if (*rest != '@')
		return false;
	range->base = memparse(rest + 1, &rest);
	return !*rest && mios_pool_fits(range) && range->size;
}

/* Whose it is, all of it; -1: of several, or it is not set aside. */
static int range_node(const struct mios_range *range)
{
	int node = mios_part_of_memory(range->base);
	u64 at;

	for (at = range->base; at < range->base + range->size;
	     at += MIOS_POOL_PIECE)
		if (!mios_part_is_reserved(at) ||
		    mios_part_of_memory(at) != node)
			return -1;
	return node < MIOS_AREA_INSTANCES ? node : -1;
}

static void pool_add(const char *text)
{
	struct mios_range range;
	int node;

	if (!range_parse(text, &range)) {
		pr_err("pool=%s: not understood: SIZE@ADDRESS, multiples of 2M\n",
		       text);
		return;
	}
	node = range_node(&range);
	if (node < 0)
		pr_err("pool=%s: not RAM of one node or part that memmap= has set aside: it is not shared\n",
		       text);
	else if (pools[node].size)
		pr_err("pool=%s: node %d has a pool already: it is not shared\n",
		       text, node);
	else
		pools[node] = range;
}

/**
 * mios_pools_init - find the pools; before the nodes, whose memory the rest is
 */
void mios_pools_init(void)
{
	unsigned int i;

	for (i = 0; i < nr_pools; i++)
		pool_add(pool[i]);
	if (!nr_pools || pools[mios_part_own()].size)
		return;
	pr_err("pool=: none of them is node %u's: nothing is shared\n",
	       mios_part_own());
	memset(pools, 0, sizeof(pools));
}

/**
 * mios_node_pools - the memory that all instances are to share, of each node
 */
const struct mios_range *mios_node_pools(void)
{
	return pools;
}

/**
 * mios_node_is_pool - is it in a pool?
 * @base: of a piece of 2 MiB
 */
bool mios_node_is_pool(u64 base)
{
	unsigned int i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (base - pools[i].base < pools[i].size)
			return true;
	return false;
}
