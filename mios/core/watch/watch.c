// SPDX-License-Identifier: GPL-2.0
/*
 * Instances that end by themselves: the watch looks at every manifest for last
 * words that no doorbell has announced, and at every instance for hangs; what
 * the link hears of an end comes here, too.  See node/state.c for the states.
 */
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../end/end.h"
#include "../link/link.h"
#include "watch.h"

/* How often to look for last words. */
#define WATCH_INTERVAL	(HZ / MIOS_WATCH_HZ)
/* When to look again at a node that somebody else had just then. */
#define BUSY_DELAY	(HZ / 50)

MIOS_INJECT_SWITCH(deaf_watch, "find no end that nobody announces");

static void watch(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch);
static void announced(struct work_struct *work);
static DECLARE_DELAYED_WORK(announced_work, announced);

static bool watching;	/* this instance is host */

/*
 * A kernel that ends says so in its manifest too, when its devices are shut
 * down and its log is complete; if it does not get that far it is ended.  One
 * that has only left its ring is out of reach for good, and ended at once.
 */
static bool is_overdue(struct mios_node *node)
{
	static const unsigned int grace[] = {
		[MIOS_END_ORDERLY] = 30 * HZ,
		[MIOS_END_PANIC] = 2 * HZ,
		[MIOS_END_UNLOAD] = 0,
	};
	u64 leaving = READ_ONCE(node->leaving);
	u32 how = leaving;

	if (leaving >> 32 != incarnation_of(node) || how >= ARRAY_SIZE(grace))
		return false;
	if (how == MIOS_END_PANIC)
		node->crashed = true;
	if (!node->overdue)
		node->overdue = (jiffies + grace[how]) ?: 1;
	return time_after_eq(jiffies, node->overdue);
}

/* @how it came to be looked at is for the log; false: busy elsewhere. */
static bool node_check(struct mios_node *node, const char *how)
{
	u32 state;

	if (!mutex_trylock(&node->lock))
		return false;
	if (node->head && node_running(node)) {
		/* Pairs with the release in mios_end(): the log is complete. */
		state = smp_load_acquire(&mios_node_manifest(node)->state);
		if (state != MIOS_CHILD_LOADED && state != MIOS_CHILD_ALIVE) {
			pr_info("instance %u has ended (%u), %s\n", node->id,
				state, how);
			mios_node_reap(node);
		} else if (is_overdue(node)) {
			pr_warn("instance %u does not finish ending\n",
				node->id);
			mios_node_reap(node);
		}
	} else if (state_of(node) == MIOS_STATE_FENCING ||
		   (state_of(node) == MIOS_STATE_DEAD &&
		    (!node->kept || node->owing))) {
		mios_node_reap_more(node);
	} else if (state_of(node) == MIOS_STATE_HELD) {
		mios_node_hold_check(node);
	}
	mutex_unlock(&node->lock);
	return true;
}

static bool is_ending(struct mios_node *node)
{
	return READ_ONCE(node->leaving) >> 32 == incarnation_of(node) &&
	       node_running(node);
}

/*
 * Last words carry no reason, and two interrupts that meet are one: while
 * somebody is ending every doorbell may be his.  A node is declared to be
 * ending before its last words are looked for, so none falls in between.
 */
static bool nodes_check(const char *how)
{
	bool all = true;
	unsigned int i;

	mios_bell_ending(false);
	if (!READ_ONCE(watching))
		return true;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node)
			continue;
		if (is_ending(node))
			mios_bell_ending(true);
		if (!node_check(node, how))
			all = false;
	}
	return all;
}

/* Nobody rings twice: what was busy is looked at until it is not. */
static void life_rang(void)
{
	if (!nodes_check("as announced"))
		schedule_delayed_work(&announced_work, BUSY_DELAY);
}

static void announced(struct work_struct *work)
{
	life_rang();
}

/*
 * The two below run on the link's queue, where the acknowledgements that the
 * reaper waits for come in: so they must not wait for a node's lock.
 */
static void life_joined(u32 instance, u32 incarnation)
{
	struct mios_node *node = mios_node_get(instance);

	if (!node)
		return;
	/* Loses against a kill, and against the next boot, as it should. */
	cmpxchg(&node->stamp, node_stamp(incarnation, MIOS_STATE_BOOTING),
		node_stamp(incarnation, MIOS_STATE_UP));
	wake_up_all(&mios_state_wait);
}

static void life_leaving(u32 instance, u32 incarnation, enum mios_ending how)
{
	struct mios_node *node = mios_node_get(instance);
	u64 said = node_stamp(incarnation, how);
	u64 before;

	if (!node)
		return;
	/* Only forward: who is late says nothing about the next incarnation. */
	before = READ_ONCE(node->leaving);
	while ((s32)(incarnation - (u32)(before >> 32)) >= 0)
		if (try_cmpxchg(&node->leaving, &before, said))
			break;
	if (!nodes_check("after it left"))
		schedule_delayed_work(&announced_work, BUSY_DELAY);
}

/* What the link tells us. */
const struct mios_link_ops mios_life_ops = {
	.joined = life_joined,
	.leaving = life_leaving,
	.rang = life_rang,
	.prepare = mios_successor_prepare,
	.take_over = mios_successor_take_over,
	.resign = mios_successor_resign,
};

/* Called by the watch alone: it counts its looks. */
static void node_watch(struct mios_node *node)
{
	if (!mutex_trylock(&node->lock))
		return;
	if (node_joined(node)) {
		const char *why = mios_node_hangs(node);

		if (why && mios_node_give_up(node)) {
			pr_warn("instance %u %s and is ended\n", node->id, why);
			mios_node_reap(node);
		}
	}
	mutex_unlock(&node->lock);
}

static void watch(struct work_struct *work)
{
	unsigned int i;

	if (!mios_manifest())
		mios_hang_publish();
	if (!inject_deaf_watch)
		nodes_check("unannounced");
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			node_watch(mios_node_get(i));
	if (READ_ONCE(watching))
		schedule_delayed_work(&watch_work, WATCH_INTERVAL);
}

/**
 * mios_watch_start - look at every node from now on
 */
void mios_watch_start(void)
{
	WRITE_ONCE(watching, true);
	schedule_delayed_work(&watch_work, WATCH_INTERVAL);
}

/**
 * mios_watch_stop - look at none any more; not in one of the looks
 */
void mios_watch_stop(void)
{
	WRITE_ONCE(watching, false);
	cancel_delayed_work_sync(&announced_work);
	cancel_delayed_work_sync(&watch_work);
}

static void node_describe(const struct mios_node *node)
{
	const struct mios_link_node known = {
		.node = node->id,
		.nr_cpus = node->nr_cpus,
		.apicid = node->apicid,
		.memory = node->size,
		.ranges = node->ranges,
		.nr_ranges = node->nr_ranges,
		.slice = node->slice,
	};

	mios_link_describe(node->id, &known);
}

/**
 * mios_life_init - lend every node to instance 0 and start to watch
 */
int mios_life_init(void)
{
	unsigned int i;
	int err;

	err = mios_reaper_init();
	if (err)
		return err;
	mios_link_describe_epoch(mios_epoch_page());
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = mios_node_get(i);

		if (!node)
			continue;
		node_describe(node);
		mutex_lock(&node->lock);
		mios_memory_lend(node);
		mios_node_state(node, MIOS_STATE_DOWN);
		mutex_unlock(&node->lock);
	}
	mios_watch_start();
	return 0;
}

/**
 * mios_life_exit - end every instance and stop to watch
 */
void mios_life_exit(void)
{
	mios_nodes_kill_all();
	/* Nobody calls mios_life_ops after this. */
	mios_link_quiet();
	mios_watch_stop();
	mios_reaper_exit();
}
