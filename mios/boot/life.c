// SPDX-License-Identifier: GPL-2.0
/*
 * From claim to death: the states of a node and who may change them.
 *
 *      down -> claimed -> booting -> up -> stopping
 *       ^ ^       |          |       |        |
 *       | +-------+          v       v        v
 *       |                   fencing <---------+
 *       |                     | every CPU has stopped
 *       |                     v
 *       +-------------------- dead
 *       |                     | there is something to dump
 *       |                     v
 *       +-------------------- held
 *
 * A node changes state under its lock.  What leads up to "up" is here, what
 * leads to "dead" and back to "down" in end.c, "held" in dump.c.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>

#include "../link/link.h"
#include "../proc/log.h"
#include "boot.h"

/*
 * From the SIPI to the first C code.  Emulated, on a host with many times
 * more to do than it has cores, 20 seconds were not enough for unpacking.
 */
#define ALIVE_TIMEOUT	(60 * HZ)

/* For those who are just starting an instance. */
#define CLOSE_TIMEOUT	(5 * HZ)

DECLARE_WAIT_QUEUE_HEAD(mios_state_wait);

static bool closed;

#ifdef MIOS_FAULT
static bool fault_stay_open;
module_param(fault_stay_open, bool, 0600);
MODULE_PARM_DESC(fault_stay_open, "fault: start instances though instance 0 ends");
#else
#define fault_stay_open false
#endif

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

	WRITE_ONCE(closed, !fault_stay_open);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		while (node && !mutex_trylock(&node->lock)) {
			if (time_after(jiffies, end)) {
				node = NULL;
				all = false;
			}
			msleep(20);
		}
		if (node)
			mutex_unlock(&node->lock);
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

static int still_open(struct mios_reason *why)
{
	if (!READ_ONCE(closed))
		return 0;
	mios_reason_set(why, "instance 0 is about to end or to sleep");
	return -ESHUTDOWN;
}

/**
 * mios_node_state - change a node's state, here and for everybody to see
 * @node: which, locked
 * @state: enum mios_state
 */
void mios_node_state(struct mios_node *node, u32 state)
{
	WRITE_ONCE(node->state, state);
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

static int head_map(struct mios_node *node)
{
	node->head = memremap(mios_node_base(node), MIOS_HEAD_SIZE,
			      MEMREMAP_WB);
	return node->head ? 0 : -ENOMEM;
}

static void head_unmap(struct mios_node *node)
{
	if (node->head)
		memunmap(node->head);
	node->head = NULL;
}

/**
 * mios_node_return - give everything back to instance 0
 * @node: which, locked, its CPUs fenced
 */
void mios_node_return(struct mios_node *node)
{
	head_unmap(node);
	mios_cpus_return(node);
	mios_memory_lend(node);
	node->claimer = NULL;
	/* Who still has its dump open reads nothing of the next one. */
	node->dumper = NULL;
	mios_node_state(node, MIOS_STATE_DOWN);
}

static int node_busy(const struct mios_node *node, struct mios_reason *why)
{
	mios_reason_set(why, "node %u is busy: somebody else is booting or ending it",
			node->id);
	return -EBUSY;
}

/* Nobody has the node: 0; -EEXIST: its instance is up; -EBUSY. */
static int node_free(const struct mios_node *node, struct mios_reason *why)
{
	switch (READ_ONCE(node->state)) {
	case MIOS_STATE_DOWN:
		return 0;
	case MIOS_STATE_UP:
		mios_reason_set(why, "instance %u is up; stop or kill it first",
				node->id);
		return -EEXIST;
	case MIOS_STATE_HELD:
		mios_reason_set(why,
				"node %u is held for a dump: mios dump %u FILE, or --discard",
				node->id, node->id);
		return -EBUSY;
	case MIOS_STATE_STOPPING:
		mios_reason_set(why,
				"node %u is busy: its instance shuts down; wait, or mios kill %u",
				node->id, node->id);
		return -EBUSY;
	case MIOS_STATE_FENCING:
		mios_reason_set(why,
				"node %u is busy: its instance is being fenced; if that lasts, dmesg says which CPU does not stop",
				node->id);
		return -EBUSY;
	default:
		return node_busy(node, why);
	}
}

/**
 * mios_node_claim - take a node away from instance 0
 * @claim: what is wanted; the answers are filled in
 * @claimer: identifies the caller until the start
 * @why: explains a failure
 */
int mios_node_claim(struct mios_claim *claim, const void *claimer,
		    struct mios_reason *why)
{
	struct mios_node *node;
	int err;

	node = mios_node_find(claim->instance, why, &err);
	if (!node)
		return err;
	if (claim->ring >= MIOS_MAX_RINGS) {
		mios_reason_set(why, "there is no ring %u; 0 to %u are possible",
				claim->ring, MIOS_MAX_RINGS - 1);
		return -EINVAL;
	}
	/* Others give up at once rather than wait for a slow migration. */
	if (!mutex_trylock(&node->lock))
		return node_free(node, why) ?: node_busy(node, why);
	err = still_open(why) ?: node_free(node, why);
	if (err)
		goto out;
	err = mios_cpus_usable(node, why);
	if (err)
		goto out;
	err = mios_memory_take(node, why);
	if (err)
		goto out;
	err = mios_cpus_take(node, why);
	if (err)
		goto lend;
	err = head_map(node);
	if (err)
		goto cpus;
	node->claimer = claimer;
	node->ring = claim->ring;
	node->incarnation++;
	node->loaded = false;
	node->overdue = 0;
	node->last_words = MIOS_CHILD_EMPTY;
	node->crashed = false;
	node->unwanted = false;
	mios_node_pulse_reset(node);
	claim->load_base = mios_node_base(node) + MIOS_HEAD_SIZE;
	claim->load_size = node->ranges[0].size - MIOS_HEAD_SIZE;
	claim->incarnation = node->incarnation;
	claim->nr_cpus = node->nr_cpus;
	mios_node_state(node, MIOS_STATE_CLAIMED);
	mutex_unlock(&node->lock);
	return 0;

cpus:
	mios_cpus_return(node);
lend:
	mios_memory_lend(node);
out:
	mutex_unlock(&node->lock);
	return err;
}

/* The node, locked, if @claimer has it and has not started it yet. */
static struct mios_node *claimed_node(u32 instance, const void *claimer,
				      struct mios_reason *why)
{
	struct mios_node *node = mios_node_get(instance);

	if (node) {
		mutex_lock(&node->lock);
		if (node->state == MIOS_STATE_CLAIMED &&
		    node->claimer == claimer)
			return node;
		mutex_unlock(&node->lock);
	}
	mios_reason_set(why, "no node is claimed through this file: %u",
			instance);
	return NULL;
}

/**
 * mios_node_load - put an image into a claimed node
 * @instance: which
 * @load: the image
 * @claimer: as given to mios_node_claim()
 * @why: explains a failure
 */
int mios_node_load(u32 instance, const struct mios_load *load,
		   const void *claimer, struct mios_reason *why)
{
	struct mios_node *node = claimed_node(instance, claimer, why);
	int err;

	if (!node)
		return -ESRCH;
	err = mios_image_load(node, load, why);
	mutex_unlock(&node->lock);
	return err;
}

static int node_launch(struct mios_node *node, struct mios_reason *why)
{
	int err;

	err = mios_image_finish(node, why) ?: still_open(why);
	if (err)
		return err;
	if (node->log)
		mios_log_drop(node->log);
	node->log = mios_log_create(mios_node_log(node),
				    sizeof(struct mios_log) + MIOS_LOG_SIZE);
	if (!node->log)
		return -ENOMEM;
	err = mios_link_expect(node->ring, node->id, node->incarnation);
	if (err) {
		mios_reason_set(why, "instance %u cannot be a member of ring %u (error %d)",
				node->id, node->ring, -err);
		return err;
	}
	/* From here the child may answer at any time. */
	mios_node_state(node, MIOS_STATE_BOOTING);
	err = mios_cpu_start(node, why);
	if (err)
		mios_node_reap(node);
	return err;
}

static bool still_booting(const struct mios_node *node)
{
	return READ_ONCE(node->state) == MIOS_STATE_BOOTING;
}

static bool child_alive(struct mios_node *node)
{
	/* Pairs with the child's release in mios_early_setup(). */
	return smp_load_acquire(&mios_node_manifest(node)->state) !=
		MIOS_CHILD_LOADED;
}

/* Every way a boot can end, as a line for the person who asked for it. */
static int boot_result(struct mios_node *node, u32 incarnation,
		       struct mios_reason *why)
{
	u32 last = READ_ONCE(node->last_words);
	static const char * const how[] = {
		[MIOS_CHILD_EMPTY] = "was never started",
		[MIOS_CHILD_LOADED] = "did not start: its CPU never reached the kernel",
		[MIOS_CHILD_ALIVE] = "did not reach the sync point in time",
		[MIOS_CHILD_REFUSED] = "refuses its manifest (another version)",
		[MIOS_CHILD_HALTED] = "powered off before the sync point",
		[MIOS_CHILD_RESTART] = "rebooted before the sync point",
		[MIOS_CHILD_PANICKED] = "panicked before the sync point",
	};

	if (READ_ONCE(node->state) == MIOS_STATE_UP &&
	    READ_ONCE(node->incarnation) == incarnation)
		return 0;
	if (READ_ONCE(node->state) == MIOS_STATE_FENCING) {
		mios_reason_set(why,
				"instance %u did not join, and a CPU does not stop; see dmesg",
				node->id);
		return -ETIMEDOUT;
	}
	/* What it would have come to is not known. */
	if (READ_ONCE(node->unwanted) && (last == MIOS_CHILD_LOADED ||
					  last == MIOS_CHILD_ALIVE)) {
		mios_reason_set(why, "instance %u was killed while it booted",
				node->id);
		return -ECANCELED;
	}
	mios_reason_set(why, "instance %u %s; see mios log %u", node->id,
			last < ARRAY_SIZE(how) ? how[last] : "left garbage",
			node->id);
	switch (last) {
	case MIOS_CHILD_REFUSED:
		return -EPROTO;
	case MIOS_CHILD_LOADED:
	case MIOS_CHILD_ALIVE:
		return -ETIMEDOUT;
	default:
		return -ENOEXEC;
	}
}

/*
 * Wait for the sync point without the lock, since joining and dying need it.
 * The mapping of the head stays: only the reaper drops it, which also takes
 * down the last words, so that a child that refused is not called silent.
 */
static int wait_joined(struct mios_node *node, u32 incarnation,
		       unsigned int timeout_ms, struct mios_reason *why)
{
	unsigned long end = jiffies +
		msecs_to_jiffies(min(timeout_ms, MIOS_WAIT_MAX));
	unsigned long alive = jiffies + ALIVE_TIMEOUT;

	while (still_booting(node) && time_before(jiffies, end)) {
		long left = wait_event_interruptible_timeout(mios_state_wait,
				!still_booting(node), HZ / 10);

		mutex_lock(&node->lock);
		if (left < 0 || (still_booting(node) &&
				 time_after(jiffies, alive) &&
				 !child_alive(node)))
			end = jiffies;
		mutex_unlock(&node->lock);
	}
	mutex_lock(&node->lock);
	if (still_booting(node) && node->incarnation == incarnation)
		mios_node_reap(node);
	mutex_unlock(&node->lock);
	if (READ_ONCE(node->state) != MIOS_STATE_UP)
		flush_work(&node->reaper);
	return boot_result(node, incarnation, why);
}

/**
 * mios_node_start - start a loaded image and wait for the sync point
 * @instance: which
 * @timeout_ms: how long to wait
 * @claimer: as given to mios_node_claim()
 * @why: explains a failure
 *
 * Return: 0 when the instance has joined; after a failure behind the SIPI the
 * node is already back with instance 0, unless a CPU does not stop.
 */
int mios_node_start(u32 instance, unsigned int timeout_ms, const void *claimer,
		    struct mios_reason *why)
{
	struct mios_node *node = claimed_node(instance, claimer, why);
	u32 incarnation;
	int err;

	if (!node)
		return -ESRCH;
	incarnation = node->incarnation;
	err = still_open(why) ?: node_launch(node, why);
	if (!err)
		node->claimer = NULL;
	mutex_unlock(&node->lock);
	return err ?: wait_joined(node, incarnation, timeout_ms, why);
}

/**
 * mios_node_release - give back a node whose loader has gone before the start
 * @instance: which
 * @claimer: as given to mios_node_claim()
 */
void mios_node_release(u32 instance, const void *claimer)
{
	struct mios_reason unused;
	struct mios_node *node = claimed_node(instance, claimer, &unused);

	if (!node)
		return;
	mios_node_return(node);
	mutex_unlock(&node->lock);
}
