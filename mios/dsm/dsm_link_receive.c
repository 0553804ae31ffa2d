// SPDX-License-Identifier: GPL-2.0
/*
 * What the link layer makes of arriving frames: acknowledgements, the order
 * of the frames, messages put together from pieces.  Nothing in a frame is
 * trusted: its length is the one in its header, if so much has arrived.
 * Called by the transport's binding.
 */
#include "dsm_link_inside.h"

/* Needs no room in the pool: a full pool empties by acks alone. */
void link_ack(struct dsm_link *l, u16 to, struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);
	struct dsm_frame *h = &l->ack[out->sends];

	if (out->sends == SENDS_MAX)
		return;		/* the next tick tries again */
	memset(h, 0, sizeof(*h));
	h->magic = DSM_FRAME_MAGIC;
	h->version = DSM_FRAME_VERSION;
	h->len = sizeof(*h);
	h->from = l->cfg.life;
	h->to = p->life;
	h->ack = p->expect;
	p->ack_due = false;
	l->stats.acks++;
	l->stats.frames++;
	l->stats.bytes += sizeof(*h);
	out->send[out->sends].to = to;
	out->send[out->sends].len = sizeof(*h);
	out->send[out->sends++].frame = h;
}

/* Everything below ack has arrived; saying so twice hints at a loss. */
static void ack_take(struct dsm_link *l, u16 from, u32 ack, bool alone,
		     u64 now, struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, from);

	if (before(ack, p->acked) || before(p->next, ack)) {
		if (before(p->next, ack))
			l->stats.refused++;
		return;
	}
	if (ack == p->acked && alone && p->head != DSM_NIL &&
	    ++p->doubles >= 2 && p->repaired != ack + 1) {
		p->repaired = ack + 1;
		link_transmit(l, from, slot_of(l, p->head), now, out);
	}
	if (ack != p->acked)
		p->doubles = 0;
	p->acked = ack;
	while (p->head != DSM_NIL &&
	       before(slot_of(l, p->head)->seq, ack)) {
		u16 i = p->head;

		p->head = slot_of(l, i)->next;
		slot_put(l, i);
	}
	link_push(l, from, now, out);
}

static void deliver(u16 from, const void *frame, u32 len,
		    struct dsm_link_out *out)
{
	out->message[out->messages].from = from;
	out->message[out->messages].len = len;
	out->message[out->messages++].frame = frame;
}

/*
 * The next piece of a message.  What does not fit together, only a hostile
 * peer sends: all of it is dropped, up to the next message's beginning.
 */
static void piece_take(struct dsm_link *l, u16 from, const struct dsm_frame *h,
		       const void *frame, struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, from);
	bool rest = h->flags & DSM_FRAME_REST;
	u32 skip = rest ? sizeof(*h) : 0, n = h->len - skip;

	if (!rest)
		p->joined = 0;
	if ((rest && !p->joined) || p->joined + n > l->cfg.message_max) {
		l->stats.refused++;
		p->joined = 0;
		return;
	}
	memcpy(join_of(l, from) + p->joined, (const u8 *)frame + skip, n);
	p->joined += n;
	if (h->flags & DSM_FRAME_MORE)
		return;
	deliver(from, join_of(l, from), p->joined, out);
	p->joined = 0;
	p->handed = l->calls;
}

/* The frame that is the next in order. */
static void frame_take(struct dsm_link *l, u16 from, const void *frame,
		       struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, from);
	struct dsm_frame h;

	memcpy(&h, frame, sizeof(h));
	p->expect++;
	if (h.flags && !l->cfg.apart) {
		piece_take(l, from, &h, frame, out);
		return;
	}
	p->joined = 0;
	deliver(from, frame, h.len, out);
}

/* Is the next frame in order kept already? */
static bool early_next(struct dsm_link *l, const struct peer *p)
{
	return p->early != DSM_NIL && slot_of(l, p->early)->seq == p->expect;
}

/*
 * Frames that waited for the one before them.  One message of a peer that
 * came in pieces is handed up in a call, as there is one buffer for it.
 */
void link_early(struct dsm_link *l, u16 from, struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, from);

	while (early_next(l, p)) {
		u16 i = p->early;
		struct slot *f = slot_of(l, i);

		if (out->messages == MESSAGES_MAX || p->handed == l->calls) {
			out->more = true;
			return;
		}
		p->early = f->next;
		/* Its bytes stay as they are until the next call. */
		frame_take(l, from, f + 1, out);
		slot_put(l, i);
	}
}

static void keep(struct dsm_link *l, u16 from, const struct dsm_frame *h,
		 const void *frame)
{
	struct peer *p = peer_of(l, from);
	u16 *link = &p->early;
	struct slot *f;
	u16 i;

	while (*link != DSM_NIL && before(slot_of(l, *link)->seq, h->seq))
		link = &slot_of(l, *link)->next;
	if (*link != DSM_NIL && slot_of(l, *link)->seq == h->seq) {
		l->stats.twice++;
		return;
	}
	i = slot_get(l, from);
	if (i == DSM_NIL) {
		l->stats.refused++;
		return;
	}
	f = slot_of(l, i);
	f->seq = h->seq;
	f->len = h->len;
	memcpy(f + 1, frame, h->len);
	f->next = *link;
	*link = i;
	l->stats.early++;
}

/* Ours, whole, and from and to those who live now. */
static bool frame_good(struct dsm_link *l, u16 from, const struct dsm_frame *h,
		       u32 len)
{
	return h->magic == DSM_FRAME_MAGIC &&
		h->version == DSM_FRAME_VERSION &&
		!(h->flags & ~(DSM_FRAME_REST | DSM_FRAME_MORE)) &&
		h->len >= sizeof(*h) && h->len <= len &&
		h->len <= l->cfg.frame_max &&
		h->from == peer_of(l, from)->life && h->to == l->cfg.life;
}

void dsm_link_receive(struct dsm_link *l, u16 from, const void *frame,
		      u32 len, u64 now, struct dsm_link_out *out)
{
	struct dsm_frame h;
	struct peer *p;

	link_begin(l, out);
	if (from >= l->cfg.nodes || from == l->cfg.self ||
	    len < sizeof(h)) {
		l->stats.refused++;
		return;
	}
	p = peer_of(l, from);
	memcpy(&h, frame, sizeof(h));
	if (!frame_good(l, from, &h, len)) {
		l->stats.refused++;
		return;
	}
	ack_take(l, from, h.ack, h.len == sizeof(h), now, out);
	if (h.len == sizeof(h))
		return;
	if (before(h.seq, p->expect) || h.seq - p->expect >= l->cfg.window ||
	    (h.seq == p->expect && early_next(l, p))) {
		l->stats.twice++;
		link_ack(l, from, out);
	} else if (h.seq != p->expect) {
		/* Tell the sender at once: it may repair the gap. */
		keep(l, from, &h, frame);
		link_ack(l, from, out);
	} else {
		frame_take(l, from, frame, out);
		if (!p->ack_due) {
			p->ack_due = true;
			p->ack_since = now;
		}
	}
	link_early(l, from, out);
}

bool dsm_frame_parse(const void *frame, u32 len, u16 from,
		     u32 page_bytes, struct dsm_event *ev,
		     const void **page)
{
	const u8 *at = frame;
	struct dsm_frame h;
	u32 rest;

	if (len < sizeof(h) + sizeof(ev->msg))
		return false;
	memcpy(&h, at, sizeof(h));
	memset(ev, 0, sizeof(*ev));
	ev->type = DSM_EV_MSG;
	memcpy(&ev->msg, at + sizeof(h), sizeof(ev->msg));
	rest = len - sizeof(h) - sizeof(ev->msg);
	if (h.body > rest || ev->msg.src != from)
		return false;
	ev->body = at + sizeof(h) + sizeof(ev->msg);
	ev->len = h.body;
	*page = NULL;
	/* Page bytes are there exactly if the message says so. */
	if (ev->msg.flags & DSM_F_DATA) {
		*page = (const u8 *)ev->body + h.body;
		return rest - h.body == page_bytes;
	}
	return rest == h.body;
}
