// SPDX-License-Identifier: GPL-2.0
/*
 * How mios/core/dev/, in mios.ko, opens consoles, which mios_console.ko makes:
 * a function that is registered while that module is loaded, and which keeps it
 * from going while it runs.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "link.h"

static DEFINE_MUTEX(opener_lock);
static struct file *(*opener)(u32 instance);
static struct module *opener_owner;

int mios_console_register(struct file *(*open)(u32 instance),
			  struct module *owner)
{
	int err = -EBUSY;

	mutex_lock(&opener_lock);
	if (!opener) {
		opener = open;
		opener_owner = owner;
		err = 0;
	}
	mutex_unlock(&opener_lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_console_register, MIOS);

void mios_console_unregister(void)
{
	mutex_lock(&opener_lock);
	opener = NULL;
	mutex_unlock(&opener_lock);
}
EXPORT_SYMBOL_NS_GPL(mios_console_unregister, MIOS);

struct file *mios_console_open(u32 instance)
{
	struct file *(*open)(u32 instance) = NULL;
	struct module *owner;
	struct file *file;

	/* Not held while it runs: its instance may not answer for long. */
	mutex_lock(&opener_lock);
	owner = opener_owner;
	if (opener && try_module_get(owner))
		open = opener;
	mutex_unlock(&opener_lock);
	if (!open)
		return ERR_PTR(-EOPNOTSUPP);
	file = open(instance);
	module_put(owner);
	return file;
}
