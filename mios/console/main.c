// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_console: a terminal (/dev/hvc0) in every child, which any
 * other instance can attach to.
 */
#include <linux/module.h>

#include "console.h"

static int console_event(struct notifier_block *nb, unsigned long event,
			 void *data)
{
	const struct mios_change *change = data;

	if (event == MIOS_EVENT_LEFT) {
		mios_terminal_left(change->instance, change->incarnation);
		mios_attach_left(change->instance, change->incarnation);
	}
	return NOTIFY_DONE;
}

static struct notifier_block console_nb = { .notifier_call = console_event };

static int __init console_init(void)
{
	int err;

	err = mios_link_register(&console_nb);
	if (err)
		return err;
	err = mios_attach_init();
	if (err)
		goto link;
	if (mios_link_self())
		err = mios_terminal_init();
	if (err)
		goto attach;
	return 0;

attach:
	mios_attach_exit();
link:
	mios_link_unregister(&console_nb);
	return err;
}

static void __exit console_exit(void)
{
	if (mios_link_self())
		mios_terminal_exit();
	mios_attach_exit();
	mios_link_unregister(&console_nb);
}

module_init(console_init);
module_exit(console_exit);

MODULE_DESCRIPTION("Consoles of the instances of a machine");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
