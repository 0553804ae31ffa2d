/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Causal delivery on top of the link layer: each message carries a stamp in
 * front of its body, and waits for what came before it.  causal.c says why that
 * is enough.  Used by the simulator and by the native backend; no lock, one
 * caller.
 */
#ifndef CAUSAL_H
#define CAUSAL_H

#include "../../../mios/dsm/dsm_link.h"

#define CAUSAL_NODES	32	/* most that a stamp is made for */

/* One node's end. */
struct causal;

/* A message that the link has handed up: a whole frame, stamp and all. */
struct causal_held {
	struct causal_held *next;
	u16 from;
	/* Its page is not here but where it belongs, or has become of no use. */
	bool placed, spoilt;
	u32 len;
	u8 frame[];
};

/* A count for each sender and receiver. */
static inline u32 causal_bytes(u32 nodes)
{
	return nodes * nodes * sizeof(u32);
}

#define CAUSAL_STAMP_MAX \
	(CAUSAL_NODES * CAUSAL_NODES * sizeof(u32))

/* NULL without memory.  loose: a test's, nothing waits. */
struct causal *causal_new(u32 nodes, u32 self, bool loose);
void causal_free(struct causal *c);
/* Counts a message to all of them; writes its stamp, returns its length. */
u32 causal_stamp(struct causal *c, const struct dsm_set *to, u8 *stamp);
/* 0: it need not wait; 1: it has to; -1: no memory, or no stamp in it. */
int causal_keep(struct causal *c, u16 from, const void *frame, u32 len);
/* The same of one that malloc() made; it is the caller's still if that is -1. */
int causal_add(struct causal *c, struct causal_held *h);
/* The next one that may be delivered, the caller's to free; or NULL. */
struct causal_held *causal_next(struct causal *c);
/* Wait no longer for what this node sent. */
void causal_bury(struct causal *c, u32 node);
/* It was born again, so many times by now: if that is news, its life before counts no more. */
void causal_birth(struct causal *c, u32 node, u32 times);

#endif /* CAUSAL_H */
