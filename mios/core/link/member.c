// SPDX-License-Identifier: GPL-2.0
/*
 * Who is a member of a ring: looks at every descriptor, opens channels with
 * those that have come, closes them with those that have gone, and keeps the
 * own link to the next one.  Runs as a work item when a doorbell says that
 * something has changed, and every second anyway.
 *
 * Joining is safe when several do it at once (JOIN): each publishes its own
 * descriptor before it looks for others, with a full barrier between, so of
 * two at least one sees the other, opens its ends and rings; the other then
 * looks again.  A member counts as joined when both sides have opened.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/slab.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(leak_peer, "lose a page when a peer is dropped");
MIOS_INJECT_TIMES(no_restore, "leave what a peer has overwritten in the area");
MIOS_INJECT_TIMES(early_ack, "confirm a death before the listeners are told");

/* What one look has found, told when the lock has been dropped. */
struct findings {
	u64 joined;
	u64 left;
	u64 changed;
	u64 stopping;
	u32 joined_as[MIOS_AREA_INSTANCES];	/* incarnations: both may */
	u32 left_as[MIOS_AREA_INSTANCES];	/* happen at one look */
	u8 ended[MIOS_AREA_INSTANCES];	/* enum mios_desc_state */
	struct mios_deaths deaths;
};

/* The stamps of all views at the last look. */
static u64 seen[MIOS_AREA_INSTANCES];

static void peer_drop(struct mios_peer *peer, struct findings *found)
{
	if (peer->state == MIOS_PEER_ABSENT)
		return;
	if (peer->state == MIOS_PEER_JOINED)
		WRITE_ONCE(mios_link.peer_of[peer->instance], NULL);
	WRITE_ONCE(peer->state, MIOS_PEER_ABSENT);
	mios_peer_close(peer);
	mios_call_abort(peer->instance);
	if (mios_inject(leak_peer))
		kmalloc(PAGE_SIZE, GFP_KERNEL);
	found->left |= BIT_ULL(peer->instance);
	found->left_as[peer->instance] = peer->incarnation;
}

static void peer_accept(struct mios_peer *peer)
{
	WRITE_ONCE(peer->apicid, peer->desc.doorbell_apicid);
	WRITE_ONCE(peer->vector, peer->desc.doorbell_vector);
	mios_peer_open(peer, peer->desc.incarnation);
	peer->stopping = false;
	WRITE_ONCE(peer->state, MIOS_PEER_ACCEPTED);
	mios_bell_ring(peer, MIOS_BELL_CHANGE);
}

static void peer_join(struct mios_peer *peer, struct findings *found)
{
	if (!mios_peer_ready(peer))
		return;
	WRITE_ONCE(peer->state, MIOS_PEER_JOINED);
	WRITE_ONCE(mios_link.peer_of[peer->instance], peer);
	found->joined |= BIT_ULL(peer->instance);
	found->joined_as[peer->instance] = peer->incarnation;
	if (READ_ONCE(mios_link.declares))
		mios_view_advance(peer->instance, peer->incarnation,
				  MIOS_STATE_UP);
}

/* Once for each incarnation and kind of error. */
static void peer_complain(struct mios_peer *peer, u32 incarnation, int err)
{
	u64 key = (u64)incarnation << 32 | (u32)-err;

	peer->refused++;
	if (peer->complaint == key)
		return;
	peer->complaint = key;
	if (err == -ESTALE)
		pr_warn("instance %u: incarnation %u is not expected; ignored\n",
			peer->instance, incarnation);
	else
		pr_warn("instance %u: its descriptor is %s; ignored\n",
			peer->instance,
			err == -EPROTO ? "of another version" :
			err == -EPERM ? "about CPUs that are not its own" :
			"damaged");
}

/* Its kernel has begun to end in order.  The host waits for that so long. */
static void peer_stops(struct mios_peer *peer, struct findings *found)
{
	if (!READ_ONCE(mios_link.declares) || peer->stopping)
		return;
	peer->stopping = true;
	found->stopping |= BIT_ULL(peer->instance);
	if (mios_view_advance(peer->instance, peer->incarnation,
			      MIOS_STATE_STOPPING))
		found->changed |= BIT_ULL(peer->instance);
}

static void peer_update(struct mios_peer *peer, struct findings *found)
{
	WRITE_ONCE(peer->apicid, peer->desc.doorbell_apicid);
	WRITE_ONCE(peer->vector, peer->desc.doorbell_vector);
	if (peer->desc.state == MIOS_DESC_STOPPING)
		peer_stops(peer, found);
	if (mios_peer_answer(peer))
		mios_bell_ring(peer, MIOS_BELL_CHANGE);
	if (mios_peer_repair(peer))
		mios_bell_ring(peer, MIOS_BELL_CHANGE);
	if (peer->state == MIOS_PEER_ACCEPTED)
		peer_join(peer, found);
}

/*
 * Being fenced, or dead with its descriptor not rewritten yet: nothing to
 * complain about.
 */
static bool is_dying(u32 instance, u32 incarnation)
{
	struct mios_view view;

	mios_view_get(instance, &view);
	return view.stamp >> 32 == incarnation &&
	       ((u32)view.stamp == MIOS_STATE_FENCING ||
		(u32)view.stamp == MIOS_STATE_DEAD ||
		(u32)view.stamp == MIOS_STATE_DOWN);
}

/* Who joins when instance 0 has died has never seen it live. */
static void host_ended(const struct mios_desc_body *desc)
{
	struct mios_view view;

	mios_view_get(0, &view);
	if (view.stamp >> 32 == desc->incarnation)
		mios_death_host(desc->incarnation,
				desc->state == MIOS_DESC_PANICKED);
}

/* One row of docs/channels.md, "Membership", per return. */
static void peer_look(struct mios_ring *ring, struct mios_peer *peer,
		      struct findings *found)
{
	struct mios_desc *shared = mios_area_desc(ring->area, &ring->g,
						  peer->instance);
	struct mios_area_cpus *cpus = mios_area_cpus(ring->area,
						     peer->instance);
	struct mios_desc_body *desc = &ring->look;
	int err;

	if (peer->state != MIOS_PEER_ABSENT &&
	    !mios_view_keeps(ring->id, peer->instance, peer->incarnation)) {
		peer_drop(peer, found);
		return;
	}
	err = mios_desc_read(shared, cpus, desc, ring->id, peer->instance);
	if (err == -ENOENT || err == -EAGAIN)
		return;
	if (err) {
		peer_complain(peer, 0, err);
		return;
	}
	if (peer->state != MIOS_PEER_ABSENT &&
	    (desc->incarnation != peer->incarnation || !mios_desc_alive(desc))) {
		/* By its own word. */
		if (desc->incarnation == peer->incarnation)
			found->ended[peer->instance] = desc->state;
		peer_drop(peer, found);
	}
	if (!mios_desc_alive(desc)) {
		if (!peer->instance)
			host_ended(desc);
		return;
	}
	if (!mios_view_admits(ring->id, peer->instance, desc->incarnation)) {
		if (!is_dying(peer->instance, desc->incarnation))
			peer_complain(peer, desc->incarnation, -ESTALE);
		return;
	}
	peer->desc = *desc;
	if (peer->state == MIOS_PEER_ABSENT)
		peer_accept(peer);
	peer_update(peer, found);
}

/* The next higher one that we have a channel to, or the lowest. */
static void ring_relink(struct mios_ring *ring)
{
	u32 next = MIOS_NO_INSTANCE;
	u32 step, i;

	for (step = 1; step < ring->g.nr && next == MIOS_NO_INSTANCE; step++) {
		i = (mios_link.self + step) % ring->g.nr;
		if (ring->peers[i].state != MIOS_PEER_ABSENT)
			next = i;
	}
	if (ring->body.next == next)
		return;
	ring->body.next = next;
	if (ring->published)
		mios_self_publish(ring, ring->body.state);
}

/* On a child: which states has the host published since the last look? */
static void views_look(struct findings *found)
{
	struct mios_view view;
	u32 i;

	if (mios_link.host)
		return;
	for (i = 0; i < mios_link.nr; i++) {
		mios_view_get(i, &view);
		if (view.stamp == seen[i])
			continue;
		seen[i] = view.stamp;
		found->changed |= BIT_ULL(i);
	}
}

static void findings_tell(struct mios_ring *ring, const struct findings *found)
{
	const struct mios_link_ops *ops = READ_ONCE(mios_link.ops);
	u32 i;

	for (i = 0; i < ring->g.nr; i++) {
		u64 bit = BIT_ULL(i);
		u32 left = found->left_as[i];
		u32 joined = found->joined_as[i];

		if (found->left & bit)
			mios_event_tell(MIOS_EVENT_LEFT, ring->id, i, left);
		if ((found->left & bit) && found->ended[i] && ops && ops->leaving)
			ops->leaving(i, left, mios_ending_of(found->ended[i]));
		if ((found->stopping & bit) && ops && ops->leaving)
			ops->leaving(i, READ_ONCE(ring->peers[i].incarnation),
				     MIOS_END_ORDERLY);
		if (found->joined & bit)
			mios_event_tell(MIOS_EVENT_JOINED, ring->id, i, joined);
		if ((found->joined & bit) && ops && ops->joined)
			ops->joined(i, joined);
		if ((found->joined | found->left | found->changed) & bit)
			mios_event_tell(MIOS_EVENT_STATE, ring->id, i,
					joined ?: left);
	}
}

/* Others cannot know it better, so what stands there is not asked. */
static void host_restore(struct mios_ring *ring)
{
	if (mios_inject(no_restore))
		return;
	mios_area_restore(ring);
	mios_hostlog_restore(ring);
	mios_view_fill(ring);
	mios_cpu_owner_fill(ring);
	mios_quiet_publish(ring);
}

void mios_member_scan(struct work_struct *work)
{
	struct mios_ring *ring = container_of(work, struct mios_ring, scan);
	struct findings *found = kzalloc(sizeof(*found), GFP_KERNEL);
	struct mios_peer *peer;

	if (!found)
		return;		/* the next tick looks again */
	mutex_lock(&mios_link.lock);
	smp_mb(); /* JOIN */
	for_each_mios_peer(peer, ring)
		peer_look(ring, peer, found);
	ring_relink(ring);
	mios_self_check(ring);
	mios_held_publish(ring);
	if (mios_link.host)
		host_restore(ring);
	else if (mios_link.declares)
		mios_view_fill(ring);
	views_look(found);
	mios_death_look(ring, &found->deaths);
	mutex_unlock(&mios_link.lock);
	findings_tell(ring, found);
	if (found->joined && READ_ONCE(mios_link.declares))
		mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	mios_death_prepare(ring, &found->deaths);
	if (mios_inject(early_ack))
		mios_death_ack(ring, &found->deaths);
	mios_death_tell(ring, &found->deaths);
	mutex_lock(&mios_link.lock);
	mios_death_ack(ring, &found->deaths);
	mutex_unlock(&mios_link.lock);
	kfree(found);
	mios_role_look(ring);
}

struct mios_ring *mios_member_ring(u32 id, void *area, u64 base,
				   const struct mios_geometry *g)
{
	struct mios_ring *ring = mios_ring_create(id, area, base, g);

	if (!ring)
		return NULL;
	INIT_WORK(&ring->bh, mios_message_bh);
	INIT_WORK(&ring->scan, mios_member_scan);
	mios_self_init(ring);
	return ring;
}

/* This instance leaves. */
void mios_member_drop_all(struct mios_ring *ring)
{
	struct findings *found = kzalloc(sizeof(*found), GFP_KERNEL | __GFP_NOFAIL);
	struct mios_peer *peer;

	mutex_lock(&mios_link.lock);
	for_each_mios_peer(peer, ring)
		peer_drop(peer, found);
	mutex_unlock(&mios_link.lock);
	findings_tell(ring, found);
	kfree(found);
}
