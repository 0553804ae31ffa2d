// SPDX-License-Identifier: GPL-2.0
/*
 * The link layer, see dsm_link.h: its pool, and what it sends.  A frame stays
 * in the pool until its receiver has acknowledged it; a message that is longer
 * than a frame may be goes in pieces, each a frame of its own.  Called by the
 * transport's binding around each engine step.
 */
#include "dsm_link_inside.h"

static u64 layout(struct dsm_link *l, const struct dsm_link_config *c)
{
	l->off_slots = sizeof(*l) + c->nodes * sizeof(struct peer);
	l->stride = (sizeof(struct slot) + c->frame_max + 7) & ~7u;
	l->off_join = l->off_slots + (u64)c->frames * l->stride;
	l->join_stride = c->apart ? 0 : (c->message_max + 7) & ~7u;
	return l->off_join + (u64)c->nodes * l->join_stride;
}

size_t dsm_link_size(const struct dsm_link_config *c)
{
	struct dsm_link l;

	if (!c->nodes || c->nodes > DSM_NODES_MAX || c->self >= c->nodes ||
	    !c->frames || c->frames >= DSM_NIL || !c->window ||
	    c->window >= MESSAGES_MAX || c->page_bytes > DSM_PAGE_SIZE ||
	    c->frame_max < sizeof(struct dsm_frame) +
	    sizeof(struct dsm_msg) || c->frame_max > DSM_FRAME_MAX ||
	    c->message_max > DSM_FRAME_MAX)
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
	l->free = DSM_NIL;
	for (u16 i = c->frames; i-- > 0; ) {
		slot_of(l, i)->next = l->free;
		l->free = i;
	}
	l->free_count = c->frames;
	if (c->nodes > 1)
		l->share = c->frames / 2 / (c->nodes - 1);
	l->owed = l->share * (c->nodes - 1u);
	for (u16 n = 0; n < c->nodes; n++)
		peer_of(l, n)->head = peer_of(l, n)->tail =
			peer_of(l, n)->early = DSM_NIL;
	return 0;
}

/*
 * Half of the pool is shared out among the peers, the rest is for whoever
 * needs it: a peer that falls silent can hold that, and its own share, and
 * what others need to go on stays.
 */
u16 dsm_link_room(const struct dsm_link *l, u16 peer)
{
	const struct peer *p = peer_of((struct dsm_link *)l, peer);

	return l->free_count - l->owed +
		(p->held < l->share ? l->share - p->held : 0);
}

u16 slot_get(struct dsm_link *l, u16 peer)
{
	struct peer *p = peer_of(l, peer);
	u16 i = l->free;

	if (!dsm_link_room(l, peer))
		return DSM_NIL;
	l->free = slot_of(l, i)->next;
	l->free_count--;
	l->owed -= p->held < l->share;
	p->held++;
	slot_of(l, i)->next = DSM_NIL;
	slot_of(l, i)->peer = peer;
	return i;
}

void slot_put(struct dsm_link *l, u16 i)
{
	struct peer *p = peer_of(l, slot_of(l, i)->peer);

	slot_of(l, i)->next = l->free;
	l->free = i;
	l->free_count++;
	p->held--;
	l->owed += p->held < l->share;
}

static void frames_drop(struct dsm_link *l, u16 *list)
{
	while (*list != DSM_NIL) {
		u16 i = *list;

		*list = slot_of(l, i)->next;
		slot_put(l, i);
	}
}

void link_begin(struct dsm_link *l, struct dsm_link_out *out)
{
	l->calls++;
	out->sends = out->messages = 0;
	out->more = false;
}

void link_transmit(struct dsm_link *l, u16 to, struct slot *f, u64 now,
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
void link_push(struct dsm_link *l, u16 to, u64 now,
	       struct dsm_link_out *out)
{
	struct peer *p = peer_of(l, to);

	for (u16 i = p->head; i != DSM_NIL; i = slot_of(l, i)->next) {
		struct slot *f = slot_of(l, i);

		if (f->seq - p->acked >= l->cfg.window)
			return;
		if (!f->on_wire)
			link_transmit(l, to, f, now, out);
	}
}

/* A message's parts, one behind the other. */
struct part {
	const void *at;
	u32 len;
};

/* Copies what lies from off on, so much that to is full or all is read. */
static u32 gather(u8 *to, u32 room, const struct part *part, int parts,
		  u32 off)
{
	u32 done = 0, n;

	for (; parts; parts--, part++) {
		if (off >= part->len) {
			off -= part->len;
			continue;
		}
		n = part->len - off < room - done ? part->len - off :
			room - done;
		memcpy(to + done, (const u8 *)part->at + off, n);
		done += n;
		off = 0;
	}
	return done;
}

/* One frame, with what lies from off on; returns how much that is. */
static u32 piece_queue(struct dsm_link *l, u16 to, const struct part *part,
		       u32 off, u32 all)
{
	struct peer *p = peer_of(l, to);
	u16 i = slot_get(l, to);
	struct slot *f = slot_of(l, i);
	struct dsm_frame *h = (struct dsm_frame *)(f + 1);
	u32 n = gather((u8 *)(h + 1), l->cfg.frame_max - sizeof(*h), part, 3,
		       off);

	memset(h, 0, sizeof(*h));
	h->magic = DSM_FRAME_MAGIC;
	h->version = DSM_FRAME_VERSION;
	h->flags = (off ? DSM_FRAME_REST : 0) |
		(off + n < all ? DSM_FRAME_MORE : 0);
	h->len = f->len = sizeof(*h) + n;
	h->body = part[1].len;
	h->from = l->cfg.life;
	h->to = p->life;
	h->seq = f->seq = p->next++;
	f->on_wire = false;
	if (p->head == DSM_NIL)
		p->head = i;
	else
		slot_of(l, p->tail)->next = i;
	p->tail = i;
	return n;
}

int dsm_link_send(struct dsm_link *l, u16 to, const struct dsm_msg *m,
		  const void *body, u16 len, const void *page, u64 now,
		  struct dsm_link_out *out)
{
	const struct part part[3] = { { m, sizeof(*m) }, { body, len },
		{ page, page ? l->cfg.page_bytes : 0 } };
	u32 all = sizeof(*m) + len + part[2].len, off = 0;
	u32 piece = l->cfg.frame_max - sizeof(struct dsm_frame);

	link_begin(l, out);
	if (to >= l->cfg.nodes || to == l->cfg.self ||
	    (all > piece &&
	     all + sizeof(struct dsm_frame) > l->cfg.message_max)) {
		l->stats.refused++;
		return -EINVAL;
	}
	/* All of it or nothing: half a message would block those behind. */
	if (dsm_link_room(l, to) < (all + piece - 1) / piece) {
		l->stats.refused++;
		return -ENOSPC;
	}
	while (off < all)
		off += piece_queue(l, to, part, off, all);
	link_push(l, to, now, out);
	return 0;
}

void dsm_link_tick(struct dsm_link *l, u64 now, struct dsm_link_out *out)
{
	link_begin(l, out);
	for (u16 n = 0; n < l->cfg.nodes; n++) {
		struct peer *p = peer_of(l, n);
		struct slot *f;

		link_push(l, n, now, out);
		if (p->head != DSM_NIL) {
			f = slot_of(l, p->head);
			if (f->on_wire && now - f->sent >= l->cfg.timeout)
				link_transmit(l, n, f, now, out);
		}
		link_early(l, n, out);
		if (p->ack_due && now - p->ack_since >= l->cfg.delay)
			link_ack(l, n, out);
	}
}

void dsm_link_reset(struct dsm_link *l, u16 peer, u16 life)
{
	struct peer *p = peer_of(l, peer);

	frames_drop(l, &p->head);
	frames_drop(l, &p->early);
	memset(p, 0, sizeof(*p));
	p->head = p->tail = p->early = DSM_NIL;
	p->life = life;
}

bool dsm_link_idle(const struct dsm_link *l, u16 peer)
{
	return peer_of((struct dsm_link *)l, peer)->head == DSM_NIL;
}

u16 dsm_link_free(const struct dsm_link *l)
{
	return l->free_count;
}

const struct dsm_link_stats *dsm_link_statistics(const struct dsm_link *l)
{
	return &l->stats;
}
