// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator's network: a queue of events in time, and links over wires
 * with latency, bandwidth and faults.  Used by sim.c for synthetic programs
 * and by sim_litmus.c for litmus tests.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "../../../libmios/random.h"
#include "simcore.h"

#define WIRE_OVERHEAD	38	/* Ethernet: preamble, header, FCS, gap */

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void sim_queue(struct sim *s, struct sim_event e)
{
	u64 i;

	if (s->count == s->room) {
		u64 room = s->room ? 2 * s->room : 4096;
		void *more = realloc(s->heap, room * sizeof(e));

		if (!more) {
			s->failed = true;
			return;
		}
		s->heap = more;
		s->room = room;
	}
	e.order = s->order++;
	for (i = s->count++; i && earlier(&e, &s->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = e;
}

struct sim_event sim_dequeue(struct sim *s)
{
	struct sim_event first = s->heap[0], last = s->heap[--s->count];
	u64 i = 0, child;

	while ((child = 2 * i + 1) < s->count) {
		if (child + 1 < s->count &&
		    earlier(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!earlier(&s->heap[child], &last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	if (s->count)
		s->heap[i] = last;
	return first;
}

static u64 distance(const struct sim *s, u32 a, u32 b)
{
	u32 n = s->c->nodes, d = a > b ? a - b : b - a;

	if (s->c->topology == TOPO_TREE)
		/* Two switches and a trunk between them. */
		return (a < n / 2) == (b < n / 2) ? s->c->latency :
			2 * s->c->latency;
	if (s->c->topology == TOPO_RING)
		return s->c->latency * (d < n - d ? d : n - d);
	return s->c->latency;
}

static bool chance(struct sim *s, u64 million)
{
	return million && random_next(&s->rng) % 1000000 < million;
}

static void fly(struct sim *s, u32 from, u32 to, u64 leaves, u32 len,
		const void *frame)
{
	struct sim_event e = { .kind = EV_FRAME, .node = to, .from = from,
			       .len = len };

	e.time = leaves + distance(s, from, to);
	if (s->c->jitter)
		e.time += random_next(&s->rng) % (s->c->jitter + 1);
	if (chance(s, s->c->reorder))
		e.time += 3 * s->c->latency;
	if (chance(s, s->c->loss))
		return;
	e.frame = malloc(len);
	if (!e.frame) {
		s->failed = true;
		return;
	}
	memcpy(e.frame, frame, len);
	sim_queue(s, e);
}

/* What the link wants on the wire; one broadcast is one transmission. */
static void transmit(struct sim *s, u32 from,
		     const struct dsm_link_out *out, u64 *start)
{
	struct sim_node *n = &s->node[from];

	for (u32 i = 0; i < out->sends; i++) {
		u32 len = out->send[i].len, wire = len + WIRE_OVERHEAD;
		const u8 *m = (const u8 *)out->send[i].frame +
			sizeof(struct dsm_frame);
		bool message = len > sizeof(struct dsm_frame);
		bool data = message &&
			m[offsetof(struct dsm_msg, flags)] & DSM_F_DATA;

		/*
		 * GiantVM sends a whole page whatever it has to say; what
		 * the transport below it acknowledges is not its doing.
		 */
		if (data || (message && s->c->policy == POL_GIANTVM))
			wire += DSM_PAGE_SIZE - (data ? SIM_PAGE_BYTES : 0);
		if (wire < 84)
			wire = 84;
		if (!*start) {
			*start = s->now > n->port_free ? s->now :
				n->port_free;
			n->port_free = *start + wire * 8000ULL / s->c->mbits;
		}
		s->r->wire_bytes += wire;
		fly(s, from, out->send[i].to, n->port_free, len,
		    out->send[i].frame);
		if (chance(s, s->c->twice))
			fly(s, from, out->send[i].to, n->port_free, len,
			    out->send[i].frame);
	}
}

/* A message of the engine to all its receivers; page if it carries one. */
void sim_send(struct sim *s, u32 node, const struct dsm_action *a,
	      const u8 *body, const u64 *page)
{
	u8 stamped[CAUSAL_STAMP_MAX + DSM_BODY_MAX];
	struct sim_node *n = &s->node[node];
	struct dsm_link_out out;
	u32 to, len = a->len;
	u64 start = 0;

	if (n->causal) {
		len = causal_stamp(n->causal, &a->to, stamped);
		memcpy(stamped + len, body, a->len);
		len += a->len;
		body = stamped;
	}
	set_for_each(to, &a->to) {
		if (dsm_link_send(n->link, to, &a->msg, body, len,
				  a->msg.flags & DSM_F_DATA ? page : NULL,
				  s->now, &out)) {
			cli_error("sim: node %u has no frame left", node);
			s->failed = true;
			return;
		}
		transmit(s, node, &out, &start);
	}
}

/* One message at a time, in the order of arrival. */
void sim_arrive(struct sim *s, struct sim_event e)
{
	struct sim_node *n = &s->node[e.node];

	n->busy = (n->busy > s->now ? n->busy : s->now) + s->c->handle;
	e.kind = EV_HANDLE;
	e.time = n->busy;
	sim_queue(s, e);
}

static void message(struct sim *s, u32 node, u16 from, const void *frame,
		    u32 len)
{
	const void *page;
	struct dsm_event ev;

	if (!dsm_frame_parse(frame, len, from, SIM_PAGE_BYTES, &ev, &page)) {
		cli_error("sim: a frame was damaged");
		s->failed = true;
		return;
	}
	ev.body = (const u8 *)ev.body + sim_stamp(s->c);
	ev.len -= sim_stamp(s->c);
	s->deliver(s, node, &ev, page);
}

/* All that waits for nothing any more. */
static void release(struct sim *s, u32 node)
{
	struct causal_held *h;

	while (!s->failed && (h = causal_next(s->node[node].causal))) {
		message(s, node, h->from, h->frame, h->len);
		free(h);
	}
}

static void hand_up(struct sim *s, u32 node, u16 from, const void *frame,
		    u32 len)
{
	struct causal *c = s->node[node].causal;
	int wait;

	if (!c) {
		message(s, node, from, frame, len);
		return;
	}
	wait = causal_keep(c, from, frame, len);
	if (wait < 0) {
		cli_error("sim: a frame cannot be kept");
		s->failed = true;
		return;
	}
	s->r->held += wait;
	release(s, node);
}

void sim_bury(struct sim *s, u32 node, u32 dead)
{
	if (!s->node[node].causal)
		return;
	causal_bury(s->node[node].causal, dead);
	release(s, node);
}

/*
 * What the link delivers lies in its memory, which the engine's answers
 * use as well: take it out first.
 */
void sim_handle(struct sim *s, struct sim_event *e)
{
	static u8 copy[64][DSM_FRAME_MAX];
	static struct dsm_link_out out;
	struct sim_node *n = &s->node[e->node];
	u32 len[64], count;
	u64 start = 0;

	dsm_link_receive(n->link, e->from, e->frame, e->len, s->now, &out);
	count = out.messages;
	for (u32 i = 0; i < count; i++) {
		len[i] = out.message[i].len;
		memcpy(copy[i], out.message[i].frame, len[i]);
	}
	transmit(s, e->node, &out, &start);
	for (u32 i = 0; i < count && !s->failed; i++)
		hand_up(s, e->node, e->from, copy[i], len[i]);
}

/* Acknowledgements that waited, frames to be sent again. */
void sim_link_tick(struct sim *s, u32 node)
{
	struct dsm_link_out out;
	u64 start = 0;

	dsm_link_tick(s->node[node].link, s->now, &out);
	transmit(s, node, &out, &start);
	sim_queue(s, (struct sim_event){ .kind = EV_TICK, .node = node,
				     .time = s->now + TICK });
}

/* The network falls silent: what is under way arrives, nothing new starts. */
bool sim_quiet(const struct sim *s)
{
	for (u32 n = 0; n < s->c->nodes; n++)
		for (u32 to = 0; to < s->c->nodes; to++)
			if (!dsm_link_idle(s->node[n].link, to))
				return false;
	return true;
}
