// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator's core: a queue of events in time, nodes with engine, link
 * and memory, CPUs that run operations, and a network with latency,
 * bandwidth and faults.  Called by cmd_sim.c, once per result.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "simcore.h"

#define WIRE_OVERHEAD	38	/* Ethernet: preamble, header, FCS, gap */
#define STUCK		10000000000ULL	/* nobody got on for so long */

static struct dsm_actions actions;

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

static struct sim_event dequeue(struct sim *s)
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
	return million && sim_random(&s->rng) % 1000000 < million;
}

static void fly(struct sim *s, u32 from, u32 to, u64 leaves, u32 len,
		const void *frame)
{
	struct sim_event e = { .kind = EV_FRAME, .node = to, .from = from,
			       .len = len };

	e.time = leaves + distance(s, from, to);
	if (s->c->jitter)
		e.time += sim_random(&s->rng) % (s->c->jitter + 1);
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
		const struct dsm_msg *m = (const void *)
			((const u8 *)out->send[i].frame +
			 sizeof(struct dsm_frame));
		bool message = len > sizeof(struct dsm_frame);
		bool data = message && m->flags & DSM_F_DATA;

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

static void send(struct sim *s, u32 node, const struct dsm_action *a)
{
	struct sim_node *n = &s->node[node];
	struct dsm_link_out out;
	const u64 *page = NULL;
	u64 start = 0;
	u32 to;

	if (a->msg.flags & DSM_F_DATA)
		page = n->memory + (u64)a->msg.page * SIM_WORDS;
	set_for_each(to, &a->to) {
		if (dsm_link_send(n->link, to, &a->msg,
				  actions.body + a->body, a->len, page,
				  s->now, &out)) {
			cli_error("sim: node %u has no frame left", node);
			s->failed = true;
			return;
		}
		transmit(s, node, &out, &start);
	}
}

static void wake(struct sim *s, u32 node, u32 cpu, u64 cost)
{
	struct sim_cpu *c = &s->node[node].cpu[cpu];

	if (!c->blocked)
		return;
	c->blocked = false;
	sim_queue(s, (struct sim_event){ .time = s->now + cost, .kind = EV_CPU,
				     .node = node, .cpu = cpu });
}

static void apply(u64 *word, u8 mask, u64 value)
{
	for (int b = 0; b < 8; b++)
		if (mask >> b & 1)
			*word = (*word & ~(0xffULL << 8 * b)) |
				(value & 0xffULL << 8 * b);
}

static void act(struct sim *s, u32 node, const struct dsm_action *a)
{
	struct sim_node *n = &s->node[node];
	u64 *page = n->memory + (u64)a->page * SIM_WORDS;

	switch (a->type) {
	case DSM_ACT_SEND:
		send(s, node, a);
		break;
	case DSM_ACT_INSTALL:
		memcpy(page, s->incoming, SIM_PAGE_BYTES);
		break;
	case DSM_ACT_APPLY:
		if (a->word < SIM_WORDS)
			apply(page + a->word, a->mask, a->value);
		break;
	case DSM_ACT_RETRY:
		wake(s, node, a->cpu, s->c->fault / 2);
		break;
	case DSM_ACT_DONE:
		n->cpu[a->cpu].ready = true;
		break;
	}
}

static void step(struct sim *s, u32 node, struct dsm_event *ev)
{
	struct sim_node *n = &s->node[node];
	struct dsm_event again = { .type = DSM_EV_AGAIN };
	u32 count;
	bool more;

	ev->now = s->now;
	ev->tx_idle = n->port_free <= s->now;
	ev->tx_full = dsm_link_room(n->link) < sim_reserve(s->c);
	do {
		dsm_step(n->dsm, ev, &actions);
		s->r->events++;
		more = false;
		if (actions.full) {
			cli_error("sim: too many actions");
			s->failed = true;
		}
		/* A woken CPU only queues an event: no step nests here. */
		count = actions.count;
		for (u32 i = 0; i < count; i++) {
			act(s, node, &actions.act[i]);
			more |= actions.act[i].type == DSM_ACT_AGAIN;
		}
		again.now = s->now;
		ev = &again;
	} while (more && !s->failed);
	if (dsm_pending(n->dsm) && !n->idle_due) {
		n->idle_due = true;
		sim_queue(s, (struct sim_event){ .kind = EV_IDLE, .node = node,
			.time = n->port_free > s->now ? n->port_free :
			s->now + 1 });
	}
}

static u64 value_after(const struct sim_op *op, u64 old)
{
	return op->kind == SIM_ADD ? old + op->value : op->value;
}

/* The operation is over: note what it read, and on to the next. */
static void complete(struct sim *s, u32 node, u32 cpu, u64 cost)
{
	struct sim_cpu *c = &s->node[node].cpu[cpu];
	u64 limit = s->c->pattern == PAT_PINGPONG ? s->c->ops : 0;

	if (c->since) {
		u64 stall = s->now - c->since;

		s->r->stalls++;
		s->r->stall_time += stall;
		if (stall > s->r->longest)
			s->r->longest = stall;
		c->since = 0;
	}
	c->count++;
	s->total++;
	pattern_next(s->c, node * s->c->cpus + cpu, c);
	if (c->op.kind == SIM_END || (limit && s->total >= limit)) {
		c->ended = true;
		s->running--;
		s->r->time = s->now;
		return;
	}
	sim_queue(s, (struct sim_event){ .kind = EV_CPU, .node = node,
		.cpu = cpu, .time = s->now + cost + c->op.think });
}

static void native(struct sim *s, u32 node, u32 cpu, u64 *word)
{
	struct sim_cpu *c = &s->node[node].cpu[cpu];
	struct dsm_event ev = { .type = DSM_EV_RETIRED, .cpu = cpu };

	c->got = *word;
	if (c->op.kind != SIM_READ)
		*word = value_after(&c->op, *word);
	if (dsm_cpu_holds(s->node[node].dsm, cpu))
		step(s, node, &ev);
	complete(s, node, cpu, 0);
}

static void run_cpu(struct sim *s, u32 node, u32 cpu)
{
	struct sim_node *n = &s->node[node];
	struct sim_cpu *c = &n->cpu[cpu];
	struct sim_op *op = &c->op;
	u64 *word = n->memory + (u64)op->page * SIM_WORDS + op->word;
	struct dsm_event ev = { .type = DSM_EV_FAULT, .cpu = cpu,
		.page = op->page, .word = op->word, .mask = 0xff };
	enum dsm_access need = op->kind == SIM_READ ? DSM_RO : DSM_RW;

	if (c->ended)
		return;
	if (dsm_page_access(n->dsm, op->page) >= need) {
		native(s, node, cpu, word);
		return;
	}
	ev.touch = op->kind == SIM_READ ? DSM_READ :
		op->kind == SIM_WRITE ? DSM_WRITE : DSM_ATOMIC;
	c->got = *word;
	ev.value = value_after(op, *word);
	c->ready = false;
	c->blocked = true;
	step(s, node, &ev);
	if (c->ready) {
		c->blocked = false;
		complete(s, node, cpu, s->c->trap);
	} else if (c->blocked && !c->since) {
		c->since = s->now;
	}
}

/* One message at a time, in the order of arrival. */
static void arrive(struct sim *s, struct sim_event e)
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
	s->incoming = page;
	step(s, node, &ev);
}

/*
 * What the link delivers lies in its memory, which the engine's answers
 * use as well: take it out first.
 */
static void handle(struct sim *s, struct sim_event *e)
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
		message(s, e->node, e->from, copy[i], len[i]);
}

static void tick(struct sim *s, u32 node)
{
	struct dsm_event ev = { .type = DSM_EV_TICK };
	struct dsm_link_out out;
	u64 start = 0;

	dsm_link_tick(s->node[node].link, s->now, &out);
	transmit(s, node, &out, &start);
	step(s, node, &ev);
	sim_queue(s, (struct sim_event){ .kind = EV_TICK, .node = node,
				     .time = s->now + TICK });
}

void sim_progress(struct sim *s, bool end)
{
	u64 all = s->c->pattern == PAT_PINGPONG ? s->c->ops :
		s->c->ops * s->c->nodes * s->c->cpus;
	static time_t last;
	time_t now = time(NULL);

	if (!s->c->progress || (!end && now == last))
		return;
	last = now;
	fprintf(stderr, "\rmios-dsm: %s, %s, %u nodes: %3llu %%%s",
		sim_pattern_name[s->c->pattern],
		sim_policy_name[s->c->policy], s->c->nodes,
		(unsigned long long)(s->total * 100 / (all ? all : 1)),
		end ? "\r\033[K" : "");
}

/* The network falls silent: what is under way arrives, nothing new starts. */
static bool quiet(struct sim *s)
{
	for (u32 n = 0; n < s->c->nodes; n++)
		for (u32 to = 0; to < s->c->nodes; to++)
			if (!dsm_link_idle(s->node[n].link, to))
				return false;
	return true;
}

void sim_loop(struct sim *s)
{
	struct dsm_event idle = { .type = DSM_EV_TX_IDLE };
	u64 steps = 0, total = 0, moved = 0;

	while (s->count && !s->failed) {
		struct sim_event e = dequeue(s);

		s->now = e.time;
		switch (e.kind) {
		case EV_CPU:
			run_cpu(s, e.node, e.cpu);
			break;
		case EV_FRAME:
			arrive(s, e);
			break;
		case EV_HANDLE:
			handle(s, &e);
			free(e.frame);
			break;
		case EV_IDLE:
			s->node[e.node].idle_due = false;
			step(s, e.node, &idle);
			break;
		default:
			tick(s, e.node);
		}
		if (!(++steps & 0xfff))
			sim_progress(s, false);
		if (s->total != total) {
			total = s->total;
			moved = s->now;
		}
		if (!s->running && s->now > moved + 40 * TICK && quiet(s))
			break;
		if (s->running && s->now > moved + STUCK) {
			cli_error("sim: %s under %s: nothing moves on",
				  sim_pattern_name[s->c->pattern],
				  sim_policy_name[s->c->policy]);
			s->stuck = true;
			break;
		}
	}
	while (s->count)
		free(dequeue(s).frame);
}
