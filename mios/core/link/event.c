// SPDX-License-Identifier: GPL-2.0
/*
 * Who wants to know what happens to instances is told here.  In process
 * context, without link_lock; a listener may sleep.
 */
#include <linux/export.h>
#include <linux/notifier.h>

#include "ring.h"

static BLOCKING_NOTIFIER_HEAD(chain);

int mios_link_register(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&chain, nb);
}
EXPORT_SYMBOL_NS_GPL(mios_link_register, MIOS);

void mios_link_unregister(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&chain, nb);
}
EXPORT_SYMBOL_NS_GPL(mios_link_unregister, MIOS);

void mios_event_tell(enum mios_event event, u32 ring, u32 instance,
		     u32 incarnation)
{
	struct mios_change change = {
		.ring = ring,
		.instance = instance,
		.incarnation = incarnation,
	};

	blocking_notifier_call_chain(&chain, event, &change);
}
