// SPDX-License-Identifier: GPL-2.0
/*
 * Whose memory is it?  The firmware's tables are instance 0's alone: the others
 * ask it.
 */
#include <linux/export.h>

#include "../part/part.h"
#include "ring.h"

/* For the answer of instance 0. */
#define OWNER_MS	2000
/* A section of a pool; each piece of it is asked for. */
#define OWNER_MAX	(128ULL << 30)

static int look(u32 instance, u64 base, u64 size)
{
	u64 at;

	if (instance >= mios_link_nr() || !size || size > OWNER_MAX ||
	    base + size < base)
		return -EPROTO;
	for (at = ALIGN_DOWN(base, MIOS_PART_PIECE); at < base + size;
	     at += MIOS_PART_PIECE)
		if (mios_part_of_memory(at) != instance)
			return -EPROTO;
	return 0;
}

static int asked(void *ctx, u32 instance, u32 incarnation, const void *data,
		 u32 length, void *answer, u32 *size)
{
	struct mios_call_range_owner call;

	if (length != sizeof(call))
		return -EINVAL;
	memcpy(&call, data, sizeof(call));
	if (call.reserved)
		return -EINVAL;
	return look(call.instance, call.base, call.size);
}

static const struct mios_callee callee = { .fn = asked };

/**
 * mios_link_owns() - is it memory of an instance's node?
 * @instance: whose it is said to be
 * @base: physical address
 * @size: bytes, not more than a section of a pool can have
 *
 * May sleep.
 *
 * Return: 0; -EPROTO: it is not; or what mios_call() returns to those who ask
 * instance 0.
 */
int mios_link_owns(u32 instance, u64 base, u64 size)
{
	const struct mios_call_range_owner call = {
		.base = base, .size = size, .instance = instance,
	};

	if (mios_link.host)
		return look(instance, base, size);
	return mios_call(0, MIOS_CALL_RANGE_OWNER, &call, sizeof(call), NULL, 0,
			 OWNER_MS);
}
EXPORT_SYMBOL_NS_GPL(mios_link_owns, MIOS);

static bool desc_names(const struct mios_desc_body *desc, u64 base, u64 size)
{
	u32 i;

	for (i = 0; i < desc->nr_ranges; i++)
		if (base >= desc->memory[i].base &&
		    base - desc->memory[i].base < desc->memory[i].size &&
		    size <= desc->memory[i].size -
			    (base - desc->memory[i].base))
			return true;
	return false;
}

/**
 * mios_link_has_memory() - is it memory that a member of ring 0 runs in?
 * @instance: which; another one than this
 * @base: physical address
 * @size: bytes, not more than a memory section
 *
 * By its descriptor; where that has no room for all of it, by the firmware's
 * tables.  May sleep.
 */
bool mios_link_has_memory(u32 instance, u64 base, u64 size)
{
	struct mios_ring *ring = mios_ring_get(0);
	bool named = false, more = false;
	struct mios_peer *peer;

	if (!ring || instance >= ring->g.nr || instance == mios_link.self)
		return false;
	mutex_lock(&mios_link.lock);
	peer = &ring->peers[instance];
	if (peer->state == MIOS_PEER_JOINED) {
		named = desc_names(&peer->desc, base, size);
		more = peer->desc.nr_ranges == MIOS_DESC_RANGES;
	}
	mutex_unlock(&mios_link.lock);
	return named || (more && !mios_link_owns(instance, base, size));
}
EXPORT_SYMBOL_NS_GPL(mios_link_has_memory, MIOS);

void mios_range_owner_init(void)
{
	mios_callee_register(MIOS_CALL_RANGE_OWNER, &callee);
}

void mios_range_owner_exit(void)
{
	mios_callee_unregister(MIOS_CALL_RANGE_OWNER);
}
