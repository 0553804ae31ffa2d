// SPDX-License-Identifier: GPL-2.0
/*
 * Which clusters a litmus test is tried on: where its threads run, if there
 * is a node without any, who owns each page at first and whether others hold
 * copies, and the pages' modes.  All combinations, in an order that never
 * changes.
 */
#include <string.h>

#include "explore.h"

struct placement { u8 node[LIT_THREADS]; };

/*
 * Threads on nodes of their own, then two of them on one node: a node with
 * two CPUs shows what a node with one cannot.  Two threads on one node have
 * their pages from another, and see each other's stores late.
 */
static const struct placement place2[] = { {{ 0, 1 }}, {{ 0, 0 }} };
static const struct placement place3[] = { {{ 0, 1, 2 }}, {{ 0, 0, 1 }},
	{{ 0, 1, 0 }}, {{ 0, 1, 1 }} };
static const struct placement place4[] = { {{ 0, 1, 2, 3 }},
	{{ 0, 1, 0, 2 }}, {{ 0, 0, 1, 2 }}, {{ 0, 1, 2, 2 }},
	{{ 0, 1, 1, 2 }}, {{ 0, 1, 2, 0 }}, {{ 0, 1, 2, 1 }},
	{{ 0, 1, 0, 1 }}, {{ 0, 1, 1, 0 }} };

static int places(const struct plan *p, const struct placement **out)
{
	switch (p->t->threads) {
	case 4:
		/* A spare node has no room beside the first of them. */
		*out = place4 + p->spare;
		return sizeof(place4) / sizeof(*place4) - p->spare;
	case 3:
		*out = place3;
		return sizeof(place3) / sizeof(*place3);
	case 2:
		*out = place2;
		return sizeof(place2) / sizeof(*place2);
	default:
		*out = place2;
		return 1;
	}
}

/* How many nodes run threads. */
static int nodes_used(const struct plan *p)
{
	const struct placement *all;
	int used = 0;

	places(p, &all);
	for (int i = 0; i < p->t->threads; i++)
		if (all[p->place].node[i] >= used)
			used = all[p->place].node[i] + 1;
	return used;
}

/* Which number is free for the spare node, or which one has all threads. */
static int gap_choices(const struct plan *p)
{
	int used = nodes_used(p);

	if (!p->spare)
		return 1;
	return used < 2 ? 3 : used + 1;
}

static int pages_of(const struct lit_test *t)
{
	int pages = 1;

	for (int v = 0; v < t->vars; v++) {
		int last = t->var[v].page + (t->var[v].offset +
			t->var[v].size * t->var[v].count - 1) /
			DSM_PAGE_SIZE;

		if (last >= pages)
			pages = last + 1;
	}
	return pages;
}

static int power(int base, int exp)
{
	int r = 1;

	while (exp--)
		r *= base;
	return r;
}

static int owner_choices(const struct plan *p, int nodes, int pages)
{
	/* Every owner for every page, as long as that stays small. */
	return p->thorough || power(nodes, pages) <= 9 ?
		power(nodes, pages) : nodes;
}

/* Copies elsewhere: of any subset, or of none, all, the first two. */
static bool share_every(const struct plan *p, int pages)
{
	return p->thorough || pages <= 2;
}

static int share_choices(const struct plan *p, int pages)
{
	return share_every(p, pages) ? 1 << pages : 3;
}

/*
 * Where each thread runs.  The number of a spare node says which pages it
 * manages, so it takes each in turn, and those above move up.
 */
static void fill_nodes(struct plan *p, struct world *w)
{
	const struct placement *all;
	int used = nodes_used(p);
	u8 cpus[W_NODES] = { 0 };

	places(p, &all);
	w->nodes = (used < 2 ? 2 : used) + p->spare;
	for (int i = 0; i < p->t->threads; i++) {
		u8 node = all[p->place].node[i];

		/* One node for all is each number; else the gap is. */
		if (p->spare && used < 2)
			node = p->gap;
		else if (p->spare && node >= p->gap)
			node++;
		w->node_of[i] = node;
		w->cpu_of[i] = cpus[node]++;
	}
}

static void fill(struct plan *p, struct world *w)
{
	int pages = pages_of(p->t), digits = p->owners, modes = p->modes;
	bool every;

	fill_nodes(p, w);
	every = owner_choices(p, w->nodes, pages) == power(w->nodes, pages);
	for (int i = 0; i < pages; i++) {
		w->owner[i] = every ? digits % w->nodes :
			(p->owners + i) % w->nodes;
		digits /= w->nodes;
		w->shared[i] = share_every(p, pages) ? p->share >> i & 1 :
			p->share == 1 || (p->share == 2 && i < 2);
		w->mode[i] = p->mixed ? modes % DSM_MODES :
			p->protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW;
		modes /= DSM_MODES;
	}
	w->t = p->t;
	w->protocol = p->protocol;
	w->order = p->order;
}

bool plan_first(struct plan *p, struct world *w)
{
	p->place = p->gap = p->owners = p->modes = p->share = 0;
	fill(p, w);
	return true;
}

/* The next of so many; true if it begins again. */
static bool wheel(int *at, int choices)
{
	if (++*at < choices)
		return false;
	*at = 0;
	return true;
}

/* An odometer: sharing, owners, modes, the spare node's number, placement. */
bool plan_next(struct plan *p, struct world *w)
{
	const struct placement *all;
	int pages = pages_of(p->t);

	if (wheel(&p->share, share_choices(p, pages)) &&
	    wheel(&p->owners, owner_choices(p, w->nodes, pages)) &&
	    wheel(&p->modes, p->mixed ? power(DSM_MODES, pages) : 1) &&
	    wheel(&p->gap, gap_choices(p)) &&
	    wheel(&p->place, places(p, &all)))
		return false;
	fill(p, w);
	return true;
}

void plan_name(const struct world *w, char *out, size_t size)
{
	size_t n = snprintf(out, size, "%d nodes, threads on", w->nodes);

	for (int i = 0; i < w->t->threads && n < size; i++)
		n += snprintf(out + n, size - n, " %d.%d", w->node_of[i],
			      w->cpu_of[i]);
	for (int p = 0; p < w->pages && n < size; p++)
		n += snprintf(out + n, size - n, "; page %d %s of %d%s", p,
			      dsm_mode_name[w->mode[p]], w->owner[p],
			      w->shared[p] ? " shared" : "");
}
