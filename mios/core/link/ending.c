// SPDX-License-Identifier: GPL-2.0
/*
 * How an instance has ended, by its own word, and who is told of those that said
 * it when there was no host.  Called by member.c and, when this instance becomes
 * host, by role.c.
 */
#include "ring.h"

enum mios_ending mios_ending_of(u32 state)
{
	switch (state) {
	case MIOS_DESC_PANICKED:
		return MIOS_END_PANIC;
	case MIOS_DESC_LEFT:
		return MIOS_END_UNLOAD;
	default:
		return MIOS_END_ORDERLY;
	}
}

/**
 * mios_member_endings - tell who ends members of those who said it to nobody
 * @ring: the ring that this instance is host of now
 *
 * They have been dropped at their own word, when another one was host.
 */
void mios_member_endings(struct mios_ring *ring)
{
	const struct mios_link_ops *ops = READ_ONCE(mios_link.ops);
	struct mios_desc_body *desc = &ring->look;
	struct mios_peer *peer;
	u32 incarnation, state;
	bool ended;

	for_each_mios_peer(peer, ring) {
		mutex_lock(&mios_link.lock);
		ended = peer->state == MIOS_PEER_ABSENT &&
			!mios_desc_read(mios_area_desc(ring->area, &ring->g,
						       peer->instance),
					mios_area_cpus(ring->area,
						       peer->instance),
					desc, ring->id, peer->instance) &&
			!mios_desc_alive(desc) &&
			mios_view_keeps(ring->id, peer->instance,
					desc->incarnation);
		incarnation = desc->incarnation;
		state = desc->state;
		mutex_unlock(&mios_link.lock);
		if (ended && ops && ops->leaving)
			ops->leaving(peer->instance, incarnation,
				     mios_ending_of(state));
	}
}
