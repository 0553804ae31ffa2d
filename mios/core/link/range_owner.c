// SPDX-License-Identifier: GPL-2.0
/*
 * Whose memory is it?  The firmware's tables are instance 0's alone: the others
 * ask it.
 */
#include <linux/export.h>
#include <linux/numa.h>

#include "ring.h"

/* For the answer of instance 0. */
#define OWNER_MS	2000

static int look(u32 instance, u64 base, u64 size)
{
	if (instance >= mios_link_nr() || !size || base + size < base)
		return -EPROTO;
	/* Ranges of nodes are of whole sections, and so of one node each. */
	if (phys_to_target_node(base) != instance ||
	    phys_to_target_node(base + size - 1) != instance)
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
 * @size: bytes, not more than a memory section
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

void mios_range_owner_init(void)
{
	mios_callee_register(MIOS_CALL_RANGE_OWNER, &callee);
}

void mios_range_owner_exit(void)
{
	mios_callee_unregister(MIOS_CALL_RANGE_OWNER);
}
