// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the link: on instance 0 it becomes able to host rings, in a child
 * it maps the ring area and joins, which is the sync point.  Called by
 * mios/core/main.c; also answers what is known of an instance.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#include <asm/mios.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "ring.h"

struct mios_link mios_link = {
	.lock = __MUTEX_INITIALIZER(mios_link.lock),
};

u32 mios_link_self(void)
{
	return mios_link.self;
}
EXPORT_SYMBOL_NS_GPL(mios_link_self, MIOS);

u32 mios_link_nr(void)
{
	return mios_link.nr;
}
EXPORT_SYMBOL_NS_GPL(mios_link_nr, MIOS);

const struct mios_range *mios_link_pools(void)
{
	return mios_link.pools;
}
EXPORT_SYMBOL_NS_GPL(mios_link_pools, MIOS);

static void identity(const struct mios_link_host *host)
{
	const struct mios_manifest *m = mios_manifest();

	mios_link.host = !m;
	mios_link.self = m ? m->instance : 0;
	mios_link.incarnation = m ? m->incarnation : host->incarnation;
	mios_link.node = m ? m->node : first_online_node;
	/* A child learns from the area how many there are. */
	mios_link.nr = m ? m->instance + 1 : host->nr;
	if (host)
		memcpy(mios_link.pools, host->pools, sizeof(mios_link.pools));
	mios_link.ops = m ? NULL : host->ops;
}

/* What the others read about instance 0 before they know its descriptor. */
static void host_init(void)
{
	struct mios_view view = {
		.stamp = (u64)mios_link.incarnation << 32 | MIOS_STATE_UP,
		.memory = mios_self_memory(),
		.node = mios_link.node,
		.nr_cpus = num_online_cpus(),
	};

	mutex_lock(&mios_link.lock);
	mios_view_set(0, &view);
	mios_self_own(nr_cpu_ids);
	mutex_unlock(&mios_link.lock);
}

/* Nothing that a kernel has is in them: without, there is no /mios. */
static int pools_learn(const void *area)
{
	struct mios_area_pools *pools = kmalloc(sizeof(*pools), GFP_KERNEL);

	if (!pools)
		return -ENOMEM;
	if (mios_pools_read(area, pools))
		pr_err("what the ring area says of pools is damaged: nothing is shared\n");
	else
		memcpy(mios_link.pools, pools->of, sizeof(mios_link.pools));
	kfree(pools);
	return 0;
}

/*
 * The sync point.  The first look opens our ends to everybody who is there;
 * only then the descriptor says that we are, and they look at us.
 */
static int child_join(void)
{
	const struct mios_manifest *m = mios_manifest();
	struct mios_geometry g;
	struct mios_ring *ring;
	struct mios_peer *peer;
	void *area;

	if (m->ring >= MIOS_MAX_RINGS || !m->instance)
		return -EINVAL;
	area = mios_area_map(m->ring, m->area_base, m->area_size, &g);
	if (IS_ERR(area))
		return PTR_ERR(area);
	if (m->instance >= g.nr || pools_learn(area)) {
		mios_area_unmap(area);
		return -EBADMSG;
	}
	mios_link.nr = g.nr;
	ring = mios_ring_create(m->ring, area, m->area_base, &g);
	if (!ring) {
		mios_area_unmap(area);
		return -ENOMEM;
	}
	/* What the last incarnation said: nobody listens to us yet. */
	memset(ring->lines, 0, sizeof(*ring->lines));
	mios_death_attend(ring);
	/* And what it had open with those who have gone meanwhile. */
	for_each_mios_peer(peer, ring)
		mios_peer_close(peer);
	mios_ring_use(ring);
	mios_member_scan(&ring->scan);
	mutex_lock(&mios_link.lock);
	mios_self_publish(ring, MIOS_DESC_UP);
	mutex_unlock(&mios_link.lock);
	smp_mb(); /* JOIN: pairs with the one in mios_member_scan() */
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	queue_work(mios_link.wq, &ring->scan);
	return 0;
}

static void rings_destroy(void)
{
	struct mios_ring *ring;
	void *area;
	u32 i;

	for (i = 0; i < MIOS_MAX_RINGS; i++) {
		struct mios_geometry g;

		ring = mios_link.rings[i];
		if (!ring)
			continue;
		area = ring->area;
		g = ring->g;
		clear_bit(i, mios_link.in_use);
		WRITE_ONCE(mios_link.rings[i], NULL);
		mios_ring_destroy(ring);
		if (mios_link.host)
			mios_area_free(area, &g);
		else
			mios_area_unmap(area);
	}
}

static int workers_start(void)
{
	if (mios_link.host && mios_owned_init())
		return -ENOMEM;
	mios_link.wq = alloc_ordered_workqueue("mios-link", WQ_MEM_RECLAIM);
	if (!mios_link.wq)
		goto owned;
	mios_link.mail = alloc_workqueue("mios-mail", WQ_MEM_RECLAIM, 0);
	if (mios_link.mail)
		return 0;
	destroy_workqueue(mios_link.wq);
owned:
	mios_owned_exit();
	return -ENOMEM;
}

static void workers_stop(void)
{
	destroy_workqueue(mios_link.mail);
	destroy_workqueue(mios_link.wq);
	mios_owned_exit();
}

void mios_link_quiet(void)
{
	WRITE_ONCE(mios_link.ops, NULL);
	flush_workqueue(mios_link.wq);
	flush_workqueue(mios_link.mail);
}

int mios_link_init(const struct mios_link_host *host)
{
	int err;

	identity(host);
	err = workers_start();
	if (err)
		return err;
	err = mios_bell_init();
	if (err)
		goto workers;
	err = mios_message_init();
	if (err)
		goto bell;
	err = mios_self_watch();
	if (err)
		goto message;
	err = mios_beat_init();
	if (err)
		goto watch;
	if (mios_link.host)
		host_init();
	else
		err = child_join();
	if (err)
		goto beat;
	if (mios_link.host) {
		mios_hostlog_init();
		mios_whose_init();
	}
	mios_probe_init();
	return 0;

beat:
	mios_beat_exit();
watch:
	mios_self_unwatch();
message:
	mios_message_exit();
bell:
	mios_bell_exit();
	rings_destroy();
workers:
	workers_stop();
	return err;
}

void mios_link_exit(void)
{
	struct mios_ring *ring;
	u32 i;

	mios_probe_exit();
	if (mios_link.host) {
		mios_whose_exit();
		mios_hostlog_exit();
	}
	mios_beat_exit();
	mios_self_unwatch();
	mutex_lock(&mios_link.lock);
	mios_self_publish_all(MIOS_DESC_LEFT);
	mutex_unlock(&mios_link.lock);
	mios_bell_exit();
	for_each_mios_ring(ring, i) {
		cancel_work_sync(&ring->scan);
		mios_member_drop_all(ring);
	}
	mios_message_exit();
	rings_destroy();
	workers_stop();
}

/* --- what is known of an instance */

static void info_beat(struct mios_lines *lines, struct mios_info *info)
{
	struct mios_beat beat;
	u64 now = rdtsc_ordered();
	u32 i;

	info->beat_age_ms = -1;
	if (mios_seq_read((u32 *)&beat, (const u32 *)&lines->beat,
			  sizeof(beat)) || !beat.count)
		return;
	info->beat_age_ms = now > beat.tsc ?
			    div_u64(now - beat.tsc, tsc_khz) : 0;
	info->uptime_ms = div_u64(beat.uptime_ns, NSEC_PER_MSEC);
	info->memory_free = beat.memory_free;
	info->nr_running = beat.nr_running;
	for (i = 0; i < 3; i++)
		info->load[i] = beat.load[i];
}

/* Of a member: its own words, already checked. */
static void info_desc(const struct mios_desc_body *desc, struct mios_info *info)
{
	info->incarnation = desc->incarnation;
	info->ring = desc->ring;
	info->node = desc->node;
	info->nr_cpus = desc->nr_cpus;
	info->nr_apicids = desc->nr_cpus;
	info->memory = desc->memory_bytes;
	info->cost = desc->cost_bytes;
	info->next = desc->next;
	memcpy(info->release, desc->release, MIOS_RELEASE_LEN);
	memcpy(info->apicid, desc->apicid, sizeof(info->apicid));
}

static void info_view(u32 instance, struct mios_info *info)
{
	struct mios_view view;

	mios_view_get(instance, &view);
	info->state = (u32)view.stamp;
	info->incarnation = view.stamp >> 32;
	info->ring = view.ring;
	info->node = view.node;
	info->nr_cpus = view.nr_cpus;
	info->memory = view.memory;
	info->pool = mios_link.pools[instance];
	info->beat_age_ms = -1;
	info->next = MIOS_NO_INSTANCE;
}

static void info_peer(struct mios_ring *ring, u32 instance,
		      struct mios_info *info)
{
	struct mios_peer *peer = &ring->peers[instance];

	if (instance == mios_link.self) {
		info_desc(&ring->body, info);
		info_beat(ring->lines, info);
		return;
	}
	if (instance >= ring->g.nr || peer->state != MIOS_PEER_JOINED)
		return;
	info_desc(&peer->desc, info);
	info_beat(peer->lines, info);
	info->silent_ms = mios_suspect_ms(peer);
}

int mios_link_info(u32 instance, struct mios_info *info)
{
	struct mios_ring *ring;
	bool heard = false;
	u32 i;

	if (instance >= mios_link.nr)
		return -ENODEV;
	memset(info, 0, sizeof(*info));
	mutex_lock(&mios_link.lock);
	info_view(instance, info);
	for_each_mios_ring(ring, i) {
		info_peer(ring, instance, info);
		heard |= instance < ring->g.nr &&
			 ring->peers[instance].state == MIOS_PEER_JOINED;
	}
	/* It died without instance 0 saying so: it was instance 0. */
	if (!instance && !mios_link.host && !heard)
		info->state = MIOS_STATE_DEAD;
	/* The host of all rings stands in the first. */
	if (!instance && mios_link.host)
		info->ring = 0;
	mutex_unlock(&mios_link.lock);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mios_link_info, MIOS);

u32 mios_link_silent_ms(u32 instance, u32 incarnation)
{
	struct mios_ring *ring;
	u32 silent = 0;
	u32 i;

	mutex_lock(&mios_link.lock);
	for_each_mios_ring(ring, i) {
		struct mios_peer *peer = &ring->peers[instance];

		if (instance < ring->g.nr &&
		    peer->state == MIOS_PEER_JOINED &&
		    peer->incarnation == incarnation)
			silent = max(silent, mios_suspect_ms(peer));
	}
	mutex_unlock(&mios_link.lock);
	return silent;
}

u32 mios_link_distance(u32 from, u32 to)
{
	const struct mios_area_distances *d;
	struct mios_ring *ring;
	u32 i;

	if (from >= MIOS_AREA_INSTANCES || to >= MIOS_AREA_INSTANCES)
		return 0;
	if (mios_link.host)
		return node_possible(from) && node_possible(to) ?
		       node_distance(from, to) : 0;
	for_each_mios_ring(ring, i) {
		d = ring->area + MIOS_AREA_PAGE;
		return READ_ONCE(d->from[from][to]);
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mios_link_distance, MIOS);
