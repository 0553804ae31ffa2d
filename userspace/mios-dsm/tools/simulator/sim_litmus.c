// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm litmus --on sim: the explorer's CPUs, store buffers and memories
 * with the simulator's network between them: link layer, latency, jitter,
 * loss, duplicates, reordering, a wire that is busy.  Every choice comes
 * from the seed.  Called by runs.c, once per run.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "../../../libmios/random.h"
#include "sim_litmus.h"
#include "simcore.h"

#define FRAMES		128
#define PAUSE		4000	/* between two steps of a CPU, at most */
#define SPARE		20000	/* between evictions and the like */
#define STUCK		2000000000ULL

struct litrun {
	struct runs *r;
	struct world *w;
	struct world_state *s;
	struct sim sim;
	struct sim_config c;
	struct sim_result result;
	struct sim_node node[W_NODES];
	u64 choice;		/* the seed's next */
};

static u64 below(struct litrun *l, u64 n)
{
	return random_next(&l->choice) % n;
}

static bool dead(const struct litrun *l, u32 node)
{
	return l->s->dead >> node & 1;
}

/* The world wants a message sent: its words are the page. */
static void send(struct world *w, struct world_state *s, int node,
		 const struct dsm_action *a, const u8 *body)
{
	struct litrun *l = w->arg;
	u64 page[SIM_WORDS] = { 0 };

	memcpy(page, s->mem[node], sizeof(s->mem[node]));
	w->messages++;
	sim_send(&l->sim, node, a, body, page);
}

static void deliver(struct sim *sim, u32 node, struct dsm_event *ev,
		    const u64 *page)
{
	struct litrun *l = sim->arg;
	struct world_msg m;

	memset(&m, 0, sizeof(m));
	m.msg = ev->msg;
	m.src = ev->msg.src;
	m.dst = node;
	if (page)
		memcpy(m.word, page, sizeof(m.word));
	world_step(l->w, l->s, node, ev, &m);
	world_check(l->w, l->s);
}

/* What the engines read of the clock and of their wires. */
static void look_at_clock(struct litrun *l)
{
	l->w->now = l->sim.now;
	l->w->idle = 0;
	for (int n = 0; n < l->w->nodes; n++)
		if (l->node[n].port_free <= l->sim.now)
			l->w->idle |= 1 << n;
}

/* Updates that wait leave when the wire is free. */
static void idle_plan(struct litrun *l)
{
	for (int n = 0; n < l->w->nodes; n++) {
		struct sim_node *sn = &l->node[n];

		if (dead(l, n) || sn->idle_due ||
		    !dsm_pending(world_engine(l->w, l->s, n)))
			continue;
		sn->idle_due = true;
		sim_queue(&l->sim, (struct sim_event){ .kind = EV_IDLE,
			.node = n, .time = sn->port_free > l->sim.now ?
			sn->port_free : l->sim.now + 1 });
	}
}

static void cpu_turn(struct litrun *l, struct sim_event e)
{
	struct world_cpu *c = &l->s->cpu[e.cpu];
	bool run = cpu_can(l->w, l->s, e.cpu);

	if (c->stores && (!run || below(l, 2)))
		world_move(l->w, l->s, (struct world_move){ W_DRAIN, e.cpu, 0, 0 });
	else if (run)
		world_move(l->w, l->s, (struct world_move){ W_CPU, e.cpu, 0, 0 });
	e.time = l->sim.now + 1 + below(l, PAUSE);
	sim_queue(&l->sim, e);
}

static void spare_move(struct litrun *l, struct world_move m)
{
	if (m.kind == W_DIE && below(l, RUNS_DEATH))
		return;
	world_move(l->w, l->s, m);
	if (m.kind == W_TELL)
		sim_bury(&l->sim, m.a, m.b);
}

/* Evictions, changes of mode, deaths and the news of them. */
static void spare_turn(struct litrun *l, struct sim_event e)
{
	struct world_move move[W_MOVES];
	int count = world_moves(l->w, l->s, move, W_MOVES), kept = 0;

	for (int i = 0; i < count; i++)
		if (move[i].kind >= W_EVICT)
			move[kept++] = move[i];
	if (kept)
		spare_move(l, move[below(l, kept)]);
	e.time = l->sim.now + 1 + below(l, SPARE);
	sim_queue(&l->sim, e);
}

static void tick(struct litrun *l, u32 node)
{
	struct dsm_event ev = { .type = DSM_EV_TICK };

	world_step(l->w, l->s, node, &ev, NULL);
	sim_link_tick(&l->sim, node);
}

static void happen(struct litrun *l, struct sim_event *e)
{
	switch (e->kind) {
	case EV_CPU:
		cpu_turn(l, *e);
		break;
	case EV_FRAME:
		sim_arrive(&l->sim, *e);
		break;
	case EV_HANDLE:
		sim_handle(&l->sim, e);
		break;
	case EV_IDLE:
		l->node[e->node].idle_due = false;
		world_move(l->w, l->s, (struct world_move){ W_IDLE, e->node, 0, 0 });
		break;
	case EV_SPARE:
		spare_turn(l, *e);
		break;
	default:
		tick(l, e->node);
	}
}

/* All CPUs are done, everybody knows who died, nothing is under way. */
static bool over(struct litrun *l)
{
	if (!world_over(l->w, l->s))
		return false;
	for (int n = 0; n < l->w->nodes; n++) {
		if (dead(l, n))
			continue;
		if (dsm_pending(world_engine(l->w, l->s, n)) ||
		    l->s->dead & ~l->s->told[n])
			return false;
		for (int to = 0; to < l->w->nodes; to++)
			if (!dead(l, to) &&
			    !dsm_link_idle(l->node[n].link, to))
				return false;
	}
	return true;
}

/* Nobody can tell a loop that goes on from one that waits in vain. */
static void waited(struct litrun *l)
{
	if (lit_loops(l->w->t))
		verdict_limit(&l->r->v, "a loop has not ended after 2 seconds");
	else
		verdict_violated(&l->r->v, "a CPU waits for ever");
}

static void run(struct litrun *l)
{
	struct sim *sim = &l->sim;
	u64 patience = sim_patience(&l->c, STUCK);

	while (sim->count && !sim->failed && !*l->w->broken) {
		struct sim_event e = sim_dequeue(sim);
		bool gone = e.kind != EV_SPARE && dead(l, e.node);

		sim->now = e.time;
		if (!gone) {
			look_at_clock(l);
			happen(l, &e);
			idle_plan(l);
			l->r->events++;
		}
		if (e.kind == EV_HANDLE || (gone && e.kind == EV_FRAME))
			free(e.frame);
		if (over(l)) {
			judge_end(l->r->judge, l->w, l->s, &l->r->v);
			return;
		}
		if (sim->now > patience) {
			waited(l);
			return;
		}
	}
	if (*l->w->broken)
		verdict_broken(&l->r->v, l->w);
}

static int begin(struct litrun *l)
{
	struct dsm_link_config lc;

	l->sim.c = &l->c;
	l->sim.r = &l->result;
	l->sim.node = l->node;
	l->sim.rng = random_next(&l->choice);
	l->sim.arg = l;
	l->sim.deliver = deliver;
	for (int n = 0; n < l->w->nodes; n++) {
		sim_link_config(&l->c, n, &lc);
		lc.frames = FRAMES;
		lc.window = FRAMES / 8;
		l->node[n].link = malloc(dsm_link_size(&lc));
		if (sim_stamp(&l->c))
			l->node[n].causal = causal_new(l->w->nodes, n,
						       l->c.no_causal);
		if (!l->node[n].link || dsm_link_init(l->node[n].link, &lc) ||
		    (sim_stamp(&l->c) && !l->node[n].causal))
			return cli_error("out of memory");
		sim_queue(&l->sim, (struct sim_event){ .kind = EV_TICK,
			.node = n, .time = 1 + below(l, TICK) });
	}
	for (int i = 0; i < l->w->t->threads; i++)
		sim_queue(&l->sim, (struct sim_event){ .kind = EV_CPU,
			.node = l->w->node_of[i], .cpu = i,
			.time = 1 + below(l, 5 * PAUSE) });
	sim_queue(&l->sim, (struct sim_event){ .kind = EV_SPARE,
		.time = 1 + below(l, SPARE) });
	return 0;
}

int sim_litmus_one(struct runs *r, struct world *w, struct world_state *s,
		   u64 seed)
{
	struct litrun l = { .r = r, .w = w, .s = s, .c = *r->net,
			    .choice = seed };
	int err;

	l.c.nodes = w->nodes;
	if (l.c.topology == TOPO_RING && w->nodes < 3)
		return cli_error("litmus: a ring needs 3 nodes");
	l.c.policy = w->protocol == DSM_WI ? POL_IVY :
		w->protocol == DSM_WU ? POL_WU :
		w->protocol == DSM_WUPLUS ? POL_WUPLUS : POL_WUSEQ;
	w->send = send;
	w->arg = &l;
	w->lease = l.c.lease;
	w->order = sim_order(&l.c);
	if (world_init(w, s))
		return cli_error("%s: %s", w->t->name, w->broken);
	err = begin(&l);
	if (!err)
		run(&l);
	if (l.sim.failed)
		err = 2;
	while (l.sim.count)
		free(sim_dequeue(&l.sim).frame);
	for (int n = 0; n < w->nodes; n++) {
		free(l.node[n].link);
		causal_free(l.node[n].causal);
	}
	free(l.sim.heap);
	return err;
}
