// SPDX-License-Identifier: GPL-2.0
/* Where devices that an instance was given may write to. */
#include <linux/export.h>

#include "end.h"

static int pools_each(int (*each)(void *ctx, const struct mios_range *range),
		      void *ctx)
{
	const struct mios_range *pools = mios_node_pools();
	int i, err = 0;

	for (i = 0; i < MIOS_AREA_INSTANCES && !err; i++)
		if (pools[i].size)
			err = each(ctx, &pools[i]);
	return err;
}

int mios_given_memory(u32 instance,
		      int (*each)(void *ctx, const struct mios_range *range),
		      void *ctx)
{
	/* Neither its memory nor its ring changes while it is up. */
	const struct mios_node *node = mios_node_get(instance);
	unsigned int i;
	int err = 0;

	if (!node)
		return -ENODEV;
	for (i = 0; i < node->nr_ranges && !err; i++)
		err = each(ctx, &node->ranges[i]);
	return err ?: node->ring ? 0 : pools_each(each, ctx);
}
EXPORT_SYMBOL_NS_GPL(mios_given_memory, MIOS);
