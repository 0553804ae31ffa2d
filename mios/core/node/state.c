// SPDX-License-Identifier: GPL-2.0
/*
 * The states of a node and who may change them.
 *
 *      down -> claimed -> booting -> up -> stopping
 *       ^ ^       |          |       |        |
 *       | +-------+          v       v        v
 *       |                   fencing <---------+
 *       |                     | every CPU has stopped
 *       |                     v
 *       +-------------------- dead    (a successor of instance 0 claims it there)
 *       |                     | there is something to dump
 *       |                     v
 *       +-------------------- held
 *
 * A node changes state under its lock.  What leads up to "up" is in start/, to
 * "fencing" in watch/ and end/, from there to "down" in end/.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../link/heir.h"
#include "../link/link.h"
#include "node.h"

/* For those who are just starting an instance. */
#define CLOSE_TIMEOUT	(5 * HZ)

DECLARE_WAIT_QUEUE_HEAD(mios_state_wait);

static bool closed;

MIOS_INJECT_SWITCH(stay_open, "start instances though instance 0 ends");
MIOS_INJECT_SWITCH(keep_claims, "go on with a boot though another instance is host");

/* Whoever has it drops it before @end, or has it for longer than that. */
static bool lock_until(struct mios_node *node, unsigned long end)
{
	while (!mutex_trylock(&node->lock)) {
		if (time_after(jiffies, end))
			return false;
		msleep(20);
	}
	return true;
}

/**
 * mios_nodes_close - start no instance any more: instance 0 ends or sleeps
 *
 * Whoever has not seen that is past its start when it drops the node's lock.
 * Only a migration may hold that for long, and who waits for one will see it.
 *
 * Return: whether every lock has been dropped.
 */
bool mios_nodes_close(void)
{
	unsigned long end = jiffies + CLOSE_TIMEOUT;
	bool all = true;
	unsigned int i;

	WRITE_ONCE(closed, !inject_stay_open);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (node && lock_until(node, end))
			mutex_unlock(&node->lock);
		else if (node)
			all = false;
	}
	return all;
}

/**
 * mios_nodes_open - instances may be started again: instance 0 stays
 */
void mios_nodes_open(void)
{
	WRITE_ONCE(closed, false);
}

/**
 * mios_nodes_still_open - may an instance be started now?
 * @why: explains a refusal
 */
int mios_nodes_still_open(struct mios_reason *why)
{
	if (!READ_ONCE(closed))
		return 0;
	mios_reason_set(why, "instance 0 is about to end or to sleep");
	return -ESHUTDOWN;
}

/**
 * mios_node_hosted - may this kernel still start or end an instance there?
 * @node: which, locked
 * @why: explains a refusal
 *
 * On a successor of instance 0 that may end at any time.  So it is asked before
 * each write to the node's memory and each interrupt that starts a CPU, and in
 * between is nothing that waits for user space: mios_nodes_disown() waits for it.
 */
int mios_node_hosted(const struct mios_node *node, struct mios_reason *why)
{
	if (!node->kept || mios_link_declares() || inject_keep_claims)
		return 0;
	mios_reason_set(why,
			"this instance is host no more; mios status says which one is");
	return -ESHUTDOWN;
}

/**
 * mios_node_state - change a node's state, here and for everybody to see
 * @node: which, locked
 * @state: enum mios_state
 */
void mios_node_state(struct mios_node *node, u32 state)
{
	WRITE_ONCE(node->stamp, node_stamp(incarnation_of(node), state));
	mios_link_state(node->id, state);
	wake_up_all(&mios_state_wait);
}

/**
 * mios_node_find - the node that a person named
 * @instance: its number
 * @why: explains a failure
 * @err: 0, or -EINVAL for instance 0, or -ENODEV
 */
struct mios_node *mios_node_find(u32 instance, struct mios_reason *why,
				 int *err)
{
	struct mios_node *node = mios_node_get(instance);

	*err = 0;
	if (!node) {
		*err = instance ? -ENODEV : -EINVAL;
		mios_reason_set(why, instance ?
				"there is no node %u that could have an instance; see mios status" :
				"instance 0 hosts the others; it cannot be booted, stopped or killed by mios",
				instance);
	}
	return node;
}

/**
 * mios_node_find_locked - the same, locked
 * @instance: its number
 * @why: explains a failure
 * @err: as of mios_node_find(); -EINTR for who was killed while he waited
 *
 * The lock may be held for as long as the node's memory takes to migrate: who
 * waits for it on a person's behalf can be killed.
 */
struct mios_node *mios_node_find_locked(u32 instance, struct mios_reason *why,
					int *err)
{
	struct mios_node *node = mios_node_find(instance, why, err);

	if (node)
		*err = mutex_lock_killable(&node->lock);
	return *err ? NULL : node;
}

/**
 * mios_node_head_map - map the head of a node that has just been claimed
 * @node: which, locked
 */
int mios_node_head_map(struct mios_node *node)
{
	void *head = mios_memory_map(mios_node_base(node), MIOS_HEAD_SIZE);

	if (IS_ERR(head))
		return PTR_ERR(head);
	node->head = head;
	return 0;
}

/**
 * mios_node_head_unmap - the same back
 * @node: which, locked
 */
void mios_node_head_unmap(struct mios_node *node)
{
	if (node->head)
		memunmap(node->head);
	node->head = NULL;
}

/**
 * mios_node_idle - on a successor: is it a node that can be booted?
 * @node: which
 *
 * Its instance is dead, and all have let go of it: its CPUs are where the fence
 * has left them, and nothing of its memory is used.
 */
bool mios_node_idle(const struct mios_node *node)
{
	return node->kept && state_of(node) == MIOS_STATE_DEAD &&
	       !READ_ONCE(node->owing);
}

/* Nobody is there to whom it could be given. */
static void node_keep(struct mios_node *node)
{
	node->claimer = NULL;
	mios_node_state(node, MIOS_STATE_DEAD);
}

/**
 * mios_nodes_disown - this instance is host no more: nothing is claimed
 *
 * After mios_link_declares() has become false.  Who has the lock of a node has
 * asked mios_node_hosted() before that and is past what it allowed when he drops
 * it, and who gets it then finds that he may not.
 */
void mios_nodes_disown(void)
{
	unsigned long end = jiffies + CLOSE_TIMEOUT;
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node || !node->kept)
			continue;
		if (!lock_until(node, end)) {
			pr_warn("node %u: somebody is at it still, though this instance is host no more\n",
				node->id);
			continue;
		}
		if (state_of(node) == MIOS_STATE_CLAIMED && !inject_keep_claims)
			node_keep(node);
		mutex_unlock(&node->lock);
	}
}

/**
 * mios_node_return - give everything back to instance 0
 * @node: which, locked, its CPUs fenced
 */
void mios_node_return(struct mios_node *node)
{
	if (node->kept) {
		node_keep(node);
		return;
	}
	mios_node_head_unmap(node);
	mios_cpus_return(node);
	mios_memory_lend(node);
	node->claimer = NULL;
	WRITE_ONCE(node->owing, 0);
	/* Who still has its dump open reads nothing of the next one. */
	node->dumper = NULL;
	mios_node_state(node, MIOS_STATE_DOWN);
}

static bool settled(const struct mios_node *node)
{
	u32 state = state_of(node);

	return state == MIOS_STATE_DOWN || state == MIOS_STATE_UP ||
	       mios_node_idle(node) ||
	       (state == MIOS_STATE_HELD && !READ_ONCE(node->unwanted));
}

/**
 * mios_node_settle - wait until a node is down, up, or held
 * @node: which, not locked
 * @timeout_ms: for how long
 *
 * Return: more than 0; 0 when the time is over; -ERESTARTSYS.
 */
long mios_node_settle(const struct mios_node *node, unsigned int timeout_ms)
{
	return wait_event_interruptible_timeout(mios_state_wait, settled(node),
						msecs_to_jiffies(min(timeout_ms, MIOS_WAIT_MAX)));
}
