// SPDX-License-Identifier: GPL-2.0
/*
 * From fencing to down: the reaper, one work item per node, which alone takes
 * a node from dead to down, or to held and from there to down; on a successor
 * of instance 0 it stays dead.  A node goes back to instance 0 only when every
 * instance that may still use something of the dead one has said that it does
 * not; until then it stays dead, however long that takes, and the watch asks the
 * reaper to look again.
 */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <linux/workqueue.h>

#include "../../inject/inject.h"
#include "../link/heir.h"
#include "../link/link.h"
#include "../proc/log.h"
#include "end.h"

/* How long the others may take to let go before somebody is told. */
#define LET_GO_MS	1000

/* In place of who owes, until they have been asked. */
#define NOT_ASKED	BIT_ULL(0)

MIOS_INJECT_TIMES(fence_twice, "fence a dead instance once more");
MIOS_INJECT_VALUE(linger,
		  "leave a dead instance's node alone for so many milliseconds, less when it is set lower");
MIOS_INJECT_SWITCH(early_death, "call an instance dead before it is fenced");
MIOS_INJECT_SWITCH(hasty,
		   "use a dead instance's node again though others have not let go of it");

MIOS_INJECT_SWITCH(die_burying, "die when an instance is fenced, before anybody knows");

static struct workqueue_struct *reaper_wq;

/**
 * mios_node_reap - an instance is to end: let the reaper have its node
 * @node: which, locked, with an instance that has been started
 *
 * The others learn that it is being fenced, and keep what they share with it
 * until it is dead.
 */
void mios_node_reap(struct mios_node *node)
{
	mios_node_state(node, MIOS_STATE_FENCING);
	if (inject_early_death)
		mios_link_state(node->id, MIOS_STATE_DEAD);
	queue_work(reaper_wq, &node->reaper);
}

/**
 * mios_node_reap_more - let the reaper look again at a node that it has
 * @node: which, locked, fencing or dead
 */
void mios_node_reap_more(struct mios_node *node)
{
	queue_work(reaper_wq, &node->reaper);
}

/**
 * mios_node_unhold - nobody is to read a held node's memory any more
 * @node: which, locked
 */
void mios_node_unhold(struct mios_node *node)
{
	node->unwanted = true;
	queue_work(reaper_wq, &node->reaper);
}

/* Have all others let go of it?  Who has not is told about once. */
static bool let_go(struct mios_node *node)
{
	u64 owing = mios_link_owing(node->id, incarnation_of(node));
	u64 before = node->owing & ~NOT_ASKED;

	WRITE_ONCE(node->owing, owing);
	if (owing && !before)
		pr_warn("instance %u is dead, but %*pbl of the instances have not let go of it: its node is kept until they do, or are killed\n",
			node->id, 64, &owing);
	else if (!owing && before)
		pr_info("instance %u: all have let go of it\n", node->id);
	return !owing || inject_hasty;
}

/* Is it to be booted again now?  A successor has nobody to give it to. */
static bool give_back(struct mios_node *node)
{
	bool again = node->again;

	if (!let_go(node) || node->kept) {
		if (state_of(node) != MIOS_STATE_DEAD)
			mios_node_state(node, MIOS_STATE_DEAD);
		/* On a successor that is the end: mios_node_idle(). */
		wake_up_all(&mios_state_wait);
		return false;
	}
	node->again = false;
	mios_node_return(node);
	return again;
}

/* So that a test can look whether anything still moves. */
static void linger(void)
{
	unsigned int waited;

	for (waited = 0; waited < inject_linger; waited += 20)
		msleep(20);
}

/* All its CPUs have stopped: keep the log, make the others forget it. */
static void bury(struct mios_node *node)
{
	u32 incarnation = incarnation_of(node);
	unsigned int waited;

	if (node->kept)
		WRITE_ONCE(node->owing, NOT_ASKED);
	WRITE_ONCE(node->stamp, node_stamp(incarnation, MIOS_STATE_DEAD));
	node->last_words = READ_ONCE(mios_node_manifest(node)->state);
	/* Where the memory stays the log does. */
	if (node->log)
		mios_log_retire(node->log);
	mios_link_dead(node->id, incarnation);
	wake_up_all(&mios_state_wait);
	for (waited = 0; waited < LET_GO_MS; waited += 2) {
		if (!mios_link_owing(node->id, incarnation))
			break;
		usleep_range(1000, 2000);
	}
	linger();
}

/* Fence, bury, give back: at once, or when somebody has read the memory. */
static void reaper(struct work_struct *work)
{
	struct mios_node *node = container_of(work, struct mios_node, reaper);
	bool held = false, again = false;

	mutex_lock(&node->lock);
	/* Asked for when this one was host: it is another one's now. */
	if (node->kept && !mios_link_declares()) {
		mutex_unlock(&node->lock);
		return;
	}
	/* Nothing is recovered that may still be in use: the watch tries again */
	if (state_of(node) == MIOS_STATE_FENCING && !mios_node_fence(node)) {
		if (mios_inject(fence_twice))
			mios_node_fence(node);
		if (inject_die_burying)
			panic("asked for, in the middle of a burial");
		bury(node);
		held = mios_node_hold(node);
		again = !held && give_back(node);
	} else if (state_of(node) == MIOS_STATE_DEAD ||
		   (state_of(node) == MIOS_STATE_HELD && node->unwanted)) {
		again = give_back(node);
	}
	mutex_unlock(&node->lock);
	if (held)
		mios_node_dump_ask(node);
	if (again)
		mios_command_start("boot", node->id, "--again");
}

/**
 * mios_reaper_init - be able to take nodes back
 */
int mios_reaper_init(void)
{
	unsigned int i;

	reaper_wq = alloc_workqueue("mios-reaper", WQ_UNBOUND, 0);
	if (!reaper_wq)
		return -ENOMEM;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			INIT_WORK(&mios_node_get(i)->reaper, reaper);
	return 0;
}

/**
 * mios_reaper_flush - wait until it has done what it was asked for
 */
void mios_reaper_flush(void)
{
	flush_workqueue(reaper_wq);
}

/**
 * mios_reaper_exit - all nodes are back
 */
void mios_reaper_exit(void)
{
	destroy_workqueue(reaper_wq);
}
