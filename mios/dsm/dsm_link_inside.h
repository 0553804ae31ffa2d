/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link layer's inside: what dsm_link.c, which sends, and
 * dsm_link_receive.c share.  Nobody else reads it.  Under the caller's lock, as
 * the engine.
 */
#ifndef DSM_LINK_INSIDE_H
#define DSM_LINK_INSIDE_H

#include "engine.h"
#include "dsm_link.h"

#define SENDS_MAX \
	(sizeof(((struct dsm_link_out *)0)->send) / \
	 sizeof(((struct dsm_link_out *)0)->send[0]))
#define MESSAGES_MAX \
	(sizeof(((struct dsm_link_out *)0)->message) / \
	 sizeof(((struct dsm_link_out *)0)->message[0]))

struct peer {
	u32 next;		/* sequence number of the next new frame */
	u32 acked;		/* all below have arrived */
	u32 expect;		/* next to deliver */
	u32 repaired;		/* sent again on account of double acks */
	u32 joined;		/* bytes of a message that came in pieces */
	u32 handed;		/* dsm_link.calls when it was handed up */
	u64 ack_since;
	u16 head, tail;		/* frames sent or to be sent, in order */
	u16 early;		/* frames received out of order, sorted */
	u16 life;		/* its incarnation */
	u16 held;		/* frames of the pool, sent or early */
	u8 doubles;		/* acks in a row that said nothing new */
	bool ack_due;
};

struct slot {
	u16 next;
	u16 peer;
	u32 len;
	u32 seq;
	bool on_wire;
	u64 sent;
	/* The frame follows. */
};

struct dsm_link {
	struct dsm_link_config cfg;
	struct dsm_link_stats stats;
	struct dsm_frame ack[SENDS_MAX];
	u16 free, free_count;
	u16 share;		/* of the pool, that each peer may have */
	u32 owed;		/* frames kept free for that */
	u32 calls;
	u32 stride, off_slots;
	u32 join_stride;
	u64 off_join;
};

static inline struct peer *peer_of(struct dsm_link *l, u16 n)
{
	return (struct peer *)(l + 1) + n;
}

static inline struct slot *slot_of(struct dsm_link *l, u16 i)
{
	return (struct slot *)((char *)l + l->off_slots +
			       (size_t)i * l->stride);
}

/* Where the pieces of a peer's message are put together. */
static inline u8 *join_of(struct dsm_link *l, u16 n)
{
	return (u8 *)l + l->off_join + (size_t)n * l->join_stride;
}

static inline bool before(u32 a, u32 b)
{
	return (int)(a - b) < 0;
}

/* dsm_link.c */
void link_begin(struct dsm_link *l, struct dsm_link_out *out);
u16 slot_get(struct dsm_link *l, u16 peer);
void slot_put(struct dsm_link *l, u16 i);
void link_transmit(struct dsm_link *l, u16 to, struct slot *f, u64 now,
		   struct dsm_link_out *out);
void link_push(struct dsm_link *l, u16 to, u64 now,
	       struct dsm_link_out *out);

/* dsm_link_receive.c */
void link_ack(struct dsm_link *l, u16 to, struct dsm_link_out *out);
void link_early(struct dsm_link *l, u16 from, struct dsm_link_out *out);

#endif /* DSM_LINK_INSIDE_H */
