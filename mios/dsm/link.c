// SPDX-License-Identifier: GPL-2.0
/*
 * The link layer, see link.h.  A frame stays in the pool until its receiver
 * has acknowledged it; a frame that came too early stays until the gap is
 * filled.  Called by the transport's binding around each engine step.
 */
#include "engine.h"
#include "link.h"

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
	u64 ack_since;
	u16 head, tail;		/* frames sent or to be sent, in order */
	u16 early;		/* frames received out of order, sorted */
	u16 epoch;
	u8 doubles;		/* acks in a row that said nothing new */
	bool ack_due;
};

struct slot {
	u16 next;
	u16 pad;
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
	u16 freed;		/* delivered: freed by the next call */
	u32 stride, off_slots;
};

static struct peer *peer_of(struct dsm_link *l, u16 n)
{
	return (struct peer *)(l + 1) + n;
}

static struct slot *slot_of(struct dsm_link *l, u16 i)
{
	return (struct slot *)((char *)l + l->off_slots +
			       (size_t)i * l->stride);
}

static bool before(u32 a, u32 b)
{
	return (int)(a - b) < 0;
}

static u64 layout(struct dsm_link *l, const struct dsm_link_config *c)
{
	l->off_slots = sizeof(*l) + c->nodes * sizeof(struct peer);
	l->stride = (sizeof(struct slot) + c->frame_max + 7) & ~7u;
	return l->off_slots + (u64)c->frames * l->stride;
}

size_t dsm_link_size(const struct dsm_link_config *c)
{
	struct dsm_link l;

	if (!c->nodes || c->nodes > DSM_NODES_MAX || c->self >= c->nodes ||
	    !c->frames || c->frames >= DSM_NIL || !c->window ||
	    c->window >= MESSAGES_MAX || c->page_bytes > DSM_PAGE_SIZE ||
	    c->frame_max < sizeof(struct dsm_frame) +
	    sizeof(struct dsm_msg) || c->frame_max > DSM_FRAME_MAX)
		return 0;
	return layout(&l, c);
}

int dsm_link_init(struct dsm_link *l, const struct dsm_link_config *c)
{
	size_t size = dsm_link_size(c);

	if (!size)
		return -EINVAL;
	memset(l, 0, size);
	l->cfg = *c;
	layout(l, c);
	l->free = l->freed = DSM_NIL;
	for (u16 i = c->frames; i-- > 0; ) {
		slot_of(l, i)->next = l->free;
		l->free = i;
	}
	l->free_count = c->frames;
	for (u16 n = 0; n < c->nodes; n++)
		peer_of(l, n)->head = peer_of(l, n)->tail =
			peer_of(l, n)->early = DSM_NIL;
	return 0;
}

static u16 slot_get(struct dsm_link *l)
{
	u16 i = l->free;

	if (i != DSM_NIL) {
		l->free = slot_of(l, i)->next;
		l->free_count--;
		slot_of(l, i)->next = DSM_NIL;
	}
	return i;
}

static void slot_put(struct dsm_link *l, u16 i)
{
	slot_of(l, i)->next = l->free;
	l->free = i;
	l->free_count++;
}

static void call_begin(struct dsm_link *l, struct dsm_link_out *out)
{
	out->sends = out->messages = 0;
	while (l->freed != DSM_NIL) {
		u16 i = l->freed;

		l->freed = slot_of(l, i)->next;
		slot_put(l, i);
	}
}

static void transmit(struct dsm_link *l, u16 to, struct slot *f, u64 now,
		     struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);
	struct dsm_frame *h = (struct dsm_frame *)(f + 1);

	if (out->sends == SENDS_MAX)
		return;		/* the next tick sends it */
	h->ack = p->expect;
	p->ack_due = false;
	if (f->on_wire)
		l->stats.again++;
	f->on_wire = true;
	f->sent = now;
	l->stats.frames++;
	l->stats.bytes += f->len;
	out->send[out->sends].to = to;
	out->send[out->sends].len = f->len;
	out->send[out->sends++].frame = h;
}

/* Puts on the wire what the window allows. */
static void push(struct dsm_link *l, u16 to, u64 now,
		 struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);

	for (u16 i = p->head; i != DSM_NIL; i = slot_of(l, i)->next) {
		struct slot *f = slot_of(l, i);

		if (f->seq - p->acked >= l->cfg.window)
			return;
		if (!f->on_wire)
			transmit(l, to, f, now, out);
	}
}

int dsm_link_send(struct dsm_link *l, u16 to, const struct dsm_msg *m,
		  const void *body, u16 len, const void *page, u64 now,
		  struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);
	u32 size = sizeof(struct dsm_frame) + sizeof(*m) + len +
		(page ? l->cfg.page_bytes : 0);
	struct dsm_frame *h;
	struct slot *f;
	u8 *at;
	u16 i;

	call_begin(l, out);
	i = slot_get(l);
	if (i == DSM_NIL || size > l->cfg.frame_max) {
		if (i != DSM_NIL)
			slot_put(l, i);
		l->stats.refused++;
		return -ENOSPC;
	}
	f = slot_of(l, i);
	h = (struct dsm_frame *)(f + 1);
	f->seq = h->seq = p->next++;
	f->len = size;
	f->on_wire = false;
	h->epoch = p->epoch;
	h->body = len;
	at = (u8 *)(h + 1);
	memcpy(at, m, sizeof(*m));
	memcpy(at + sizeof(*m), body, len);
	if (page)
		memcpy(at + sizeof(*m) + len, page, l->cfg.page_bytes);
	if (p->head == DSM_NIL)
		p->head = i;
	else
		slot_of(l, p->tail)->next = i;
	p->tail = i;
	push(l, to, now, out);
	return 0;
}

/* Needs no room in the pool: a full pool empties by acks alone. */
static void ack_send(struct dsm_link *l, u16 to, struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);
	struct dsm_frame *h = &l->ack[out->sends];

	if (out->sends == SENDS_MAX)
		return;		/* the next tick tries again */
	memset(h, 0, sizeof(*h));
	h->ack = p->expect;
	h->epoch = p->epoch;
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
		transmit(l, from, slot_of(l, p->head), now, out);
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
	push(l, from, now, out);
}

static bool deliver(u16 from, const void *frame, u32 len,
		    struct dsm_link_out *out)
{
	if (out->messages == MESSAGES_MAX)
		return false;
	out->message[out->messages].from = from;
	out->message[out->messages].len = len;
	out->message[out->messages++].frame = frame;
	return true;
}

/* Frames that waited for this one. */
static void deliver_early(struct dsm_link *l, u16 from,
			  struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, from);

	while (p->early != DSM_NIL) {
		u16 i = p->early;
		struct slot *f = slot_of(l, i);

		if (f->seq != p->expect ||
		    !deliver(from, f + 1, f->len, out))
			return;
		p->early = f->next;
		p->expect++;
		f->next = l->freed;
		l->freed = i;
	}
}

static void keep(struct dsm_link *l, u16 from, const struct dsm_frame *h,
		 const void *frame, u32 len)
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
	i = slot_get(l);
	if (i == DSM_NIL) {
		l->stats.refused++;
		return;
	}
	f = slot_of(l, i);
	f->seq = h->seq;
	f->len = len;
	memcpy(f + 1, frame, len);
	f->next = *link;
	*link = i;
	l->stats.early++;
}

void dsm_link_receive(struct dsm_link *l, u16 from, const void *frame,
		      u32 len, u64 now, struct dsm_link_out *out)
{
	struct dsm_frame h;
	struct peer *p;

	call_begin(l, out);
	if (from >= l->cfg.nodes || len < sizeof(h) ||
	    len > l->cfg.frame_max) {
		l->stats.refused++;
		return;
	}
	p = peer_of(l, from);
	memcpy(&h, frame, sizeof(h));
	if (h.epoch != p->epoch) {
		l->stats.refused++;
		return;
	}
	ack_take(l, from, h.ack, len == sizeof(h), now, out);
	if (len == sizeof(h))
		return;
	if (before(h.seq, p->expect) ||
	    h.seq - p->expect >= l->cfg.window) {
		l->stats.twice++;
		ack_send(l, from, out);
		return;
	}
	if (h.seq != p->expect) {
		/* Tell the sender at once: it may repair the gap. */
		keep(l, from, &h, frame, len);
		ack_send(l, from, out);
		return;
	}
	p->expect++;
	deliver(from, frame, len, out);
	deliver_early(l, from, out);
	if (!p->ack_due) {
		p->ack_due = true;
		p->ack_since = now;
	}
}

void dsm_link_tick(struct dsm_link *l, u64 now, struct dsm_link_out *out)
{
	call_begin(l, out);
	for (u16 n = 0; n < l->cfg.nodes; n++) {
		struct peer *p = peer_of(l, n);
		struct slot *f;

		push(l, n, now, out);
		if (p->head != DSM_NIL) {
			f = slot_of(l, p->head);
			if (f->on_wire && now - f->sent >= l->cfg.timeout)
				transmit(l, n, f, now, out);
		}
		if (p->ack_due && now - p->ack_since >= l->cfg.delay)
			ack_send(l, n, out);
	}
}

void dsm_link_reset(struct dsm_link *l, u16 peer, u16 epoch)
{
	struct peer *p = peer_of(l, peer);
	u16 i;

	while (p->head != DSM_NIL) {
		i = p->head;
		p->head = slot_of(l, i)->next;
		slot_put(l, i);
	}
	while (p->early != DSM_NIL) {
		i = p->early;
		p->early = slot_of(l, i)->next;
		slot_put(l, i);
	}
	memset(p, 0, sizeof(*p));
	p->head = p->tail = p->early = DSM_NIL;
	p->epoch = epoch;
}

bool dsm_link_idle(const struct dsm_link *l, u16 peer)
{
	return peer_of((struct dsm_link *)l, peer)->head == DSM_NIL;
}

u16 dsm_link_room(const struct dsm_link *l)
{
	return l->free_count;
}

const struct dsm_link_stats *dsm_link_statistics(const struct dsm_link *l)
{
	return &l->stats;
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
