// SPDX-License-Identifier: GPL-2.0
/*
 * The ring and its peers as objects of this kernel: made when an area is at
 * hand, and the opening and closing of a peer's channels.  Called by member.c
 * under link_lock; the channels' own locks are leaves.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/slab.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(forget_channel, "leave a channel to a member that goes open");

/* Between two requests for new sessions to one peer. */
#define REPAIR_INTERVAL	(HZ / 2)

/* One class per kind: net locks are taken with interrupts on. */
static struct lock_class_key out_key[MIOS_CLASSES];
static struct lock_class_key in_key[MIOS_CLASSES];

static void peer_init(struct mios_ring *ring, u32 instance)
{
	struct mios_peer *peer = &ring->peers[instance];
	u32 self = mios_link.self;
	u32 class;

	peer->ring = ring;
	peer->instance = instance;
	init_waitqueue_head(&peer->space);
	if (instance == self)
		return;
	peer->lines = mios_area_lines(ring->area, &ring->g, instance);
	for (class = 0; class < MIOS_CLASSES; class++) {
		struct mios_out *out = &peer->out[class];
		struct mios_in *in = &peer->in[class];

		spin_lock_init(&out->lock);
		lockdep_set_class(&out->lock, &out_key[class]);
		mios_producer_init(&out->p,
				   mios_area_chan(ring->area, &ring->g,
						  instance, self, class),
				   &ring->g.shape[class]);
		spin_lock_init(&in->lock);
		lockdep_set_class(&in->lock, &in_key[class]);
		mios_consumer_init(&in->c,
				   mios_area_chan(ring->area, &ring->g, self,
						  instance, class),
				   &ring->g.shape[class]);
	}
}

struct mios_ring *mios_ring_create(u32 id, void *area, u64 base,
				   const struct mios_geometry *g)
{
	struct mios_ring *ring = kvzalloc(sizeof(*ring), GFP_KERNEL);
	u32 i;

	if (!ring)
		return NULL;
	ring->peers = kvcalloc(g->nr, sizeof(*ring->peers), GFP_KERNEL);
	if (!ring->peers) {
		kvfree(ring);
		return NULL;
	}
	ring->id = id;
	ring->area = area;
	ring->base = base;
	ring->g = *g;
	ring->lines = mios_area_lines(area, g, mios_link.self);
	ring->desc = mios_area_desc(area, g, mios_link.self);
	ring->others = (~0ULL >> (64 - g->nr)) & ~BIT_ULL(mios_link.self);
	for (i = 0; i < g->nr; i++)
		peer_init(ring, i);
	return ring;
}

/* Nobody rings, scans or sends any more; the area stays with the caller. */
void mios_ring_destroy(struct mios_ring *ring)
{
	cancel_work_sync(&ring->scan);
	cancel_work_sync(&ring->bh);
	kvfree(ring->peers);
	kvfree(ring);
}

struct mios_ring *mios_ring_get(u32 id)
{
	return id < MIOS_MAX_RINGS ? READ_ONCE(mios_link.rings[id]) : NULL;
}

/* From now on it is found. */
void mios_ring_use(struct mios_ring *ring)
{
	/* RINGS: whoever finds it, by mios_ring_from(), finds it whole. */
	smp_store_release(&mios_link.rings[ring->id], ring);
	set_bit(ring->id, mios_link.in_use);
}

/*
 * The first ring that is in use, from number *@id on.  Every doorbell asks, so
 * it looks at a bitmap; the bit may be seen before the ring.
 */
struct mios_ring *mios_ring_from(u32 *id)
{
	struct mios_ring *ring;

	for_each_set_bit_from(*id, mios_link.in_use, MIOS_MAX_RINGS) {
		ring = READ_ONCE(mios_link.rings[*id]);
		if (ring)
			return ring;
	}
	return NULL;
}

/* The first other instance, from number @instance on. */
struct mios_peer *mios_peer_from(struct mios_ring *ring, u32 instance)
{
	if (instance == mios_link.self)
		instance++;
	return instance < ring->g.nr ? &ring->peers[instance] : NULL;
}

/* The joined peer of this number, in whichever ring it is. */
struct mios_peer *mios_peer_get(u32 instance)
{
	if (instance >= MIOS_AREA_INSTANCES)
		return NULL;
	return READ_ONCE(mios_link.peer_of[instance]);
}

static void in_open(struct mios_peer *peer, u32 class)
{
	struct mios_in *in = &peer->in[class];

	spin_lock_bh(&in->lock);
	in->stuck = 0;
	mios_consumer_open(&in->c, mios_link.incarnation, peer->incarnation);
	mios_consumer_arm(&in->c);
	spin_unlock_bh(&in->lock);
}

static void out_open(struct mios_peer *peer, u32 class)
{
	struct mios_out *out = &peer->out[class];
	unsigned long flags;

	spin_lock_irqsave(&out->lock, flags);
	out->broken = false;
	mios_producer_open(&out->p, mios_link.incarnation, peer->incarnation);
	spin_unlock_irqrestore(&out->lock, flags);
}

/* Open both ends here; the peer has to be told to look. */
void mios_peer_open(struct mios_peer *peer, u32 incarnation)
{
	u32 class;

	peer->incarnation = incarnation;
	peer->repaired = jiffies;
	for (class = 0; class < MIOS_CLASSES; class++) {
		in_open(peer, class);
		out_open(peer, class);
	}
}

void mios_peer_close(struct mios_peer *peer)
{
	unsigned long flags;
	u32 class;

	for (class = 0; class < MIOS_CLASSES; class++) {
		struct mios_out *out = &peer->out[class];
		struct mios_in *in = &peer->in[class];

		if (mios_inject(forget_channel))
			continue;
		spin_lock_irqsave(&out->lock, flags);
		mios_producer_close(&out->p);
		spin_unlock_irqrestore(&out->lock, flags);
		spin_lock_bh(&in->lock);
		mios_consumer_close(&in->c);
		spin_unlock_bh(&in->lock);
	}
	wake_up_all(&peer->space);
}

/* Has the peer accepted every channel from here? */
bool mios_peer_ready(struct mios_peer *peer)
{
	unsigned long flags;
	int err = 0;
	u32 class;

	for (class = 0; class < MIOS_CLASSES && !err; class++) {
		spin_lock_irqsave(&peer->out[class].lock, flags);
		err = mios_producer_ready(&peer->out[class].p);
		spin_unlock_irqrestore(&peer->out[class].lock, flags);
	}
	return !err;
}

/* Begin new sessions where the peer has opened its end again; are there any? */
bool mios_peer_answer(struct mios_peer *peer)
{
	bool told = false;
	u32 class;

	for (class = 0; class < MIOS_CLASSES; class++) {
		struct mios_in *in = &peer->in[class];

		if (!mios_consumer_called(&in->c))
			continue;
		in_open(peer, class);
		told = true;
	}
	return told;
}

/* Does the peer's end of this class still know us? */
static bool out_usable(struct mios_out *out)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&out->lock, flags);
	err = out->broken ? -ESHUTDOWN : mios_producer_ready(&out->p);
	spin_unlock_irqrestore(&out->lock, flags);
	return !err;
}

/*
 * Ask a member for new sessions where its words make no sense any more; not
 * too often, since it takes a moment to answer.  True: it has to be told.
 */
bool mios_peer_repair(struct mios_peer *peer)
{
	bool told = false;
	u32 class;

	if (peer->state != MIOS_PEER_JOINED ||
	    time_before(jiffies, peer->repaired + REPAIR_INTERVAL))
		return false;
	for (class = 0; class < MIOS_CLASSES; class++) {
		if (out_usable(&peer->out[class]))
			continue;
		out_open(peer, class);
		told = true;
	}
	if (told)
		peer->repaired = jiffies;
	return told;
}

/* No words of the peer's in it make sense: the next scan begins it anew. */
void mios_out_broken(struct mios_peer *peer, struct mios_out *out)
{
	if (READ_ONCE(out->broken))
		return;
	WRITE_ONCE(out->broken, true);
	pr_warn("instance %u: garbage in a channel to it; begun anew\n",
		peer->instance);
	queue_work(mios_link.wq, &peer->ring->scan);
}

void mios_ring_scan_all(void)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		queue_work(mios_link.wq, &ring->scan);
}
