// SPDX-License-Identifier: GPL-2.0
/*
 * Sleep of the machine: suspend and hibernation take the CPUs and the power of
 * all instances, but save only the one that asks.  So instance 0 sleeps when
 * no other one is there, and another one never.
 */
#include <linux/notifier.h>
#include <linux/suspend.h>

#include <asm/mios.h>

#include "../../inject/inject.h"
#include "watch.h"

MIOS_INJECT_SWITCH(sleep, "sleep whoever else is up");

static bool all_rest(void)
{
	struct mios_node *node;
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		node = mios_node_get(i);
		if (node && state_of(node) != MIOS_STATE_DOWN)
			return false;
	}
	return true;
}

/*
 * Nobody boots one behind our back: see mios_node_claim().  Not closed before a
 * first look, or a boot would fail for a sleep that is refused.
 */
static int others_rest(void)
{
	if (inject_sleep)
		return 0;
	if (all_rest()) {
		if (mios_nodes_close() && all_rest())
			return 0;
		mios_nodes_open();
	}
	pr_warn("the machine cannot sleep while another instance has a node: mios stop all, and mios status for the rest\n");
	return -EBUSY;
}

static int sleep_notify(struct notifier_block *nb, unsigned long action,
			void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		if (!mios_manifest())
			return notifier_from_errno(others_rest());
		if (inject_sleep)
			break;
		pr_warn("an instance cannot sleep: mios stop it on instance 0\n");
		return notifier_from_errno(-EPERM);
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		mios_nodes_open();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block sleep_nb = { .notifier_call = sleep_notify };

/**
 * mios_sleep_init - from now on the machine sleeps only where nobody is harmed
 */
int mios_sleep_init(void)
{
	return register_pm_notifier(&sleep_nb);
}

/**
 * mios_sleep_exit - it may sleep as it likes
 */
void mios_sleep_exit(void)
{
	unregister_pm_notifier(&sleep_nb);
}
