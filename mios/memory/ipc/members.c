// SPDX-License-Identifier: GPL-2.0
/*
 * Who is told of what: mounts and the members of the ring.
 */
#include <linux/notifier.h>

#include "../fs/vfs.h"
#include "../../core/link/link.h"

#include "ipc.h"

static int mount_begin(struct mios_mount *m)
{
	int err = mios_futex_begin(m);

	if (!err)
		err = mios_shm_begin(m);
	return err;
}

static int mount_end(struct mios_mount *m)
{
	mios_shm_end(m);
	return mios_futex_end(m);
}

static const struct mios_mount_ops mount_ops = {
	.begin = mount_begin,
	.end = mount_end,
};

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct mios_change *change = data;

	if (change->instance >= MIOS_FS_INSTANCES)
		return NOTIFY_DONE;
	if (what == MIOS_EVENT_JOINED)
		mios_futex_joined(change->instance);
	else if (what == MIOS_EVENT_DEAD)
		mios_futex_dead(change->instance);
	return NOTIFY_DONE;
}

static struct notifier_block event_nb = { .notifier_call = event };

/**
 * mios_ipc_init() - before the first mount
 */
int mios_ipc_init(void)
{
	int err = mios_futex_init();

	if (err)
		return err;
	err = mios_link_register(&event_nb);
	if (err) {
		mios_futex_exit();
		return err;
	}
	mios_mount_ops_set(&mount_ops);
	mios_shm_init();
	return 0;
}

/**
 * mios_ipc_exit() - after the last
 */
void mios_ipc_exit(void)
{
	mios_shm_exit();
	mios_link_unregister(&event_nb);
	mios_futex_exit();
}
