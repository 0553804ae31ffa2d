// SPDX-License-Identifier: GPL-2.0
/*
 * Begins and ends it, and hears of the others.  An instance in another ring than
 * 0 has no part in it: who is there hears too little of the deaths in this one.
 */
#include <linux/notifier.h>

#include "../../core/link/link.h"

#include "vm.h"

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct mios_change *change = data;

	if (what == MIOS_EVENT_JOINED)
		mios_serve_joined();
	else if (what == MIOS_EVENT_LEFT)
		mios_copy_left(change->instance);
	else if (what == MIOS_EVENT_DEAD)
		mios_copiers_leave(change->instance);
	return NOTIFY_DONE;
}

/* Before what a dead instance had is recovered (fs/survivor.c). */
static struct notifier_block event_nb = { .notifier_call = event, .priority = 1 };

/* Instance 0 is in it from the first boot of another one on. */
static bool has_part(void)
{
	return !mios_link_self() || mios_link_copies(mios_link_self());
}

static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ mios_count_init, mios_count_exit },
	{ mios_windows_init, mios_windows_exit },
	{ mios_kept_init, mios_kept_exit },
	{ mios_watch_init, mios_watch_exit },
	{ mios_ask_init, mios_ask_exit },
	{ mios_serve_init, mios_serve_exit },
	{ mios_far_init, mios_far_exit },
};

static void end(u32 nr)
{
	while (nr--)
		parts[nr].exit();
	mios_link_unregister(&event_nb);
}

int mios_vm_init(void)
{
	u32 i;
	int err;

	if (!has_part())
		return 0;
	err = mios_link_register(&event_nb);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].init();
		if (err) {
			end(i);
			return err;
		}
	}
	return 0;
}

void mios_vm_exit(void)
{
	if (has_part())
		end(ARRAY_SIZE(parts));
}
