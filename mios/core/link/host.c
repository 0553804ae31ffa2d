// SPDX-License-Identifier: GPL-2.0
/*
 * The host's part of the link: areas, and what the boot code says of the
 * instances that it starts and ends.  Instance 0, and for what ends them who
 * has taken its place (role.c); called by mios/core/node/ in process context.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/err.h>
#include <linux/export.h>

#include "ring.h"

/* Serialises the making of areas, which is too slow for link_lock. */
static DEFINE_MUTEX(area_lock);

static struct mios_ring *host_ring_make(u32 id)
{
	struct mios_geometry g;
	struct mios_ring *ring;
	void *area;
	u64 base;

	area = mios_area_alloc(id, mios_link.nr, &base, &g);
	if (!area)
		return NULL;
	ring = mios_member_ring(id, area, base, &g);
	if (!ring) {
		mios_area_free(area, &g);
		return NULL;
	}
	mutex_lock(&mios_link.lock);
	mios_view_fill(ring);
	mios_cpu_owner_fill(ring);
	mios_quiet_publish(ring);
	mios_hostlog_start(ring);
	mios_self_publish(ring, MIOS_DESC_UP);
	mios_ring_use(ring);
	mutex_unlock(&mios_link.lock);
	return ring;
}

static struct mios_ring *host_ring(u32 id)
{
	struct mios_ring *ring;

	/* A successor has the one that it is in. */
	if (!mios_link.host)
		return READ_ONCE(mios_link.declares) ? mios_ring_get(id) : NULL;
	if (id >= MIOS_MAX_RINGS)
		return NULL;
	mutex_lock(&area_lock);
	ring = mios_ring_get(id) ?: host_ring_make(id);
	mutex_unlock(&area_lock);
	return ring;
}

int mios_link_area(u32 ring, u64 *base, u64 *size)
{
	struct mios_ring *r = host_ring(ring);

	if (!r)
		return mios_link.host ? -ENOMEM : -EPERM;
	*base = r->base;
	*size = r->g.area_size;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mios_link_area, MIOS);

static void tell_all(u32 instance)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	mios_event_tell(MIOS_EVENT_STATE, 0, instance, 0);
}

void mios_link_describe(u32 instance, const struct mios_link_node *node)
{
	struct mios_area_node *to;
	struct mios_view view;
	u32 i;

	if (!mios_link.host || instance >= mios_link.nr)
		return;
	to = &mios_link.nodes.of[instance];
	mutex_lock(&mios_link.lock);
	mios_view_get(instance, &view);
	view.node = node->node;
	view.nr_cpus = node->nr_cpus;
	view.memory = node->memory;
	if (!(view.stamp >> 32))
		view.ring = -1;
	mios_view_set(instance, &view);
	mios_cpu_owner_set(instance, node->apicid, node->nr_cpus);
	*to = (struct mios_area_node){
		.head = node->ranges[0].base,
		.slice = node->slice,
		.cpus = mios_crc32(node->apicid, node->nr_cpus *
				   sizeof(*node->apicid)),
	};
	for (i = 0; i < node->nr_ranges && i < MIOS_AREA_PIECES; i++) {
		to->pieces[i].base = node->ranges[i].base / MIOS_HEAD_SIZE;
		to->pieces[i].size = node->ranges[i].size / MIOS_HEAD_SIZE;
	}
	mutex_unlock(&mios_link.lock);
}

void mios_link_describe_epoch(u64 page)
{
	mios_link.nodes.epoch = page;
}

int mios_link_expect(u32 ring, u32 instance, u32 incarnation)
{
	struct mios_view view;

	if (!instance || instance >= mios_link.nr || !incarnation)
		return -EINVAL;
	if (!host_ring(ring))
		return -ENOMEM;
	mutex_lock(&mios_link.lock);
	if (!mios_link.host && !mios_link.declares) {
		mutex_unlock(&mios_link.lock);
		return -ESHUTDOWN;
	}
	mios_view_get(instance, &view);
	view.ring = ring;
	view.stamp = (u64)incarnation << 32 | (u32)view.stamp;
	mios_view_set(instance, &view);
	mutex_unlock(&mios_link.lock);
	return 0;
}

void mios_link_state(u32 instance, enum mios_state state)
{
	struct mios_view view;
	bool changed;

	if (!instance || instance >= mios_link.nr)
		return;
	mutex_lock(&mios_link.lock);
	mios_view_get(instance, &view);
	changed = mios_link.declares && (u32)view.stamp != state;
	if (state == MIOS_STATE_DOWN || state == MIOS_STATE_CLAIMED)
		view.ring = -1;
	view.stamp = view.stamp >> 32 << 32 | state;
	if (changed)
		mios_view_set(instance, &view);
	mutex_unlock(&mios_link.lock);
	if (!changed)
		return;
	tell_all(instance);
	mios_ring_scan_all();
}

/* Speak for the one that cannot any more, so that nobody takes it for alive. */
static void desc_bury(struct mios_ring *ring, u32 instance, u32 incarnation)
{
	struct mios_desc *desc = mios_area_desc(ring->area, &ring->g, instance);
	struct mios_area_cpus *cpus = mios_area_cpus(ring->area, instance);
	struct mios_desc_body *body = &ring->look;

	mutex_lock(&mios_link.lock);
	if (!mios_desc_read(desc, cpus, body, ring->id, instance) &&
	    body->incarnation == incarnation) {
		body->state = MIOS_DESC_DEAD;
		mios_desc_write(desc, body);
	} else {
		memset(desc, 0, sizeof(*desc));
	}
	mutex_unlock(&mios_link.lock);
}

void mios_link_dead(u32 instance, u32 incarnation)
{
	struct mios_ring *ring;
	struct mios_view view;

	if (!READ_ONCE(mios_link.declares) || !instance ||
	    instance >= mios_link.nr)
		return;
	mutex_lock(&mios_link.lock);
	mios_view_get(instance, &view);
	mios_view_advance(instance, incarnation, MIOS_STATE_DEAD);
	mutex_unlock(&mios_link.lock);
	ring = mios_ring_get(view.ring);
	if (!ring || view.stamp >> 32 != incarnation)
		return;
	desc_bury(ring, instance, incarnation);
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	mios_event_tell(MIOS_EVENT_STATE, ring->id, instance, incarnation);
	queue_work(mios_link.wq, &ring->scan);
}

int mios_link_request_shutdown(u32 instance)
{
	if (!READ_ONCE(mios_link.declares) || !instance)
		return -EINVAL;
	return mios_send_wait(instance, MIOS_MSG_SHUTDOWN, NULL, 0, 1000);
}
