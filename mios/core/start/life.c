// SPDX-License-Identifier: GPL-2.0
/*
 * From claim to the sync point, as a person asks for it: the node is taken from
 * instance 0, an image is put into it, and its boot CPU is sent there.  The
 * states are drawn in node/state.c.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>

#include "../end/end.h"
#include "../link/heir.h"
#include "../link/link.h"
#include "../proc/log.h"
#include "start.h"

/*
 * From the SIPI to the first C code.  Emulated, on a host with many times
 * more to do than it has cores, 20 seconds were not enough for unpacking.
 */
#define ALIVE_TIMEOUT	(60 * HZ)

static int node_busy(const struct mios_node *node, struct mios_reason *why)
{
	mios_reason_set(why, "node %u is busy: somebody else is booting or ending it",
			node->id);
	return -EBUSY;
}

/* Nobody has the node: 0; -EEXIST: its instance is up; -EBUSY. */
static int node_free(const struct mios_node *node, struct mios_reason *why)
{
	switch (state_of(node)) {
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
	case MIOS_STATE_DEAD:
		if (mios_node_idle(node))
			return 0;
		mios_reason_set(why,
				"node %u is kept for those who have not let go of its dead instance; dmesg names them",
				node->id);
		return -EBUSY;
	default:
		return node_busy(node, why);
	}
}

/* A new instance begins: the watch knows nothing of it. */
static void pulse_reset(struct mios_node *node)
{
	memset(node->tick, 0, sizeof(node->tick));
	memset(node->task, 0, sizeof(node->task));
	memset(&node->memory, 0, sizeof(node->memory));
}

/*
 * On a successor only what has had an instance and is dead: of a node that was lent
 * to instance 0 its CPUs have stopped in that one's panic, and were never fenced.
 */
static int kept_take(struct mios_node *node, u32 ring, struct mios_reason *why)
{
	if (ring) {
		mios_reason_set(why, "only ring 0 has a host in place of instance 0");
		return -EINVAL;
	}
	if (state_of(node) == MIOS_STATE_DOWN) {
		mios_reason_set(why,
				"node %u was not an instance's of ring 0 when instance 0 died: only such a one can be booted",
				node->id);
		return -EOPNOTSUPP;
	}
	/* Asked again: somebody may have joined since who does not know of it. */
	WRITE_ONCE(node->owing, mios_link_owing(node->id, incarnation_of(node)));
	if (!mios_link_declares() || node->owing) {
		mios_reason_set(why, "node %u %s", node->id, node->owing ?
				"is kept for those who have not let go of its dead instance" :
				"cannot be booted here: this instance is host no more");
		return -EBUSY;
	}
	return mios_machine_usable(why);
}

/* From instance 0, with all that it has there. */
static int lent_take(struct mios_node *node, struct mios_reason *why)
{
	int err = mios_cpus_usable(node, why) ?: mios_memory_take(node, why);

	if (err)
		return err;
	err = mios_cpus_take(node, why);
	if (err)
		goto lend;
	err = mios_node_head_map(node);
	if (!err)
		return 0;
	mios_cpus_return(node);
lend:
	mios_memory_lend(node);
	return err;
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
	err = mios_nodes_still_open(why) ?: node_free(node, why);
	if (!err)
		err = node->kept ? kept_take(node, claim->ring, why) :
				   lent_take(node, why);
	if (err)
		goto out;
	node->claimer = claimer;
	node->ring = claim->ring;
	WRITE_ONCE(node->stamp, node_stamp(mios_epoch_next(node->id),
					   MIOS_STATE_DOWN));
	node->loaded = false;
	node->overdue = 0;
	node->owing = 0;
	node->late = 0;
	node->last_words = MIOS_CHILD_EMPTY;
	node->crashed = false;
	node->unwanted = false;
	pulse_reset(node);
	claim->load_base = mios_node_base(node) + MIOS_HEAD_SIZE;
	claim->load_size = node->ranges[0].size - MIOS_HEAD_SIZE;
	claim->incarnation = incarnation_of(node);
	claim->nr_cpus = node->nr_cpus;
	/* To all others, and the next host, one of a successor is dead until it boots. */
	if (node->kept)
		WRITE_ONCE(node->stamp, node_stamp(incarnation_of(node),
						   MIOS_STATE_CLAIMED));
	else
		mios_node_state(node, MIOS_STATE_CLAIMED);
out:
	mutex_unlock(&node->lock);
	return err;
}

static bool has_claimed(const struct mios_node *node, const void *claimer)
{
	return state_of(node) == MIOS_STATE_CLAIMED && node->claimer == claimer;
}

/**
 * mios_node_claimed - the node, locked, if it can still be started
 * @instance: which
 * @claimer: as given to mios_node_claim()
 * @why: explains a failure
 * @err: out, for NULL: -ESRCH; -ESHUTDOWN: this instance is host no more
 */
struct mios_node *mios_node_claimed(u32 instance, const void *claimer,
				    struct mios_reason *why, int *err)
{
	struct mios_node *node = mios_node_get(instance);

	*err = -ESRCH;
	if (node) {
		mutex_lock(&node->lock);
		*err = mios_node_hosted(node, why) ?:
		       has_claimed(node, claimer) ? 0 : -ESRCH;
		if (!*err)
			return node;
		mutex_unlock(&node->lock);
	}
	if (*err == -ESRCH)
		mios_reason_set(why,
				"no node is claimed through this file: %u",
				instance);
	return NULL;
}

static int node_launch(struct mios_node *node, struct mios_reason *why)
{
	int err;

	err = mios_image_finish(node, why) ?: mios_nodes_still_open(why);
	if (err)
		return err;
	if (node->log)
		mios_log_drop(node->log);
	node->log = mios_log_create(mios_node_log(node),
				    sizeof(struct mios_log) + MIOS_LOG_SIZE);
	if (!node->log)
		return -ENOMEM;
	err = mios_link_expect(node->ring, node->id, incarnation_of(node));
	if (err) {
		mios_reason_set(why, "instance %u cannot be a member of ring %u (error %d)",
				node->id, node->ring, -err);
		return err;
	}
	/* From here the child may answer at any time. */
	mios_node_state(node, MIOS_STATE_BOOTING);
	/* Not where another one may be host before the CPU is on its way. */
	err = mios_node_hosted(node, why);
	if (err) {
		mios_node_state(node, MIOS_STATE_CLAIMED);
		return err;
	}
	err = mios_cpu_start(node, why);
	if (err)
		mios_node_reap(node);
	return err;
}

static bool still_booting(const struct mios_node *node)
{
	return state_of(node) == MIOS_STATE_BOOTING;
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

	if (READ_ONCE(node->stamp) == node_stamp(incarnation, MIOS_STATE_UP))
		return 0;
	if (state_of(node) == MIOS_STATE_FENCING) {
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
	if (still_booting(node) && incarnation_of(node) == incarnation)
		mios_node_reap(node);
	mutex_unlock(&node->lock);
	if (state_of(node) != MIOS_STATE_UP)
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
	struct mios_node *node;
	u32 incarnation;
	int err;

	node = mios_node_claimed(instance, claimer, why, &err);
	if (!node)
		return err;
	incarnation = incarnation_of(node);
	err = mios_nodes_still_open(why) ?: node_launch(node, why);
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
	struct mios_node *node = mios_node_get(instance);

	if (!node)
		return;
	mutex_lock(&node->lock);
	if (has_claimed(node, claimer))
		mios_node_return(node);
	mutex_unlock(&node->lock);
}
