/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an instance starts: its node claimed, an image loaded and finished, its
 * first CPU sent to it, and the wait for the sync point.  Called by dev/.
 */
#ifndef MIOS_START_H
#define MIOS_START_H

#include "../node/node.h"

/* load.c: what lies in the node's memory when it starts */
int mios_image_load(u32 instance, const struct mios_load *load,
		    const void *claimer, struct mios_reason *why);
int mios_image_finish(struct mios_node *node, struct mios_reason *why);

int mios_node_claim(struct mios_claim *claim, const void *claimer,
		    struct mios_reason *why);
struct mios_node *mios_node_claimed(u32 instance, const void *claimer,
				    struct mios_reason *why, int *err);
int mios_node_start(u32 instance, unsigned int timeout_ms, const void *claimer,
		    struct mios_reason *why);
void mios_node_release(u32 instance, const void *claimer);

#endif /* MIOS_START_H */
