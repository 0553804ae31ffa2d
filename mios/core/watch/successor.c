// SPDX-License-Identifier: GPL-2.0
/*
 * When instance 0 has died one of the others is host (mios/core/link/role.c):
 * it watches the members of ring 0, fences and buries who has ended, with the
 * same code as instance 0, from what the ring area says of their nodes.  It
 * gives nothing back: a dead node stays as it is, with its CPUs parked, until it
 * is booted again.  Called by the link, from one worker, and by main.c.
 */
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../end/end.h"
#include "../link/heir.h"
#include "../link/link.h"
#include "watch.h"

static bool ready;	/* all that is needed to be host is there */

/* What stands there would be written to. */
static bool is_foreign(u64 base, u64 size)
{
	return region_intersects(base, size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_DISJOINT;
}

static int node_describe(struct mios_node *node, const struct mios_heir *heir)
{
	int err = 0;
	u32 i;

	if (!is_foreign(heir->slice, MIOS_SLICE_SIZE))
		return -EBADMSG;
	for (i = 0; i < MIOS_AREA_PIECES; i++)
		if (heir->ranges[i].size &&
		    !is_foreign(heir->ranges[i].base, heir->ranges[i].size))
			return -EBADMSG;
	mutex_lock(&node->lock);
	node->kept = true;
	node->nr_ranges = 0;
	for (i = 0; i < MIOS_AREA_PIECES && heir->ranges[i].size; i++)
		node->ranges[node->nr_ranges++] = heir->ranges[i];
	node->slice = heir->slice;
	node->nr_cpus = heir->nr_cpus;
	memcpy(node->apicid, heir->apicid,
	       heir->nr_cpus * sizeof(*heir->apicid));
	if (!node->head)
		err = mios_node_head_map(node);
	mutex_unlock(&node->lock);
	return err;
}

/* -ENOMEM: it is tried again.  One that cannot be stopped is left out. */
static int node_prepare(u32 instance, struct mios_heir *heir)
{
	struct mios_node *node;
	int err = mios_link_heir(instance, heir);

	if (err == -ENODEV)
		return 0;
	node = mios_node_add(instance);
	if (!node)
		return -ENOMEM;
	err = err ?: node_describe(node, heir);
	if (err && err != -ENOMEM)
		pr_err("instance %u: what the ring area says of its CPUs or memory is not to be used: nobody declares its death\n",
		       instance);
	return err == -ENOMEM ? err : 0;
}

/**
 * mios_successor_prepare - make ready to end others
 *
 * Return: 0; -ENOMEM: then this instance must not be host.
 */
int mios_successor_prepare(void)
{
	struct mios_heir *heir;
	int err = 0;
	u32 i;

	if (ready)
		return 0;
	heir = kvzalloc(sizeof(*heir), GFP_KERNEL);
	if (!heir)
		return -ENOMEM;
	mios_epoch_init(is_foreign(mios_link_epoch(), PAGE_SIZE) ?
			mios_link_epoch() : 0);
	for (i = 1; i < mios_link_nr() && !err; i++)
		if (i != mios_link_self())
			err = node_prepare(i, heir);
	kvfree(heir);
	err = err ?: mios_reaper_init();
	ready = !err;
	return err;
}

/*
 * Of another ring nobody here hears, and what cannot be stopped is left out: as
 * if they were down.  One that is being fenced has perhaps had its INIT, and an
 * NMI may wake a CPU then.
 */
static void node_take(struct mios_node *node)
{
	s32 ring;
	u64 stamp = mios_link_stamp(node->id, &ring);

	mutex_lock(&node->lock);
	/* Of one that is held for a dump instance 0 had the CPUs again. */
	if (!node->head || ring || (u32)stamp == MIOS_STATE_HELD)
		stamp = node_stamp(stamp >> 32, MIOS_STATE_DOWN);
	if ((u32)stamp == MIOS_STATE_FENCING)
		node->stopped = stamp >> 32;
	node->ring = ring;
	WRITE_ONCE(node->owing, (u32)stamp == MIOS_STATE_DEAD ?
		   mios_link_owing(node->id, stamp >> 32) : 0);
	WRITE_ONCE(node->stamp, stamp);
	mios_epoch_passed(node->id, stamp >> 32);
	mutex_unlock(&node->lock);
}

/**
 * mios_successor_take_over - watch the others from now on
 *
 * Prepared; in the link's worker.
 */
void mios_successor_take_over(void)
{
	u32 i;

	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			node_take(mios_node_get(i));
	mios_hang_inherit();
	mios_watch_start();
}

/**
 * mios_successor_resign - watch them no more; what has been begun is done
 *
 * A reaper that found this one host is waited for, before the next host boots what
 * it stops; and who has begun a boot.  What becomes of the nodes is still told.
 */
void mios_successor_resign(void)
{
	mios_watch_stop();
	mios_reaper_flush();
	mios_nodes_disown();
}

/**
 * mios_successor_exit - on an instance but 0: be host no more, never again
 */
void mios_successor_exit(void)
{
	u32 i;

	mios_link_quiet();
	if (ready)
		mios_reaper_exit();
	ready = false;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i))
			mios_node_head_unmap(mios_node_get(i));
	mios_nodes_exit();
}
