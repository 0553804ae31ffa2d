// SPDX-License-Identifier: GPL-2.0
/*
 * How instances end: asked, by force, or by themselves.  All ways lead to the
 * reaper, one work item per node, which alone takes a node from dead to down,
 * or to held and from there to down.
 * The watch looks at every manifest for last words that no doorbell has
 * announced.  See life.c for the states.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>

#include "../link/link.h"
#include "../proc/log.h"
#include "boot.h"

/* How often to look for last words. */
#define WATCH_INTERVAL	(HZ / MIOS_WATCH_HZ)

static int fault_fence_twice;
#ifdef MIOS_FAULT
module_param(fault_fence_twice, int, 0600);
MODULE_PARM_DESC(fault_fence_twice, "fault: fence a dead instance once more: times, -1 for always");
static unsigned int fault_linger;
module_param(fault_linger, uint, 0600);
MODULE_PARM_DESC(fault_linger, "fault: leave a dead instance's node alone for so many milliseconds, less when it is set lower");
static bool fault_early_death;
module_param(fault_early_death, bool, 0600);
MODULE_PARM_DESC(fault_early_death, "fault: call an instance dead before it is fenced");
static bool fault_deaf_watch;
module_param(fault_deaf_watch, bool, 0600);
MODULE_PARM_DESC(fault_deaf_watch, "fault: find no end that nobody announces");
#else
#define fault_linger 0
#define fault_early_death false
#define fault_deaf_watch false
#endif

static struct workqueue_struct *reaper_wq;
static void watch(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch);

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
	if (fault_early_death)
		mios_link_state(node->id, MIOS_STATE_DEAD);
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

/**
 * mios_node_log_open - file descriptor of an instance's log
 * @instance: which; the log of a dead one stays until its next boot
 * @flags: MIOS_STREAM_*
 * @why: explains a failure
 */
int mios_node_log_open(u32 instance, u32 flags, struct mios_reason *why)
{
	struct mios_node *node;
	int fd;

	node = mios_node_find_locked(instance, why, &fd);
	if (!node)
		return fd;
	if (node->log) {
		fd = mios_log_open(node->log, flags);
	} else {
		mios_reason_set(why, "instance %u has never been booted",
				instance);
		fd = -ENODATA;
	}
	mutex_unlock(&node->lock);
	return fd;
}

/* Is it to be booted again now? */
static bool give_back(struct mios_node *node)
{
	bool again = node->again;

	node->again = false;
	mios_node_return(node);
	return again;
}

/* So that a test can look whether anything still moves. */
static void linger(void)
{
	unsigned int waited;

	for (waited = 0; waited < fault_linger; waited += 20)
		msleep(20);
}

/* All its CPUs have stopped: keep the log, make the others forget it. */
static void bury(struct mios_node *node)
{
	WRITE_ONCE(node->state, MIOS_STATE_DEAD);
	node->last_words = READ_ONCE(mios_node_manifest(node)->state);
	mios_log_retire(node->log);
	mios_link_dead(node->id, node->incarnation);
	linger();
}

/* Fence, bury, give back: at once, or when somebody has read the memory. */
static void reaper(struct work_struct *work)
{
	struct mios_node *node = container_of(work, struct mios_node, reaper);
	bool held = false, again = false;

	mutex_lock(&node->lock);
	/* Nothing is recovered that may still be in use: the watch tries again */
	if (node->state == MIOS_STATE_FENCING && !mios_node_fence(node)) {
		if (mios_fault_take(&fault_fence_twice))
			mios_node_fence(node);
		bury(node);
		held = mios_node_hold(node);
		again = !held && give_back(node);
	} else if (node->state == MIOS_STATE_HELD && node->unwanted) {
		again = give_back(node);
	}
	mutex_unlock(&node->lock);
	if (held)
		mios_node_dump_ask(node);
	if (again)
		mios_command_start("boot", node->id, "--again");
}

/* Is it a kernel that has joined? */
static bool joined(const struct mios_node *node)
{
	return node->state == MIOS_STATE_UP ||
	       node->state == MIOS_STATE_STOPPING;
}

/* Is it a kernel, whatever it does? */
static bool running(const struct mios_node *node)
{
	return node->state == MIOS_STATE_BOOTING || joined(node);
}

static bool settled(const struct mios_node *node)
{
	u32 state = READ_ONCE(node->state);

	return state == MIOS_STATE_DOWN || state == MIOS_STATE_UP ||
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

/* Let the reaper have it, whatever it does. */
static int kill_locked(struct mios_node *node, struct mios_reason *why)
{
	/* Who kills an instance that is about to come back wants it away. */
	node->again = false;
	if (node->state == MIOS_STATE_HELD)
		return mios_node_discard(node, why);
	if (running(node)) {
		node->unwanted = true;
		mios_node_reap(node);
		return 0;
	}
	if (node->state == MIOS_STATE_FENCING) {
		node->unwanted = true;
		return 0;
	}
	/* That boot goes on: who is only told "not running" takes it for over. */
	if (node->state == MIOS_STATE_CLAIMED) {
		mios_reason_set(why,
				"instance %u is not running yet; end the 'mios boot' that has its node",
				node->id);
		return -EBUSY;
	}
	mios_reason_set(why, "instance %u is not running", node->id);
	return -ESRCH;
}

/**
 * mios_node_kill - end an instance by force
 * @instance: which
 * @timeout_ms: how long it may take until CPUs and memory are back
 * @why: explains a failure
 *
 * Return: 0 when they are; -ETIMEDOUT if a CPU does not stop: then nothing is
 * recovered, and it is tried again until it does.
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
	if (left <= 0) {
		/* Else it waits for whoever moves another node's memory. */
		mios_reason_set(why, READ_ONCE(node->state) == MIOS_STATE_FENCING ?
				"instance %u is dead, but a CPU does not stop; see dmesg" :
				"instance %u is dead and stopped, but its CPUs and memory are not back yet; see mios status",
				instance);
		return left ? (int)left : -ETIMEDOUT;
	}
	return 0;
}

/* Its node is back, but did it end as it was asked to? */
static int stop_result(const struct mios_node *node, u32 incarnation,
		       struct mios_reason *why)
{
	if (READ_ONCE(node->state) == MIOS_STATE_HELD) {
		mios_reason_set(why,
				"instance %u crashed while it shut down; it is held for a dump",
				node->id);
		return -EIO;
	}
	/* Booted by somebody else meanwhile: so it was down. */
	if (READ_ONCE(node->incarnation) != incarnation)
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

/**
 * mios_node_stop - let an instance power off in order
 * @instance: which
 * @timeout_ms: how long it may take
 * @why: explains a failure
 *
 * Return: 0 when CPUs and memory are back; -ETIMEDOUT if it is still running;
 * -EIO if it has crashed meanwhile, or was ended because it hung.
 */
int mios_node_stop(u32 instance, unsigned int timeout_ms,
		   struct mios_reason *why)
{
	struct mios_node *node;
	u32 incarnation;
	long left;
	int err;

	node = mios_node_find_locked(instance, why, &err);
	if (!node)
		return err;
	incarnation = node->incarnation;
	if (joined(node)) {
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
	left = mios_node_settle(node, timeout_ms);
	if (left <= 0) {
		mios_reason_set(why, "instance %u is still shutting down; wait, or kill it",
				instance);
		return left ? (int)left : -ETIMEDOUT;
	}
	return stop_result(node, incarnation, why);
}

/* @how it came to be looked at is for the log. */
static void node_check(struct mios_node *node, const char *how)
{
	u32 state;

	/* Busy elsewhere: the watch will find it. */
	if (!mutex_trylock(&node->lock))
		return;
	if (node->head && running(node)) {
		/* Pairs with the release in mios_end(): the log is complete. */
		state = smp_load_acquire(&mios_node_manifest(node)->state);
		if (state != MIOS_CHILD_LOADED && state != MIOS_CHILD_ALIVE) {
			pr_info("instance %u has ended (%u), %s\n", node->id,
				state, how);
			mios_node_reap(node);
		} else if (READ_ONCE(node->overdue) &&
			   time_after_eq(jiffies, node->overdue)) {
			pr_warn("instance %u does not finish ending\n",
				node->id);
			mios_node_reap(node);
		}
	} else if (node->state == MIOS_STATE_FENCING) {
		queue_work(reaper_wq, &node->reaper);
	} else if (node->state == MIOS_STATE_HELD) {
		mios_node_hold_check(node);
	}
	mutex_unlock(&node->lock);
}

static void nodes_check(const char *how)
{
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			node_check(mios_node_get(i), how);
}

static void life_rang(void)
{
	nodes_check("as announced");
}

/*
 * The two below run on the link's queue, where the acknowledgements that the
 * reaper waits for come in: so they must not wait for a node's lock.
 */
static void life_joined(u32 instance, u32 incarnation)
{
	struct mios_node *node = mios_node_get(instance);

	if (!node || READ_ONCE(node->incarnation) != incarnation)
		return;
	/* Loses against a kill, as it should. */
	cmpxchg(&node->state, MIOS_STATE_BOOTING, MIOS_STATE_UP);
	wake_up_all(&mios_state_wait);
}

/*
 * A kernel that ends says so in its manifest too, when its devices are shut
 * down and its log is complete; if it does not get that far it is ended.  One
 * that has only left its ring is out of reach for good, and ended at once.
 */
static void life_leaving(u32 instance, u32 incarnation, enum mios_ending how)
{
	static const unsigned int grace[] = {
		[MIOS_END_ORDERLY] = 30 * HZ,
		[MIOS_END_PANIC] = 2 * HZ,
		[MIOS_END_UNLOAD] = 0,
	};
	struct mios_node *node = mios_node_get(instance);

	if (!node || READ_ONCE(node->incarnation) != incarnation ||
	    how >= ARRAY_SIZE(grace))
		return;
	if (how == MIOS_END_PANIC)
		WRITE_ONCE(node->crashed, true);
	WRITE_ONCE(node->overdue, (jiffies + grace[how]) ?: 1);
	nodes_check("after it left");
}

/* What the link tells us. */
const struct mios_link_ops mios_life_ops = {
	.joined = life_joined,
	.leaving = life_leaving,
	.rang = life_rang,
};

/* Called by the watch alone: it counts its looks. */
static void node_watch(struct mios_node *node)
{
	if (!mutex_trylock(&node->lock))
		return;
	if (joined(node)) {
		bool hangs = mios_node_hangs(node);
		bool silent = mios_link_silent(node->id, node->incarnation);

		if ((hangs || silent) && mios_node_give_up(node)) {
			pr_warn("instance %u %s and is ended\n", node->id,
				hangs ? "hangs" : "is not heard");
			mios_node_reap(node);
		}
	}
	mutex_unlock(&node->lock);
}

static void watch(struct work_struct *work)
{
	unsigned int i;

	if (!fault_deaf_watch)
		nodes_check("unannounced");
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			node_watch(mios_node_get(i));
	schedule_delayed_work(&watch_work, WATCH_INTERVAL);
}

/**
 * mios_life_init - lend every node to instance 0 and start to watch
 */
int mios_life_init(void)
{
	unsigned int i;

	reaper_wq = alloc_workqueue("mios-reaper", WQ_UNBOUND, 0);
	if (!reaper_wq)
		return -ENOMEM;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node)
			continue;
		INIT_WORK(&node->reaper, reaper);
		mios_link_describe(i, node->id, node->nr_cpus, node->apicid,
				   node->size);
		mutex_lock(&node->lock);
		mios_memory_lend(node);
		mios_node_state(node, MIOS_STATE_DOWN);
		mutex_unlock(&node->lock);
	}
	schedule_delayed_work(&watch_work, WATCH_INTERVAL);
	return 0;
}

/**
 * mios_life_exit - end every instance and stop to watch
 */
void mios_life_exit(void)
{
	struct mios_reason unused;
	unsigned int i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node)
			continue;
		mutex_lock(&node->lock);
		kill_locked(node, &unused);
		mutex_unlock(&node->lock);
		/* Nobody else can take back a node whose CPUs still run. */
		wait_event(mios_state_wait,
			   READ_ONCE(node->state) == MIOS_STATE_DOWN);
	}
	/* Nobody calls mios_life_ops after this. */
	mios_link_quiet();
	cancel_delayed_work_sync(&watch_work);
	destroy_workqueue(reaper_wq);
}
