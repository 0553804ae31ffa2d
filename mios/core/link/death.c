// SPDX-License-Identifier: GPL-2.0
/*
 * How a death sinks in.  The host says in its view that every CPU of an
 * incarnation has been stopped; each member then closes its channels, tells
 * its listeners (MIOS_EVENT_DEAD), who give up what they shared with it, and
 * only then acknowledges that very incarnation.  What the dead one had is used
 * again when all have acknowledged who might still use it.
 *
 * A view is read once for all of that: what is acknowledged is what has been
 * told.  Called by member.c at each scan, by host.c for instance 0; everything
 * here is guarded by link_lock.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <uapi/linux/mios.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(no_ack, "never confirm that a peer is dropped");

MIOS_INJECT_SWITCH(no_fenced, "tell of a death only when its calls are over");

MIOS_INJECT_VALUE(slow_death,
		  "a listener takes so many milliseconds for a death, less when it is set lower");

/**
 * struct life - what has been seen of one instance
 * @known:	its last incarnation in a view, 0: none
 * @fenced:	the last one of which listeners know that it runs no more
 * @told:	the last one whose death all listeners have been told
 */
struct life {
	u32 known;
	u32 fenced;
	u32 told;
};

static struct life lives[MIOS_AREA_INSTANCES];
static u32 host_over;		/* the boot of instance 0 that has ended, or 0 */
static bool host_panicked;	/* it has left its devices as they were */

/* Who looks late finds that the node has gone on since. */
static bool is_over(u32 state)
{
	return state == MIOS_STATE_DEAD || state == MIOS_STATE_HELD ||
	       state == MIOS_STATE_DOWN;
}

/**
 * mios_death_host - instance 0 has said in its descriptor that it has ended
 * @incarnation: which boot of it
 * @panicked: or in order
 *
 * Of it nobody else says so.  It does when it panics, after its other CPUs have
 * been stopped, or in order, when it shares nothing any more.
 */
void mios_death_host(u32 incarnation, bool panicked)
{
	host_panicked = panicked;
	WRITE_ONCE(host_over, incarnation);
}

/* Has that been found, and whoever waited for what it held been told? */
bool mios_death_host_told(void)
{
	u32 over = READ_ONCE(host_over);

	return over && READ_ONCE(lives[0].fenced) == over;
}

/*
 * The state in its own view is what instance 0 has written last, or its
 * successor.
 */
static bool boot_is_over(u32 instance, const struct mios_view *view)
{
	return is_over((u32)view->stamp) ||
	       (!instance && READ_ONCE(host_over) &&
		READ_ONCE(host_over) == view->stamp >> 32);
}

/* Is there still a channel open to that incarnation? */
static bool is_open(u32 instance, u32 incarnation)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i) {
		struct mios_peer *peer = mios_peer_from(ring, instance);

		if (peer && peer->instance == instance &&
		    peer->state != MIOS_PEER_ABSENT &&
		    peer->incarnation == incarnation)
			return true;
	}
	return false;
}

/* What it had may still be used: a call of it, or a device, is at it. */
static bool is_at_work(struct mios_ring *ring, u32 instance,
		       struct mios_deaths *found)
{
	if (!instance && host_panicked && mios_quiet_wait(ring)) {
		found->devices = true;
		return true;
	}
	return mios_call_serves(instance);
}

/**
 * mios_death_look - which deaths are to be told now?
 * @ring: the ring that is being looked at
 * @found: out: instances and their incarnations
 *
 * After the peers have been looked at.  One whose channels are still open, as
 * when it has died since, is left for the next scan; one whose calls are still
 * being served, or whose devices may write, is said to be fenced and no more.
 */
void mios_death_look(struct mios_ring *ring, struct mios_deaths *found)
{
	struct mios_view view;
	u32 i;

	for (i = 0; i < mios_link.nr; i++) {
		struct life *life = &lives[i];
		u32 incarnation, dead = 0;

		mios_view_get(i, &view);
		incarnation = view.stamp >> 32;
		if (life->known && life->known != incarnation)
			dead = life->known;	/* missed: another has come */
		else if (boot_is_over(i, &view))
			dead = incarnation;
		if (!dead || dead == life->told) {
			life->known = incarnation;
			continue;
		}
		if (is_open(i, dead))
			continue;
		life->known = dead;
		found->incarnation[i] = dead;
		if (life->fenced != dead)
			found->fenced |= BIT_ULL(i);
		life->fenced = dead;
		if (!is_at_work(ring, i, found))
			found->which |= BIT_ULL(i);
	}
}

/* Up to which one are an instance's boots over? */
static u32 over_up_to(u32 instance, const struct mios_view *view)
{
	u32 incarnation = view->stamp >> 32;

	if (!incarnation)
		return 0;
	/* A node that is claimed may have the number of its last boot yet. */
	return max(boot_is_over(instance, view) ? incarnation : incarnation - 1,
		   READ_ONCE(lives[instance].told));
}

bool mios_link_pid_is_over(u32 pid)
{
	u32 instance = pid / MIOS_PIDS_EACH, over;
	struct mios_view view;

	if (instance >= mios_link.nr)
		return false;
	mios_view_get(instance, &view);
	over = over_up_to(instance, &view);
	/* Instance 0's are not told apart: it has no second boot. */
	if (!instance)
		return over && over == view.stamp >> 32;
	return over && pid % MIOS_PIDS_EACH / MIOS_PIDS_BOOT == over % 2;
}
EXPORT_SYMBOL_NS_GPL(mios_link_pid_is_over, MIOS);

/**
 * mios_link_runs() - may an instance of ring 0 still do something?
 * @instance: which
 * @incarnation: which boot of it, 0: whichever
 *
 * Not when its CPUs have been stopped, which counts from when anybody can have
 * heard of it: it is looked up where that is said.  Of instance 0 that is its
 * own descriptor.  Any context.
 */
bool mios_link_runs(u32 instance, u32 incarnation)
{
	struct mios_ring *ring = READ_ONCE(mios_link.rings[0]);
	struct mios_view view;
	u32 state;

	if (!ring || instance >= ring->g.nr)
		return false;
	mios_view_get(instance, &view);
	if (incarnation && view.stamp >> 32 != incarnation)
		return false;
	if (instance)
		return view.ring == 0 && !is_over((u32)view.stamp);
	state = READ_ONCE(mios_area_desc(ring->area, &ring->g, 0)->body.state);
	return state == MIOS_DESC_UP || state == MIOS_DESC_STOPPING;
}
EXPORT_SYMBOL_NS_GPL(mios_link_runs, MIOS);

/* So that a test can look what happens meanwhile. */
static void take_time(void)
{
	unsigned int waited;

	for (waited = 0; waited < inject_slow_death; waited += 20)
		msleep(20);
}

/**
 * mios_death_prepare - what ends the waits of those who still are at work for
 *			the dead; without link_lock
 * @ring: the ring that is being looked at
 * @found: as mios_death_look() left it
 */
void mios_death_prepare(struct mios_ring *ring, const struct mios_deaths *found)
{
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES && !inject_no_fenced; i++)
		if (found->fenced & BIT_ULL(i))
			mios_event_tell(MIOS_EVENT_FENCED, ring->id, i,
					found->incarnation[i]);
	if (found->devices)
		mios_quiet_try(ring);
}

/**
 * mios_death_tell - tell the listeners; without link_lock
 * @ring: the ring that is being looked at
 * @found: as mios_death_look() left it
 */
void mios_death_tell(struct mios_ring *ring, const struct mios_deaths *found)
{
	u32 i;

	if (!found->which)
		return;
	/* Handlers, in softirq context, that have its last message. */
	synchronize_rcu();
	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (found->which & BIT_ULL(i))
			mios_event_tell(MIOS_EVENT_DEAD, ring->id, i,
					found->incarnation[i]);
	take_time();
}

/**
 * mios_death_ack - acknowledge what has been told, and what once was
 * @ring: the ring whose others wait for it
 * @found: as told
 *
 * A word that somebody has overwritten is written anew.
 */
void mios_death_ack(struct mios_ring *ring, const struct mios_deaths *found)
{
	u32 *ack = ring->lines->ack;
	u32 i, last;

	for (i = 0; i < ring->g.nr; i++) {
		if (found->which & BIT_ULL(i))
			lives[i].told = found->incarnation[i];
		last = i == mios_link.self ? mios_link.incarnation :
					     lives[i].told;
		if (mios_link.host || READ_ONCE(ack[i]) == last ||
		    (i != mios_link.self && mios_inject(no_ack)))
			continue;
		/* ACK: pairs with the acquire in has_acked(). */
		smp_store_release(&ack[i], last);
	}
}

/**
 * mios_death_attend - from now on deaths are waited for here, too
 * @ring: the ring that this instance is about to join
 *
 * ATTEND: written before the first look at who is there; instance 0 looks at
 * it after it has declared a death.  With a full barrier between on both
 * sides, either it sees this and waits, or the look sees the death.
 */
void mios_death_attend(struct mios_ring *ring)
{
	WRITE_ONCE(ring->lines->ack[mios_link.self], mios_link.incarnation);
	smp_mb(); /* ATTEND: pairs with the one in mios_link_owing() */
}

/* --- the host: instance 0, or who has taken its place */

/*
 * Might it still use what the dead one had?  One that is not a member yet says
 * so by its own word; one that is being fenced may go on until it is.
 */
static bool attends(const struct mios_peer *peer)
{
	struct mios_view view;
	u32 incarnation;

	mios_view_get(peer->instance, &view);
	incarnation = view.stamp >> 32;
	if (!mios_view_keeps(peer->ring->id, peer->instance, incarnation))
		return false;
	return READ_ONCE(peer->state) != MIOS_PEER_ABSENT ||
	       READ_ONCE(peer->lines->ack[peer->instance]) == incarnation;
}

static bool has_acked(const struct mios_peer *peer, u32 instance,
		      u32 incarnation)
{
	/* ACK: pairs with the release in mios_death_ack(). */
	return smp_load_acquire(&peer->lines->ack[instance]) == incarnation;
}

u64 mios_link_owing(u32 instance, u32 incarnation)
{
	struct mios_ring *ring;
	struct mios_peer *peer;
	struct mios_view view;
	u64 owing = 0;

	if (!READ_ONCE(mios_link.declares) || !instance ||
	    instance >= mios_link.nr)
		return 0;
	mutex_lock(&mios_link.lock);
	smp_mb(); /* ATTEND: pairs with the one in mios_death_attend() */
	mios_view_get(instance, &view);
	ring = view.stamp >> 32 == incarnation ? mios_ring_get(view.ring) :
						 NULL;
	if (ring) {
		if (lives[instance].told != incarnation)
			owing |= BIT_ULL(mios_link.self);
		for_each_mios_peer(peer, ring)
			if (peer->instance != instance && attends(peer) &&
			    !has_acked(peer, instance, incarnation))
				owing |= BIT_ULL(peer->instance);
	}
	mutex_unlock(&mios_link.lock);
	return owing;
}
