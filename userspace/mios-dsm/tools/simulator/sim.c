// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator's core: nodes with engine and memory, CPUs that run
 * operations, time that passes.  simnet.c has the network.  Called by
 * simrun.c, once per result.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../libmios/cli.h"
#include "simcore.h"

#define STUCK		10000000000ULL	/* nobody got on for so long */

static struct dsm_actions actions;

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

/* run_cpu() sees it, unless the engine says so later. */
static void done(struct sim *s, u32 node, u32 cpu)
{
	struct sim_cpu *c = &s->node[node].cpu[cpu];

	c->ready = true;
	if (c->inside || !c->blocked)
		return;
	c->blocked = false;
	complete(s, node, cpu, s->c->trap);
}

static void act(struct sim *s, u32 node, const struct dsm_action *a)
{
	struct sim_node *n = &s->node[node];
	u64 *page = n->memory + (u64)a->page * SIM_WORDS;

	switch (a->type) {
	case DSM_ACT_SEND:
		sim_send(s, node, a, actions.body + a->body,
			 n->memory + (u64)a->msg.page * SIM_WORDS);
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
		done(s, node, a->cpu);
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
	ev->tx_full = dsm_link_free(n->link) <
		sim_frames(s->c) + sim_reserve(s->c);
	do {
		adapt_step(n->adapt, n->dsm, ev, &actions);
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
	c->inside = true;
	step(s, node, &ev);
	c->inside = false;
	if (c->ready) {
		c->blocked = false;
		complete(s, node, cpu, s->c->trap);
	} else if (c->blocked && !c->since) {
		c->since = s->now;
	}
}

static void tick(struct sim *s, u32 node)
{
	struct dsm_event ev = { .type = DSM_EV_TICK };
	const struct sim_node *n = &s->node[node];

	step(s, node, &ev);
	if (n->adapt && adapt_wish(n->adapt, n->dsm, &ev))
		step(s, node, &ev);
	sim_link_tick(s, node);
}

static void deliver(struct sim *s, u32 node, struct dsm_event *ev,
		    const u64 *page)
{
	s->incoming = page;
	step(s, node, ev);
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

void sim_loop(struct sim *s)
{
	struct dsm_event idle = { .type = DSM_EV_TX_IDLE };
	u64 steps = 0, total = 0, moved = 0;
	u64 patience = sim_patience(s->c, STUCK);

	s->deliver = deliver;
	while (s->count && !s->failed) {
		struct sim_event e = sim_dequeue(s);

		s->now = e.time;
		switch (e.kind) {
		case EV_CPU:
			run_cpu(s, e.node, e.cpu);
			break;
		case EV_FRAME:
			sim_arrive(s, e);
			break;
		case EV_HANDLE:
			sim_handle(s, &e);
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
		if (!s->running && s->now > moved + 40 * TICK && sim_quiet(s))
			break;
		if (s->running && s->now > moved + patience) {
			cli_error("sim: %s under %s: nothing moves on",
				  sim_pattern_name[s->c->pattern],
				  sim_policy_name[s->c->policy]);
			s->stuck = true;
			break;
		}
	}
	while (s->count)
		free(sim_dequeue(s).frame);
}
