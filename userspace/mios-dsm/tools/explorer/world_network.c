// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer's network: reliable, and ordered as the transport says.
 * FIFO: one queue per sender and receiver.  Causal: besides, a message
 * waits for all that its sender had sent or seen sent to the same receiver.
 * Total: a switch takes one message at a time and queues it at all its
 * receivers; a sender does not wait for its own broadcast to come back.
 */
#include <string.h>

#include "world.h"

static int key(const struct world *w, const struct world_msg *m)
{
	if (w->order != DSM_ORDER_TOTAL)
		return m->src * W_NODES + m->dst;
	/* Past the switch, one queue per receiver. */
	return m->sorted ? 100 + m->dst : m->src;
}

static void insert(struct world *w, struct world_state *s,
		   const struct world_msg *m)
{
	struct world_msg *q = world_msgs(w, s);
	int at = s->msgs;

	if (s->msgs == W_MSGS ||
	    (u8 *)&q[s->msgs + 1] > (u8 *)s + W_STATE) {
		world_limit(w, "messages under way", s->msgs);
		return;
	}
	while (at > 0 && key(w, &q[at - 1]) > key(w, m))
		at--;
	memmove(&q[at + 1], &q[at], (s->msgs - at) * sizeof(*q));
	q[at] = *m;
	s->msgs++;
}

static void copy_send(struct world *w, struct world_state *s,
		      struct world_msg *m, u32 to)
{
	u8 *know = s->know[m->src];
	u8 after[W_NODES][W_NODES];

	if (w->order == DSM_ORDER_TOTAL) {
		m->dst = to;
		insert(w, s, m);
		return;
	}
	/* One broadcast happens at once: all stamps before any copy. */
	for (int n = 0; w->order == DSM_ORDER_CAUSAL && n < w->nodes; n++) {
		if (!(to >> n & 1))
			continue;
		for (int i = 0; i < W_NODES; i++)
			after[n][i] = know[i * W_NODES + n];
		know[m->src * W_NODES + n]++;
	}
	for (int n = 0; n < w->nodes; n++) {
		if (!(to >> n & 1))
			continue;
		m->dst = n;
		if (w->order == DSM_ORDER_CAUSAL) {
			memcpy(m->after, after[n], sizeof(m->after));
			memcpy(m->know, know, sizeof(m->know));
		}
		insert(w, s, m);
	}
}

/* Does a node know in which life another one is?  Else the link is cut. */
static bool net_knows(const struct world_state *s, int node, int other)
{
	return !(s->back >> other & 1) || s->up[node] >> other & 1;
}

void net_send(struct world *w, struct world_state *s, int src,
	      const struct dsm_action *a, const u8 *body)
{
	struct world_msg m;
	u32 to = 0;
	int n;

	memset(&m, 0, sizeof(m));
	m.msg = a->msg;
	m.src = src;
	if (a->len > W_BODY) {
		world_limit(w, "bytes in a message", W_BODY);
		return;
	}
	m.len = a->len;
	memcpy(m.body, body, a->len);
	if (m.msg.flags & DSM_F_DATA)
		for (int i = 0; i < w->words; i++)
			if (w->at[i].page == m.msg.page)
				m.word[i] = s->mem[src][i];
	set_for_each(n, &a->to)
		if (n < w->nodes && !(s->dead >> n & 1) && net_knows(s, src, n))
			to |= 1u << n;
	w->messages += __builtin_popcount(to);
	if (to)
		copy_send(w, s, &m, to);
}

/* May message i be the next that its receiver gets? */
bool net_ready(const struct world *w, struct world_state *s, int i)
{
	struct world_msg *q = world_msgs(w, s), *m = &q[i];

	if (i && key(w, &q[i - 1]) == key(w, m))
		return false;
	if (!net_knows(s, m->dst, m->src))
		return false;
	if (w->order == DSM_ORDER_TOTAL)
		return m->sorted;
	if (w->order == DSM_ORDER_CAUSAL)
		for (int n = 0; n < w->nodes; n++)
			if (s->got[m->dst][n] < m->after[n])
				return false;
	return true;
}

void net_take(struct world *w, struct world_state *s, int i,
	      struct world_msg *out)
{
	struct world_msg *q = world_msgs(w, s);
	u8 *know;

	*out = q[i];
	s->msgs--;
	memmove(&q[i], &q[i + 1], (s->msgs - i) * sizeof(*q));
	memset(&q[s->msgs], 0, sizeof(*q));
	if (w->order != DSM_ORDER_CAUSAL)
		return;
	s->got[out->dst][out->src]++;
	know = s->know[out->dst];
	for (int k = 0; k < W_NODES * W_NODES; k++)
		if (out->know[k] > know[k])
			know[k] = out->know[k];
}

/* The first message of a sender passes the switch, to all its receivers. */
void net_sort(struct world *w, struct world_state *s, int i)
{
	struct world_msg m;
	u32 to;

	net_take(w, s, i, &m);
	to = m.dst;
	m.sorted = 1;
	for (int n = 0; n < w->nodes; n++) {
		if (!(to >> n & 1) || s->dead >> n & 1)
			continue;
		m.dst = n;
		insert(w, s, &m);
	}
}

static void drop(struct world_state *s, struct world_msg *q, int i)
{
	s->msgs--;
	memmove(&q[i], &q[i + 1], (s->msgs - i) * sizeof(*q));
	memset(&q[s->msgs], 0, sizeof(*q));
}

/* Nothing reaches a dead node. */
void net_bury(struct world *w, struct world_state *s, int node)
{
	struct world_msg *q = world_msgs(w, s);

	for (int i = 0; i < s->msgs; ) {
		if (q[i].dst != node ||
		    (w->order == DSM_ORDER_TOTAL && !q[i].sorted))
			i++;
		else
			drop(s, q, i);
	}
}

/* Nothing comes from it any more, and nobody counts what it sent or got. */
void net_forget(struct world *w, struct world_state *s, int node)
{
	struct world_msg *q = world_msgs(w, s);

	for (int i = 0; i < s->msgs; ) {
		if (q[i].src != node) {
			q[i++].after[node] = 0;
			continue;
		}
		drop(s, q, i);
	}
	for (int i = 0; i < s->msgs; i++)
		for (int n = 0; n < W_NODES; n++)
			q[i].know[node * W_NODES + n] =
				q[i].know[n * W_NODES + node] = 0;
	for (int n = 0; n < W_NODES; n++) {
		s->got[n][node] = s->got[node][n] = 0;
		for (int k = 0; k < W_NODES; k++)
			s->know[k][node * W_NODES + n] =
				s->know[k][n * W_NODES + node] = 0;
		memset(s->know[node], 0, sizeof(s->know[node]));
	}
}
