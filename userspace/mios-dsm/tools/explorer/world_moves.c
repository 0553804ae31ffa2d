// SPDX-License-Identifier: GPL-2.0
/*
 * What may happen next in the explorer's cluster, making it happen, and
 * what of it the engines' states went through.
 */
#include <string.h>

#include "../../../../mios/dsm/engine.h"
#include "world.h"

static bool finished(const struct world *w, const struct world_state *s, int i)
{
	return s->cpu[i].lost || s->crashed >> w->node_of[i] & 1 ||
		(s->cpu[i].th.pc >= w->t->ops[i] && !s->cpu[i].stores);
}

bool world_over(const struct world *w, struct world_state *s)
{
	for (int i = 0; i < w->t->threads; i++)
		if (!finished(w, s, i))
			return false;
	for (int n = 0; n < w->nodes; n++)
		for (int p = 0; p < w->pages; p++)
			if (s->pinned[n][p])
				return false;
	return !s->msgs;
}

struct moves {
	struct world_move *out;
	int count, max;
};

static void put(struct moves *m, int kind, int a, int b, int c)
{
	if (m->count < m->max)
		m->out[m->count++] = (struct world_move){ kind, a, b, c };
}

/* Things that need not happen, each as often as its budget says. */
static void moves_spare(struct world *w, struct world_state *s, struct moves *m,
			int n)
{
	struct dsm *d = world_engine(w, s, n);

	for (int p = 0; p < w->pages; p++) {
		enum dsm_state st = dsm_page_state(d, p);

		if (s->evictions && (st == DSM_S || st == DSM_O ||
				     st == DSM_M))
			put(m, W_EVICT, n, p, 0);
		if (s->pins && st == DSM_M && s->access[n][p] == DSM_RW)
			put(m, W_PIN, n, p, 0);
		if (s->pinned[n][p])
			put(m, W_UNPIN, n, p, 0);
		for (u8 mode = 0; s->hints && mode < DSM_MODES; mode++)
			if ((st == DSM_O || st == DSM_M) &&
			    mode != dsm_page_mode(d, p))
				put(m, W_HINT, n, p, mode);
		for (u8 at = 0; s->guesses && at < w->nodes; at++)
			if (at != n && at != page_at(d, p)->owner &&
			    st != DSM_O && st != DSM_M && st != DSM_OI &&
			    st != DSM_OC && dsm_manager(d, p) != n)
				put(m, W_GUESS, n, p, at);
	}
	if (s->expiries)
		put(m, W_EXPIRE, n, 0, 0);
	if (s->deaths && !(s->crashed >> n & 1) &&
	    __builtin_popcount(s->dead) < w->nodes - 1)
		put(m, W_DIE, n, 0, 0);
}

/* Survivors hear of deaths one by one, each in an order of its own. */
static void moves_tell(const struct world *w, const struct world_state *s,
		       struct moves *m, int n)
{
	for (int at = 0; at < w->nodes; at++)
		if ((s->crashed & ~s->told[n]) >> at & 1)
			put(m, W_TELL, n, at, 0);
	/* Who is back may be told of before that it was gone. */
	for (int at = 0; at < w->nodes; at++)
		if ((s->back & ~s->up[n]) >> at & 1)
			put(m, W_UP, n, at, 0);
}

int world_moves(struct world *w, struct world_state *s, struct world_move *out,
		int max)
{
	struct moves m = { out, 0, max };

	for (int i = 0; i < w->t->threads; i++) {
		if (s->crashed >> w->node_of[i] & 1)
			continue;
		if (s->cpu[i].stores)
			put(&m, W_DRAIN, i, 0, 0);
		if (cpu_can(w, s, i))
			put(&m, W_CPU, i, 0, 0);
	}
	for (int i = 0; i < s->msgs; i++) {
		if (net_ready(w, s, i))
			put(&m, W_DELIVER, i, 0, 0);
		else if (w->order == DSM_ORDER_TOTAL &&
			 !world_msgs(w, s)[i].sorted &&
			 (!i || world_msgs(w, s)[i - 1].sorted ||
			  world_msgs(w, s)[i - 1].src !=
			  world_msgs(w, s)[i].src))
			put(&m, W_SORT, i, 0, 0);
	}
	for (int n = 0; n < w->nodes; n++) {
		if (s->joins && s->dead >> n & 1)
			put(&m, W_JOIN, n, 0, 0);
		if (s->dead >> n & 1)
			continue;
		moves_tell(w, s, &m, n);
		if (dsm_pending(world_engine(w, s, n)))
			put(&m, W_IDLE, n, 0, 0);
		moves_spare(w, s, &m, n);
	}
	return m.count;
}

static bool refused(void)
{
	return world_actions.count &&
		world_actions.act[0].type == DSM_ACT_FAIL;
}

static void die(struct world *w, struct world_state *s, int node)
{
	s->deaths--;
	s->dead |= 1 << node;
	s->crashed |= 1 << node;
	s->back &= ~(1 << node);
	net_bury(w, s, node);
	memset(world_engine(w, s, node), 0, w->stride);
	memset(s->access[node], 0, W_PAGES);
	memset(s->pinned[node], 0, W_PAGES);
	memset(s->mem[node], 0, sizeof(s->mem[node]));
}

/* A page that can be written can be pinned; a pin can be taken back. */
static void pin(struct world *w, struct world_state *s, struct world_move m)
{
	bool on = m.kind == W_PIN;
	struct dsm_event ev = { .type = on ? DSM_EV_PIN : DSM_EV_UNPIN,
				.page = m.b };

	s->pins -= on;
	s->pinned[m.a][m.b] += on ? 1 : -1;
	world_step(w, s, m.a, &ev, NULL);
	if (refused() && !*w->broken)
		snprintf(w->broken, sizeof(w->broken),
			 "a pin is refused, page %d", m.b);
}

static void deliver(struct world *w, struct world_state *s, int i)
{
	struct dsm_event ev = { .type = DSM_EV_MSG };
	struct world_msg m;

	net_take(w, s, i, &m);
	ev.msg = m.msg;
	ev.body = m.body;
	ev.len = m.len;
	world_step(w, s, m.dst, &ev, &m);
}

/* A node hears of a death, or that another one is back. */
static void tell(struct world *w, struct world_state *s, int node, int of,
		 bool up)
{
	struct dsm_event ev = { .type = up ? DSM_EV_UP : DSM_EV_DOWN,
				.node = of, .life = up };

	s->told[node] |= 1 << of;
	s->up[node] |= up << of;
	world_step(w, s, node, &ev, NULL);
}

bool world_move(struct world *w, struct world_state *s, struct world_move m)
{
	struct dsm_event ev = { .page = m.b };
	bool good = true;

	switch (m.kind) {
	case W_CPU:
		cpu_run(w, s, m.a);
		break;
	case W_DRAIN:
		cpu_drain(w, s, m.a);
		break;
	case W_DELIVER:
		deliver(w, s, m.a);
		break;
	case W_SORT:
		net_sort(w, s, m.a);
		break;
	case W_DIE:
		die(w, s, m.a);
		break;
	case W_JOIN:
		s->joins--;
		world_join(w, s, m.a);
		break;
	case W_GUESS:
		/* Whatever the node has heard: it may be out of date. */
		s->guesses--;
		page_at(world_engine(w, s, m.a), m.b)->owner = m.c;
		break;
	case W_PIN:
	case W_UNPIN:
		pin(w, s, m);
		break;
	case W_TELL:
	case W_UP:
		tell(w, s, m.a, m.b, m.kind == W_UP);
		break;
	default:
		ev.type = m.kind == W_IDLE ? DSM_EV_TX_IDLE :
			m.kind == W_EVICT ? DSM_EV_EVICT :
			m.kind == W_HINT ? DSM_EV_HINT : DSM_EV_TICK;
		ev.mode = m.c;
		s->evictions -= m.kind == W_EVICT;
		s->hints -= m.kind == W_HINT;
		s->expiries -= m.kind == W_EXPIRE;
		world_step(w, s, m.a, &ev, NULL);
		good = !refused();
		if (m.kind != W_EXPIRE)
			break;
		/* One tick begins what the next one ends. */
		ev.now = 1000;
		world_step(w, s, m.a, &ev, NULL);
	}
	world_check(w, s);
	return good;
}

void world_print(FILE *f, const struct world *w, struct world_state *s,
		 struct world_move m)
{
	static const char *const name[] = { "cpu", "drain", "deliver",
		"switch", "idle", "evict", "hint", "expire", "guess", "die",
		"pin", "join", "told", "up", "unpin" };
	const struct world_msg *q = world_msgs(w, s);

	fprintf(f, "  %-8s", name[m.kind]);
	if (m.kind == W_DELIVER || m.kind == W_SORT)
		fprintf(f, "%s %d->%d page %u ver %llu node %d\n",
			dsm_msg_name[q[m.a].msg.type], q[m.a].src, q[m.a].dst,
			q[m.a].msg.page, (unsigned long long)q[m.a].msg.ver,
			q[m.a].msg.node);
	else if (m.kind == W_CPU || m.kind == W_DRAIN)
		fprintf(f, "P%d pc %d (node %d cpu %d)\n", m.a,
			s->cpu[m.a].th.pc, w->node_of[m.a], w->cpu_of[m.a]);
	else
		fprintf(f, "node %d page %d %d\n", m.a, m.b, m.c);
}

static const char *const event_name[] = { "FAULT", "RETIRED", "MSG", "TICK",
	"TX_IDLE", "EVICT", "HINT", "PIN", "UNPIN", "DOWN", "UP", "AGAIN" };

/* All changes of state seen so far, for the table in docs/dsm.md. */
void world_transitions(FILE *f)
{
	for (int a = 0; a < DSM_STATES; a++)
		for (int c = 0; c < W_CAUSES; c++)
			for (int b = 0; b < DSM_STATES; b++)
				if (world_seen[a][c][b])
					fprintf(f, "%s %s %s\n",
						dsm_state_name[a],
						c < DSM_EV_AGAIN + 1 ?
						event_name[c] :
						dsm_msg_name[c -
							DSM_EV_AGAIN - 1],
						dsm_state_name[b]);
}
