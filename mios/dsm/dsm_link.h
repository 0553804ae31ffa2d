/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link layer: turns a transport that loses, doubles, reorders and pads
 * frames, and takes none longer than an Ethernet's, into one that delivers
 * each message once and in order, per sender and receiver.  Sequence numbers,
 * cumulative acknowledgements, retransmission, pieces, and the incarnations
 * of both ends, which shut out frames from before a restart.
 * A link belongs to one node and is called under the same lock as its
 * engine; it reads no clock and keeps no pointer in its memory.
 */
#ifndef DSM_LINK_H
#define DSM_LINK_H

#include "dsm.h"

#define DSM_FRAME_MAGIC		0xd53a
#define DSM_FRAME_VERSION	1

/* dsm_frame.flags */
#define DSM_FRAME_REST		1	/* goes on where the last one ended */
#define DSM_FRAME_MORE		2	/* and is not the end */

/*
 * The header of a frame, in x86's byte order.  What follows is a dsm_msg, its
 * body, a page; or a piece of that.  With a message it fits into the smallest
 * Ethernet frame; what that adds behind len is not ours.
 */
struct dsm_frame {
	u16 magic;
	u8 version;
	u8 flags;
	u16 len;		/* of the frame; header alone: an ack */
	u16 body;		/* bytes of body of the message begun here */
	u16 from, to;		/* incarnations of both ends, low bits */
	u32 seq;		/* of this frame, if it is more than an ack */
	u32 ack;		/* next one expected from the receiver */
};

static_assert(sizeof(struct dsm_frame) == 20, "frame header");
static_assert(sizeof(struct dsm_frame) + sizeof(struct dsm_msg) <= 46,
	      "a message fits into the smallest Ethernet frame");

#define DSM_FRAME_MAX	(sizeof(struct dsm_frame) + \
			 sizeof(struct dsm_msg) + DSM_BODY_MAX + \
			 DSM_PAGE_SIZE)

struct dsm_link_config {
	u16 nodes;
	u16 self;
	u16 life;		/* this node's incarnation, low bits */
	/*
	 * Pool: unacknowledged and out of order; half of it is shared out
	 * among the peers.
	 */
	u16 frames;
	u16 window;		/* frames per peer on the wire */
	u32 frame_max;		/* bytes, up to DSM_FRAME_MAX: the wire's */
	/*
	 * Longer messages go in pieces, up to so many bytes, for which there
	 * is a buffer per peer; 0: none does.  Alike on every node.
	 */
	u32 message_max;
	/* Frames are handed up as they are, in order: the caller joins pieces. */
	bool apart;
	u32 page_bytes;		/* DSM_PAGE_SIZE; a simulator may cut it */
	u64 timeout;		/* until a frame is sent again */
	u64 delay;		/* how long an acknowledgement may wait */
};

struct dsm_link_stats {
	u64 frames, bytes;	/* sent, all kinds */
	u64 acks;		/* frames with nothing but an ack */
	u64 again;		/* sent again */
	u64 twice;		/* received again, dropped */
	u64 early;		/* received out of order, kept */
	u64 refused;		/* malformed, of another life, no room */
};

struct dsm_link;

/*
 * What a call asks of the caller: frames to put on the wire, messages to
 * give to the engine.  Pointers hold until the next call on the link.
 */
struct dsm_link_out {
	u32 sends, messages;
	bool more;		/* messages wait: call dsm_link_tick() now */
	struct { u16 to; u32 len; const void *frame; } send[64];
	struct { u16 from; u32 len; const void *frame; } message[64];
};

size_t dsm_link_size(const struct dsm_link_config *cfg);
int dsm_link_init(struct dsm_link *l, const struct dsm_link_config *cfg);
/*
 * -ENOSPC when there is no room for this peer: the message is lost, and with
 * it the order that the engine relies on.  Ask dsm_link_room() before: while
 * it is low set dsm_event.tx_full, and a peer that stays silent is to be
 * fenced.  Others have their share of the pool all the same.
 */
int dsm_link_send(struct dsm_link *l, u16 to, const struct dsm_msg *m,
		  const void *body, u16 len, const void *page, u64 now,
		  struct dsm_link_out *out);
void dsm_link_receive(struct dsm_link *l, u16 from, const void *frame,
		      u32 len, u64 now, struct dsm_link_out *out);
/* Sends again what is overdue, and acknowledgements that waited. */
void dsm_link_tick(struct dsm_link *l, u64 now, struct dsm_link_out *out);
/* The peer has died or was born again: forget it; it has a new life now. */
void dsm_link_reset(struct dsm_link *l, u16 peer, u16 life);
/* Nothing sent waits to be acknowledged. */
bool dsm_link_idle(const struct dsm_link *l, u16 peer);
/* Frames that may still be sent to the peer before one is acknowledged. */
u16 dsm_link_room(const struct dsm_link *l, u16 peer);
/* In the whole pool. */
u16 dsm_link_free(const struct dsm_link *l);
const struct dsm_link_stats *dsm_link_statistics(const struct dsm_link *l);

/* Takes a delivered message apart into an event; false if it is no message. */
bool dsm_frame_parse(const void *frame, u32 len, u16 from,
		     u32 page_bytes, struct dsm_event *ev,
		     const void **page);

#endif /* DSM_LINK_H */
