// SPDX-License-Identifier: GPL-2.0
/*
 * PCI functions that instances were given (mios/devices/), as each says in its
 * own block: they stay as they are when instance 0 has died and its devices are
 * made quiet (quiet.c), and are made quiet when their instance dies after that.
 * As long as instance 0 lives it knows by itself whose is what.
 */
#include <linux/export.h>
#include <linux/mutex.h>

#include "quiet.h"
#include "ring.h"

/* This instance's; under link_lock. */
static u32 held[MIOS_HELD];
static u32 nr_held;

/**
 * mios_held_publish - say in a ring what this instance has
 * @ring: which; under link_lock
 *
 * Called again and again, for anybody may overwrite it.
 */
void mios_held_publish(struct mios_ring *ring)
{
	if (!mios_link.host)
		mios_held_write(&ring->lines->held, held, nr_held);
}

static void publish_all(void)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		mios_held_publish(ring);
}

int mios_devices_hold(u32 function)
{
	int err = -ENOSPC;

	mutex_lock(&mios_link.lock);
	if (nr_held < MIOS_HELD) {
		held[nr_held++] = function;
		publish_all();
		err = 0;
	}
	mutex_unlock(&mios_link.lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_devices_hold, MIOS);

void mios_devices_release(u32 function)
{
	u32 i;

	mutex_lock(&mios_link.lock);
	for (i = 0; i < nr_held && held[i] != function; i++)
		;
	if (i < nr_held) {
		held[i] = held[--nr_held];
		publish_all();
	}
	mutex_unlock(&mios_link.lock);
}
EXPORT_SYMBOL_NS_GPL(mios_devices_release, MIOS);

static u32 add(u32 *to, u32 nr, const u32 *function, u32 more)
{
	u32 i;

	for (i = 0; i < more && nr < MIOS_HELD_ALL; i++)
		to[nr++] = function[i];
	return nr;
}

/**
 * mios_held_living - the functions of those who live
 * @ring: the one that this instance is in
 * @to: out, MIOS_HELD_ALL
 *
 * What is not quite right is nobody's: to turn one off too many is always right.
 *
 * Return: how many.
 */
u32 mios_held_living(struct mios_ring *ring, u32 *to)
{
	struct mios_peer *peer;
	struct mios_held one;
	u32 nr;

	mutex_lock(&mios_link.lock);
	nr = add(to, 0, held, nr_held);
	for_each_mios_peer(peer, ring)
		if (peer->instance && peer->state == MIOS_PEER_JOINED &&
		    !mios_held_read(&peer->lines->held, &one))
			nr = add(to, nr, one.function, one.nr);
	mutex_unlock(&mios_link.lock);
	return nr;
}

/**
 * mios_held_none - has a dead instance said that it had no function?
 * @ring: the one that this instance is in
 * @instance: which
 *
 * A kernel that dies may have written anything there before, all zeroes, too,
 * which fit: so that is never enough to leave its functions as they are.
 */
bool mios_held_none(struct mios_ring *ring, u32 instance)
{
	struct mios_held one;

	return !mios_held_read(&ring->peers[instance].lines->held, &one) &&
	       !one.nr;
}
