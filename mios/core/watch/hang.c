// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPU of an instance stands still, and since when: the watch compares
 * each CPU's signs of life (mios/core/fence/alive.c) with those of its last
 * look. What is done about it is the operator's to say.  Runs in the watch,
 * under the node's lock.
 *
 * Time is counted in looks, not by a clock: a host that was stopped for an
 * hour has looked no more than its instances have lived, so nobody is
 * declared dead for it.
 */
#include <linux/moduleparam.h>

#include "../../inject/inject.h"
#include "../end/end.h"
#include "../link/link.h"
#include "watch.h"

static unsigned int hang_timeout = 20;
module_param(hang_timeout, uint, 0644);
MODULE_PARM_DESC(hang_timeout, "seconds that a CPU of an instance may stand still (default 20, at least 3; 0: never look)");

/* One that hangs whenever it is up would go on for ever. */
#define REBOOTS_WITHIN	(600 * HZ)
static unsigned int hang_reboots = 3;
module_param(hang_reboots, uint, 0644);
MODULE_PARM_DESC(hang_reboots, "how often within ten minutes an instance that hangs is booted again (default 3)");

MIOS_INJECT_SWITCH(blind_watch, "see no CPU stand still");

static const char * const policy_names[] = { "report", "kill", "reboot" };
static struct mios_choice hang_policy = {
	policy_names, ARRAY_SIZE(policy_names), MIOS_HANG_REPORT
};

module_param_cb(hang_policy, &mios_choice_ops, &hang_policy, 0644);
MODULE_PARM_DESC(hang_policy, "what is done with an instance that hangs or is suspect: report, kill, or reboot (kill, and boot again)");

/* One sign of life, looked at again: true when it has stood still too long. */
static bool stands_still(struct mios_pulse *pulse, u64 now, unsigned int limit)
{
	if (pulse->seen != now || !pulse->looks) {
		pulse->seen = now;
		pulse->looks = 1;
		pulse->told = false;
		return false;
	}
	pulse->looks++;
	return pulse->looks / MIOS_WATCH_HZ >= limit;
}

static unsigned int seconds(const struct mios_pulse *pulse)
{
	return pulse->looks / MIOS_WATCH_HZ;
}

/* Interrupts come first: without them no task runs either. */
static bool cpu_hangs(struct mios_node *node, struct mios_cpu_note *note,
		      unsigned int i, unsigned int limit)
{
	struct mios_pulse *tick = &node->tick[i], *task = &node->task[i];
	bool no_tick, no_task;

	if (!READ_ONCE(note->ready)) {
		tick->looks = 0;
		task->looks = 0;
		return false;
	}
	no_tick = stands_still(tick, READ_ONCE(note->tick), limit);
	no_task = stands_still(task, READ_ONCE(note->task), limit);
	if (no_tick && !tick->told)
		pr_warn("instance %u: its CPU %u (APIC id %u) has taken no timer interrupt for %u s\n",
			node->id, i, node->apicid[i], seconds(tick));
	else if (no_task && !no_tick && !task->told)
		pr_warn("instance %u: its CPU %u (APIC id %u) has run no other task for %u s\n",
			node->id, i, node->apicid[i], seconds(task));
	tick->told |= no_tick;
	task->told |= no_task;
	return no_tick || no_task;
}

static bool memory_hangs(struct mios_node *node, struct mios_notes *notes,
			 unsigned int limit)
{
	bool none = stands_still(&node->memory, READ_ONCE(notes->memory),
				 limit);

	if (none && !node->memory.told)
		pr_warn("instance %u: nobody there has got memory for %u s\n",
			node->id, seconds(&node->memory));
	node->memory.told |= none;
	return none;
}

/* Who has asked it to stop wants it down; and it must not hang for ever. */
static bool comes_back(struct mios_node *node)
{
	if (state_of(node) == MIOS_STATE_STOPPING)
		return false;
	if (!node->reboots ||
	    time_after(jiffies, node->reboots_since + REBOOTS_WITHIN)) {
		node->reboots = 0;
		node->reboots_since = jiffies;
	}
	if (node->reboots >= READ_ONCE(hang_reboots)) {
		pr_err("instance %u has hung too often and is not booted again; see hang_reboots\n",
		       node->id);
		return false;
	}
	node->reboots++;
	return true;
}

/**
 * mios_node_give_up - is an instance that does not answer to be ended?
 * @node: locked; told whether to come back
 */
bool mios_node_give_up(struct mios_node *node)
{
	unsigned int policy = READ_ONCE(hang_policy.value);

	if (policy == MIOS_HANG_REPORT)
		return false;
	node->again = policy == MIOS_HANG_REBOOT && comes_back(node);
	node->crashed = true;
	return true;
}

static bool any_hangs(struct mios_node *node, unsigned int limit)
{
	struct mios_notes *notes = mios_node_notes(node);
	unsigned int i;
	bool hangs;

	if (!notes || inject_blind_watch)
		return false;
	hangs = memory_hangs(node, notes, limit);
	for (i = 0; i < node->nr_cpus; i++)
		hangs |= cpu_hangs(node, &notes->cpu[i], i, limit);
	return hangs;
}

/* For how long has it kept a dead one's node from being used again? */
static bool keeps_dead(struct mios_node *node, unsigned int limit)
{
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i) && (READ_ONCE(mios_node_get(i)->owing) &
					 BIT_ULL(node->id)))
			break;
	node->late = i < MIOS_MAX_INSTANCES ? node->late + 1 : 0;
	return node->late / MIOS_WATCH_HZ >= limit;
}

/**
 * mios_node_hangs - look whether an instance still does what it should
 * @node: locked, with an instance that has joined
 *
 * Says what stands still, once, in the log.  All has the same limit, silence
 * too: what makes a suspect within suspect_timeout may be no more than a CPU
 * whose soft interrupts are late.
 *
 * Return: NULL, or what is wrong with it: "instance 1 ...".
 */
const char *mios_node_hangs(struct mios_node *node)
{
	/* Once: set to 0 between two looks at it, it would end everybody. */
	unsigned int limit = READ_ONCE(hang_timeout);

	if (!limit)
		return NULL;
	limit = max(limit, MIOS_HANG_LEAST);
	if (any_hangs(node, limit))
		return "hangs";
	if (mios_link_silent_ms(node->id, incarnation_of(node)) / 1000 >=
	    limit)
		return "is not heard";
	if (keeps_dead(node, limit))
		return "does not let go of a dead one";
	return NULL;
}

/**
 * mios_hang_publish - on instance 0: let its successor know what to do
 */
void mios_hang_publish(void)
{
	mios_link_hang_set(READ_ONCE(hang_policy.value),
			   READ_ONCE(hang_timeout));
}

/**
 * mios_hang_inherit - do what instance 0 did
 *
 * Whoever wants something else of the host can still set it here.
 */
void mios_hang_inherit(void)
{
	u32 policy, timeout;

	if (mios_link_hang_get(&policy, &timeout))
		return;
	WRITE_ONCE(hang_policy.value, policy);
	WRITE_ONCE(hang_timeout, timeout);
}
