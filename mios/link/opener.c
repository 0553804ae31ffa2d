// SPDX-License-Identifier: GPL-2.0
/*
 * How mios/boot/, in mios.ko, opens consoles, which mios_console.ko makes: a
 * function that is registered while that module is loaded.  opener_lock is
 * held while it runs, so that the module cannot go meanwhile.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/mutex.h>

#include "link.h"

static DEFINE_MUTEX(opener_lock);
static int (*opener)(u32 instance);

int mios_console_register(int (*open)(u32 instance))
{
	int err = -EBUSY;

	mutex_lock(&opener_lock);
	if (!opener) {
		opener = open;
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

int mios_console_open(u32 instance)
{
	int fd = -EOPNOTSUPP;

	/* Another one's may be waiting for an instance that does not answer. */
	if (mutex_lock_killable(&opener_lock))
		return -EINTR;
	if (opener)
		fd = opener(instance);
	mutex_unlock(&opener_lock);
	return fd;
}
