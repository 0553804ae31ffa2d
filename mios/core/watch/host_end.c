// SPDX-License-Identifier: GPL-2.0
/*
 * The end of instance 0 itself.  When it reboots, powers off or starts another
 * kernel (kexec), the instances end before it, whoever asked for it: they live
 * on its root.  When it panics it halts and leaves the machine as it is, since
 * the others go on.
 */
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/panic.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>

#include "../../inject/inject.h"
#include "../end/end.h"
#include "watch.h"

static unsigned int stop_timeout = 30;
module_param(stop_timeout, uint, 0644);
MODULE_PARM_DESC(stop_timeout, "seconds that instances may take to power off when instance 0 ends (default 30, 0: they are killed)");

static bool panic_resets;
module_param(panic_resets, bool, 0644);
MODULE_PARM_DESC(panic_resets, "let a panic of instance 0 reset the machine as panic= says, with all instances (default no)");

MIOS_INJECT_SWITCH(no_rest, "a CPU that has panicked does not halt");
MIOS_INJECT_SWITCH(spare_others, "end without the others");

/* A second for the registers, and twenty for the INIT of a CPU that is late. */
#define KILL_TIMEOUT_MS	30000

/* No CPU of it runs: it never started, or has been fenced. */
static bool at_rest(u32 instance)
{
	struct mios_node *node = mios_node_get(instance);

	if (!node)
		return true;
	switch (state_of(node)) {
	case MIOS_STATE_DOWN:
	case MIOS_STATE_CLAIMED:
	case MIOS_STATE_DEAD:
	case MIOS_STATE_HELD:
		return true;
	default:
		return false;
	}
}

static bool all_down(void)
{
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (!at_rest(i))
			return false;
	return true;
}

static void tell_held(void)
{
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i) &&
		    state_of(mios_node_get(i)) == MIOS_STATE_HELD)
			pr_warn("instance 0 ends: the memory of instance %u has not been dumped\n",
				i);
}

/* One that is not up yet cannot be asked. */
static int stop_or_kill(u32 instance, unsigned int timeout_ms,
			struct mios_reason *why)
{
	int err = mios_node_stop(instance, timeout_ms, why);

	return err == -ESRCH ? mios_node_kill(instance, timeout_ms, why) : err;
}

/* All at once: each request returns before its instance has ended. */
static void each_node(int (*end)(u32 instance, unsigned int timeout_ms,
				 struct mios_reason *why))
{
	struct mios_reason unused;
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (!at_rest(i))
			end(i, 0, &unused);
}

static int host_reboot(struct notifier_block *nb, unsigned long action,
		       void *data)
{
	unsigned int ms = min(stop_timeout, 3600U) * MSEC_PER_SEC;

	if (inject_spare_others)
		return NOTIFY_DONE;
	/* Nobody boots one behind our back: see mios_node_claim(). */
	mios_nodes_close();
	tell_held();
	if (all_down())
		return NOTIFY_DONE;
	pr_info("instance 0 ends: stopping the others, for at most %u s\n",
		ms / 1000);
	each_node(stop_or_kill);
	if (!wait_event_timeout(mios_state_wait, all_down(),
				msecs_to_jiffies(ms))) {
		pr_warn("instance 0 ends: killing those that are left\n");
		each_node(mios_node_kill);
		wait_event_timeout(mios_state_wait, all_down(),
				   msecs_to_jiffies(KILL_TIMEOUT_MS));
	}
	if (!all_down())
		pr_err("instance 0 ends, though a CPU of another one does not stop\n");
	return NOTIFY_DONE;
}

/*
 * panic() calls this at its end, in a loop of busy waiting.  Here the CPU
 * halts, as all others have: the machine goes on without it.  It still takes
 * interrupts, sysrq from a serial console for one.
 */
static long host_rest(int state)
{
	for (;;) {
		touch_softlockup_watchdog();
		safe_halt();
	}
	return 0;
}

/* panic() looks at both after it has called this. */
static int host_panic(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	if (panic_resets || all_down())
		return NOTIFY_DONE;
	if (panic_timeout)
		pr_emerg("other instances are up: not resetting the machine (mios.panic_resets)\n");
	panic_timeout = 0;
	if (!inject_no_rest)
		panic_blink = host_rest;
	return NOTIFY_DONE;
}

/* Before the link's, which tells the others that we end. */
static struct notifier_block reboot_nb = {
	.notifier_call = host_reboot,
	.priority = 1,
};

static struct notifier_block panic_nb = { .notifier_call = host_panic };

/**
 * mios_host_watch - from now on the others end before instance 0
 */
void mios_host_watch(void)
{
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
}

/**
 * mios_host_unwatch - instance 0 may end alone
 */
void mios_host_unwatch(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
}
