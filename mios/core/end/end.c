// SPDX-License-Identifier: GPL-2.0
/*
 * How a person ends instances: in order, or by force.  All ways lead to the
 * reaper (bury.c).
 */
#include <linux/jiffies.h>
#include <linux/wait.h>

#include "../link/link.h"
#include "end.h"

/* Let the reaper have it, whatever it does. */
static int kill_locked(struct mios_node *node, struct mios_reason *why)
{
	int err = mios_node_hosted(node, why);

	if (err)
		return err;
	/* Who kills an instance that is about to come back wants it away. */
	node->again = false;
	if (state_of(node) == MIOS_STATE_HELD)
		return mios_node_discard(node, why);
	if (node_running(node)) {
		node->unwanted = true;
		mios_node_reap(node);
		return 0;
	}
	if (state_of(node) == MIOS_STATE_FENCING ||
	    state_of(node) == MIOS_STATE_DEAD) {
		node->unwanted = true;
		return 0;
	}
	/* That boot goes on: who is only told "not running" takes it for over. */
	if (state_of(node) == MIOS_STATE_CLAIMED) {
		mios_reason_set(why,
				"instance %u is not running yet; end the 'mios boot' that has its node",
				node->id);
		return -EBUSY;
	}
	mios_reason_set(why, "instance %u is not running", node->id);
	return -ESRCH;
}

/* Its node is not back in time: for whom does it wait? */
static void kill_unfinished(struct mios_node *node, struct mios_reason *why)
{
	u64 owing = READ_ONCE(node->owing);

	if (state_of(node) == MIOS_STATE_FENCING)
		mios_reason_set(why, "instance %u is dead, but a CPU does not stop; see dmesg",
				node->id);
	else if (state_of(node) == MIOS_STATE_DEAD && owing)
		mios_reason_set(why,
				"instance %u is dead, but its node is kept: instance %*pbl has not let go of it; wait, or kill that, too",
				node->id, 64, &owing);
	else	/* It waits for whoever moves another node's memory. */
		mios_reason_set(why,
				"instance %u is dead and stopped, but its CPUs and memory are not back yet; see mios status",
				node->id);
}

/**
 * mios_node_kill - end an instance by force
 * @instance: which
 * @timeout_ms: how long it may take until CPUs and memory are back
 * @why: explains a failure
 *
 * Return: 0 when they are; -ETIMEDOUT if a CPU does not stop, or another
 * instance does not let go of it: then nothing is recovered, and it is tried
 * again until they do.
 */
int mios_node_kill(u32 instance, unsigned int timeout_ms,
		   struct mios_reason *why)
{
	struct mios_node *node;
	long left;
	int err;

	node = mios_node_find_locked(instance, why, &err);
	if (!node)
		return err;
	err = kill_locked(node, why);
	mutex_unlock(&node->lock);
	if (err)
		return err;
	left = mios_node_settle(node, timeout_ms);
	if (left > 0)
		return 0;
	kill_unfinished(node, why);
	return left ? (int)left : -ETIMEDOUT;
}

/* Its node is back, but did it end as it was asked to? */
static int stop_result(const struct mios_node *node, u32 incarnation,
		       struct mios_reason *why)
{
	if (state_of(node) == MIOS_STATE_HELD) {
		mios_reason_set(why,
				"instance %u crashed while it shut down; it is held for a dump",
				node->id);
		return -EIO;
	}
	/* Booted by somebody else meanwhile: so it was down. */
	if (incarnation_of(node) != incarnation)
		return 0;
	if (READ_ONCE(node->crashed) ||
	    READ_ONCE(node->last_words) == MIOS_CHILD_PANICKED) {
		mios_reason_set(why,
				"instance %u hung or crashed while it shut down; its node is back",
				node->id);
		return -EIO;
	}
	return 0;
}

/*
 * What others have swapped to it has to go elsewhere first, which may not be
 * possible.  The time for that is part of what the stop may take; who does not
 * answer is asked to power off all the same.
 */
static int stop_lending(u32 instance, unsigned int timeout_ms,
			struct mios_reason *why)
{
	const struct mios_call_loan call = { .op = MIOS_LOAN_STOP };
	struct mios_node *node;
	bool up;
	int err;

	node = mios_node_find_locked(instance, why, &err);
	if (!node)
		return err;
	/* Else it has been asked before. */
	up = state_of(node) == MIOS_STATE_UP;
	mutex_unlock(&node->lock);
	if (!up || mios_call(instance, MIOS_CALL_LOAN, &call, sizeof(call),
			     NULL, 0, timeout_ms) != -ENOSPC)
		return 0;
	mios_reason_set(why,
			"what others have swapped to instance %u has no other place: see 'mios status', swapoff there, or kill it",
			instance);
	return -ENOSPC;
}

/**
 * mios_node_stop - let an instance power off in order
 * @instance: which
 * @timeout_ms: how long it may take
 * @why: explains a failure
 *
 * Return: 0 when CPUs and memory are back; -ETIMEDOUT if it is still running;
 * -EIO if it has crashed meanwhile, or was ended because it hung; -ENOSPC: others
 * have swapped to it what has no other place.
 */
int mios_node_stop(u32 instance, unsigned int timeout_ms,
		   struct mios_reason *why)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	struct mios_node *node;
	u32 incarnation;
	long left;
	int err;

	err = stop_lending(instance, timeout_ms, why);
	if (err)
		return err;
	node = mios_node_find_locked(instance, why, &err);
	if (!node)
		return err;
	incarnation = incarnation_of(node);
	if (node_joined(node)) {
		/* Asked again each time: a request may have been lost. */
		err = mios_link_request_shutdown(instance);
		if (!err)
			mios_node_state(node, MIOS_STATE_STOPPING);
	} else {
		err = -ESRCH;
	}
	mutex_unlock(&node->lock);
	if (err) {
		mios_reason_set(why, err == -ESRCH ? "instance %u is not up" :
				"instance %u does not listen; kill it", instance);
		return err;
	}
	left = end - jiffies;
	left = mios_node_settle(node, jiffies_to_msecs(max(left, 0L)));
	if (left <= 0) {
		mios_reason_set(why, "instance %u is still shutting down; wait, or kill it",
				instance);
		return left ? (int)left : -ETIMEDOUT;
	}
	return stop_result(node, incarnation, why);
}

/**
 * mios_nodes_kill_all - end every instance, and wait until all nodes are back
 */
void mios_nodes_kill_all(void)
{
	struct mios_reason unused;
	unsigned int i;

	/* All, before one is waited for: it may wait for another one's end. */
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node)
			continue;
		mutex_lock(&node->lock);
		kill_locked(node, &unused);
		mutex_unlock(&node->lock);
	}
	/* Nobody else can take back a node whose CPUs still run. */
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		wait_event(mios_state_wait, !mios_node_get(i) ||
			   state_of(mios_node_get(i)) == MIOS_STATE_DOWN);
}
