// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_net: the network device mios0, to every member of the ring,
 * and on instance 0 to the members of all rings; those of different rings do
 * not reach each other.
 */
#include <linux/err.h>
#include <linux/module.h>

#include "net.h"

static struct mios_net *net;

/* Process context, from the link's work item. */
static int net_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct mios_change *change = data;

	if (event != MIOS_EVENT_JOINED && event != MIOS_EVENT_LEFT)
		return NOTIFY_DONE;
	mios_net_carrier(net);
	/* Frames that waited for it: sent now, or dropped. */
	mios_net_space(net, change->instance);
	if (event == MIOS_EVENT_JOINED)
		mios_net_receive(net, BIT_ULL(change->instance));
	return NOTIFY_DONE;
}

static struct notifier_block net_nb = { .notifier_call = net_event };

static int __init net_init(void)
{
	int err;

	net = mios_net_create();
	if (IS_ERR(net))
		return PTR_ERR(net);
	err = mios_link_register(&net_nb);
	if (err) {
		mios_net_destroy(net);
		return err;
	}
	mios_net_carrier(net);
	mios_net_receive(net, ~0ULL);
	return 0;
}

static void __exit net_exit(void)
{
	mios_link_unregister(&net_nb);
	mios_net_destroy(net);
}

module_init(net_init);
module_exit(net_exit);

MODULE_DESCRIPTION("Network between the instances of a machine");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
