// SPDX-License-Identifier: GPL-2.0
/*
 * Which instance this kernel is: what all files of this folder know of it, and
 * what others ask first.  Filled in by link.c before anything else begins.
 */
#include <linux/export.h>

#include <asm/mios.h>

#include "../part/part.h"
#include "ring.h"

struct mios_link mios_link = {
	.lock = __MUTEX_INITIALIZER(mios_link.lock),
};

u32 mios_link_self(void)
{
	return mios_link.self;
}
EXPORT_SYMBOL_NS_GPL(mios_link_self, MIOS);

u32 mios_link_nr(void)
{
	return mios_link.nr;
}
EXPORT_SYMBOL_NS_GPL(mios_link_nr, MIOS);

const struct mios_range *mios_link_pools(void)
{
	return mios_link.pools;
}
EXPORT_SYMBOL_NS_GPL(mios_link_pools, MIOS);

void mios_link_identify(const struct mios_link_ops *ops,
			const struct mios_link_host *host)
{
	const struct mios_manifest *m = mios_manifest();

	mios_link.host = !m;
	mios_link.declares = !m;
	mios_link.self = m ? m->instance : 0;
	mios_link.incarnation = m ? m->incarnation : host->incarnation;
	mios_link.node = m ? m->node : mios_part_own();
	/* A child learns from the area how many there are. */
	mios_link.nr = m ? m->instance + 1 : host->nr;
	if (host)
		memcpy(mios_link.pools, host->pools, sizeof(mios_link.pools));
	mios_link.ops = ops;
}
