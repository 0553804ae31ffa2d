// SPDX-License-Identifier: GPL-2.0
/*
 * One simulation from configuration to result: sets up the nodes, lets
 * sim.c run them, adds up their statistics, checks what is in memory.
 * Called by cmd_sim.c.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "../../../../mios/dsm/knobs.h"
#include "simcore.h"

/* Most that the engine takes for a log of sequenced stores. */
#define LOG_MAX	128

const char *const sim_policy_name[] = { "ivy", "giantvm", "wu", "wu+",
	"wu-seq", "auto", NULL };
const char *const sim_topology_name[] = { "switch", "tree", "ring", NULL };

/*
 * Equal delays and nothing lost: a broadcast arrives everywhere at one
 * time, so the order is total.  Anything else keeps FIFO only, and what
 * needs more gets stamps.
 */
enum dsm_order sim_order(const struct sim_config *c)
{
	if (!c->jitter && !c->loss && !c->twice && !c->reorder &&
	    c->topology == TOPO_SWITCH)
		return DSM_ORDER_TOTAL;
	return c->policy >= POL_WU ? DSM_ORDER_CAUSAL : DSM_ORDER_FIFO;
}

u32 sim_stamp(const struct sim_config *c)
{
	return sim_order(c) == DSM_ORDER_CAUSAL ? causal_bytes(c->nodes) : 0;
}

static void engine_config(const struct sim_config *c, u32 node,
			  struct dsm_config *d)
{
	memset(d, 0, sizeof(*d));
	d->nodes = c->nodes;
	d->self = node;
	d->cpus = c->cpus;
	d->protocol = c->policy == POL_WU ? DSM_WU :
		c->policy == POL_WUPLUS ? DSM_WUPLUS :
		c->policy >= POL_WUSEQ ? DSM_WUSEQ : DSM_WI;
	d->order = sim_order(c);
	d->mode = d->protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW;
	d->pages = c->pages;
	d->chunk = c->chunk ? c->chunk : 1;
	d->requests = c->nodes * (c->cpus + 1) + 8;
	d->inflight = 512;
	d->batch = DSM_BATCH_MAX;
	d->run = c->policy == POL_AUTO ? ADAPT_RUN : c->run;
	d->window = c->window;
	if (c->policy >= POL_WUSEQ && d->window > LOG_MAX)
		d->window = LOG_MAX;
	d->key[0] = 1 + node;
	d->lease = c->lease;
	d->serial = c->policy == POL_GIANTVM;
	d->read_owns = c->policy == POL_GIANTVM;
	d->no_hints = !c->hints;
	d->probowners = c->hints ? DSM_PROBOWNER_MAX : 0;
	d->knobs = c->no_lease ? DSM_KNOB_NO_LEASE : c->knobs;
}

bool sim_good(const struct sim_config *c)
{
	struct dsm_config d;

	engine_config(c, 0, &d);
	return dsm_size(&d) != 0;
}

/*
 * When so few frames are left, writers are held: each CPU may still set off
 * one broadcast that is not an update, and the updates that wait are one more.
 */
u32 sim_reserve(const struct sim_config *c)
{
	return 32 + (c->cpus + 2) * c->nodes;
}

/* What is for whoever needs it: the link shares out as many besides. */
u32 sim_frames(const struct sim_config *c)
{
	return 192 + sim_reserve(c);
}

/*
 * Longer than an answer takes, behind a short message to each node, and its
 * stamp.  A wire slower than 1 Gbit/s is busy for long: a page to each may
 * leave before ours.
 */
static u64 link_timeout(const struct sim_config *c)
{
	u64 slow = c->mbits < 1000 ? 8000 / c->mbits - 8 : 0;

	return 8 * c->latency + 2000 * c->nodes + 4 * c->jitter + TICK +
		c->nodes * sim_stamp(c) * 8000ULL / c->mbits +
		slow * (4 + c->nodes) * (DSM_PAGE_SIZE + 256);
}

/* What has not happened for so long will never happen. */
u64 sim_patience(const struct sim_config *c, u64 least)
{
	return least + 64 * link_timeout(c);
}

void sim_link_config(const struct sim_config *c, u32 node,
		     struct dsm_link_config *l)
{
	u32 updates = DSM_BATCH_MAX * sizeof(struct dsm_write);
	u32 body = sizeof(struct dsm_set) + 4 * c->nodes +
		DSM_PROBOWNER_MAX * sizeof(struct dsm_probowner);

	if (c->policy < POL_WU)
		body -= 4 * c->nodes;
	else if (body < updates)
		body = updates;
	memset(l, 0, sizeof(*l));
	l->nodes = c->nodes;
	l->self = node;
	l->frames = 2 * sim_frames(c);
	l->window = 48;
	l->frame_max = sizeof(struct dsm_frame) + sizeof(struct dsm_msg) +
		body + SIM_PAGE_BYTES + sim_stamp(c);
	/* Updates, the longest body, come without a page. */
	if (l->frame_max > DSM_FRAME_MAX)
		l->frame_max = DSM_FRAME_MAX;
	l->page_bytes = SIM_PAGE_BYTES;
	l->timeout = link_timeout(c);
	l->delay = TICK;
}

static int node_init(struct sim *s, u32 i)
{
	const struct sim_config *c = s->c;
	struct sim_node *n = &s->node[i];
	struct dsm_link_config l;
	struct dsm_config d;
	struct dsm_set set;
	int err;

	sim_link_config(c, i, &l);
	engine_config(c, i, &d);
	n->dsm = malloc(dsm_size(&d));
	n->link = malloc(dsm_link_size(&l));
	n->memory = calloc(c->pages, SIM_PAGE_BYTES);
	n->cpu = calloc(c->cpus, sizeof(*n->cpu));
	if (c->policy == POL_AUTO)
		n->adapt = malloc(adapt_size(c->pages));
	if (sim_stamp(c))
		n->causal = causal_new(c->nodes, i, c->no_causal);
	if (!n->dsm || !n->link || !n->memory || !n->cpu ||
	    (c->policy == POL_AUTO && !n->adapt) ||
	    (sim_stamp(c) && !n->causal))
		return cli_error("sim: out of memory");
	err = dsm_init(n->dsm, &d);
	if (err || dsm_link_init(n->link, &l))
		return cli_error("sim: configuration impossible");
	for (u32 p = 0; p < c->pages; p++) {
		set_clear(&set);
		for (u32 k = 0; k < c->nodes; k++)
			if (c->seed_shared ||
			    (p == 0 && k && k <= c->sharers))
				set_add(&set, k);
		set_del(&set, p / d.chunk % c->nodes);
		dsm_place(n->dsm, p, p / d.chunk % c->nodes, &set, d.mode);
	}
	if (n->adapt)
		adapt_init(n->adapt, n->dsm, &d);
	return 0;
}

static void cpus_start(struct sim *s)
{
	for (u32 n = 0; n < s->c->nodes; n++) {
		for (u32 k = 0; k < s->c->cpus; k++) {
			struct sim_cpu *c = &s->node[n].cpu[k];
			u32 who = n * s->c->cpus + k;

			c->rng = s->c->seed * 1000003 + who;
			c->ops = s->c->ops;
			pattern_next(s->c, who, c);
			s->running++;
			if (c->op.kind == SIM_END) {
				c->ended = true;
				s->running--;
				continue;
			}
			sim_queue(s, (struct sim_event){ .kind = EV_CPU,
				.node = n, .cpu = k,
				.time = 1 + c->op.think });
		}
		sim_queue(s, (struct sim_event){ .kind = EV_TICK, .node = n,
					     .time = TICK + n });
	}
}

static u64 final_word(void *arg, u32 page, u16 word)
{
	struct sim *s = arg;

	for (u32 n = 0; n < s->c->nodes; n++) {
		enum dsm_state st = dsm_page_state(s->node[n].dsm, page);

		if (st == DSM_O || st == DSM_M || st == DSM_OI ||
		    st == DSM_OC)
			return s->node[n].memory[(u64)page * SIM_WORDS +
						 word];
	}
	return ~0ULL;
}

static void fairness(struct sim *s)
{
	u64 sum = 0, squares = 0, n = s->c->nodes * s->c->cpus;

	s->r->least = ~0ULL;
	for (u64 i = 0; i < n; i++) {
		u64 x = s->node[i / s->c->cpus].cpu[i % s->c->cpus].count;

		sum += x;
		squares += x * x;
		if (x < s->r->least)
			s->r->least = x;
		if (x > s->r->most)
			s->r->most = x;
	}
	/* sum^2 / (n * squares), in thousandths, without overflow. */
	s->r->fairness = squares ? (u64)((__uint128_t)sum * sum * 1000 /
					 ((__uint128_t)squares * n)) : 0;
}

static void sum_up(struct sim *s)
{
	struct sim_result *r = s->r;
	u64 hash = 0xcbf29ce484222325ULL;

	for (u32 n = 0; n < s->c->nodes; n++) {
		const struct dsm_stats *d = dsm_statistics(s->node[n].dsm);
		const struct dsm_link_stats *l =
			dsm_link_statistics(s->node[n].link);

		for (int t = 0; t < DSM_MSGS; t++) {
			r->sent[t] += d->sent[t];
			r->bytes[t] += d->bytes[t];
			r->messages += d->sent[t];
			r->message_bytes += d->bytes[t];
		}
		r->pages_sent += d->pages_sent;
		r->misses += d->misses;
		r->two_hops += d->misses_two_hops;
		r->owned += d->owned;
		r->owned_two_hops += d->owned_two_hops;
		r->retried += d->retried;
		r->refused += d->refused;
		r->expired += d->expired;
		r->emulated += d->emulated;
		r->window_stalls += d->window_stalls;
		r->announced += d->announced;
		r->frames += l->frames;
		r->acks += l->acks;
		r->again += l->again;
		if (s->node[n].adapt)
			adapt_sum(s->node[n].adapt, &r->adapt);
	}
	r->data_stalls = r->pages_sent;
	for (u32 p = 0; p < s->c->pages; p++)
		for (u16 w = 0; w < SIM_WORDS; w++)
			hash = (hash ^ final_word(s, p, w)) *
				0x100000001b3ULL;
	r->memory = hash;
	fairness(s);
}

/* Words of copies that are not as the owner has them. */
static u64 copies_wrong(struct sim *s)
{
	u64 wrong = 0;

	for (u32 n = 0; n < s->c->nodes; n++)
		for (u32 p = 0; p < s->c->pages; p++) {
			const u64 *page = s->node[n].memory + p * SIM_WORDS;

			if (dsm_page_access(s->node[n].dsm, p) < DSM_RO)
				continue;
			for (u16 w = 0; w < SIM_WORDS; w++)
				wrong += page[w] != final_word(s, p, w);
		}
	return wrong;
}

static u64 check(struct sim *s)
{
	u32 n = s->c->nodes * s->c->cpus;
	struct sim_cpu *all = calloc(n, sizeof(*all));
	u64 wrong;

	if (!all)
		return 1;
	for (u32 i = 0; i < n; i++)
		all[i] = s->node[i / s->c->cpus].cpu[i % s->c->cpus];
	wrong = pattern_wrong(s->c, all, final_word, s) + copies_wrong(s);
	free(all);
	return wrong;
}

int sim_run(const struct sim_config *c, struct sim_result *r)
{
	struct sim s = { .c = c, .r = r, .rng = c->seed ^ 0x5eed };
	int err = 0;

	memset(r, 0, sizeof(*r));
	s.node = calloc(c->nodes, sizeof(*s.node));
	for (u32 i = 0; s.node && i < c->nodes && !err; i++)
		err = node_init(&s, i);
	if (!s.node)
		err = cli_error("sim: out of memory");
	if (!err) {
		cpus_start(&s);
		sim_loop(&s);
		sim_progress(&s, true);
		sum_up(&s);
		r->wrong = check(&s);
		if (s.stuck || s.failed)
			err = s.failed ? 2 : 1;
	}
	for (u32 i = 0; s.node && i < c->nodes; i++) {
		free(s.node[i].dsm);
		free(s.node[i].adapt);
		free(s.node[i].link);
		causal_free(s.node[i].causal);
		free(s.node[i].memory);
		free(s.node[i].cpu);
	}
	free(s.node);
	free(s.heap);
	return err;
}
