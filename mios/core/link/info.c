// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of an instance: from its descriptor and its heartbeat if it is
 * a member of a ring of ours, else what instance 0 has published of it.
 */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "../part/part.h"
#include "ring.h"

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

/* Only this kernel counts them; a session that begins meanwhile begins at 0. */
static void info_messages(const struct mios_peer *peer, struct mios_info *info)
{
	u32 class;

	for (class = 0; class < MIOS_CLASSES; class++) {
		info->sent += READ_ONCE(peer->out[class].p.messages);
		info->received += READ_ONCE(peer->in[class].c.messages);
	}
}

static void info_peer(struct mios_ring *ring, u32 instance,
		      struct mios_info *info)
{
	struct mios_peer *peer = &ring->peers[instance];

	if (instance == mios_link.self) {
		info_desc(&ring->body, info);
		info_beat(ring->lines, info);
		info->counted = mios_counted_read(ring->lines, info->counts);
		return;
	}
	if (instance >= ring->g.nr || peer->state != MIOS_PEER_JOINED)
		return;
	info_desc(&peer->desc, info);
	info_beat(peer->lines, info);
	info->silent_ms = mios_suspect_ms(peer);
	info->counted = mios_counted_read(peer->lines, info->counts);
	info_messages(peer, info);
}

/*
 * Its last heartbeat says what its log's clock was at which TSC, also when it has
 * died.  The beat is of this boot of it if the descriptor beside it is: who joins
 * clears its lines before it writes that (child_join()), so until its first
 * tick there is no beat.  Whatever stands there, the result is only shown.
 */
static void info_log(struct mios_ring *ring, u32 instance,
		     struct mios_info *info)
{
	const u64 rate = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	const struct mios_desc *desc;
	struct mios_lines *lines;
	struct mios_beat beat;
	u64 tsc, real;

	if (instance >= ring->g.nr)
		return;
	desc = mios_area_desc(ring->area, &ring->g, instance);
	lines = mios_area_lines(ring->area, &ring->g, instance);
	if (!info->incarnation ||
	    READ_ONCE(desc->body.incarnation) != info->incarnation ||
	    mios_seq_read((u32 *)&beat, (const u32 *)&lines->beat,
			  sizeof(beat)) || !beat.count)
		return;
	mios_instant(ktime_get_real_ns, &tsc, &real);
	if (tsc >= beat.tsc)
		info->log_start = real - beat.log_ns -
				  mul_u64_u64_shr(tsc - beat.tsc, rate, 32);
}

int mios_link_info(u32 instance, struct mios_info *info)
{
	struct mios_ring *ring;
	bool heard = false;
	u32 i;

	if (instance >= mios_link.nr)
		return -ENODEV;
	memset(info, 0, sizeof(*info));
	info->instance = instance;
	mutex_lock(&mios_link.lock);
	info_view(instance, info);
	for_each_mios_ring(ring, i) {
		info_peer(ring, instance, info);
		info_log(ring, instance, info);
		heard |= instance < ring->g.nr &&
			 ring->peers[instance].state == MIOS_PEER_JOINED;
	}
	if (!info->nr_apicids)
		info->nr_apicids = mios_cpu_owner_get(instance, info->apicid);
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

struct mios_copies *mios_link_copies(u32 instance)
{
	struct mios_ring *ring = mios_ring_get(0);

	return ring && instance < ring->g.nr ?
	       mios_area_copies(ring->area, &ring->g, instance) : NULL;
}
EXPORT_SYMBOL_NS_GPL(mios_link_copies, MIOS);

u32 mios_link_distance(u32 from, u32 to)
{
	const struct mios_area_distances *d;
	struct mios_ring *ring;
	u32 i;

	if (from >= MIOS_AREA_INSTANCES || to >= MIOS_AREA_INSTANCES)
		return 0;
	if (mios_link.host)
		return mios_part_distance(from, to);
	for_each_mios_ring(ring, i) {
		d = ring->area + MIOS_AREA_PAGE;
		return READ_ONCE(d->from[from][to]);
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mios_link_distance, MIOS);
