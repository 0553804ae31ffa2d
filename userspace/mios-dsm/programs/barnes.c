// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies that attract each other, after Barnes and Hut: a tree of cubes, of
 * which those far away count as one body.  Each node builds some of the eight
 * subtrees, moves its part of the bodies, and reads all others' trees.  Right:
 * every body is to the bit where one thread moves it, and the first forces are
 * near those of each body on each other one.
 */
#include <math.h>
#include <string.h>

#include "program.h"

#define STEPS	3
#define DEPTH	48		/* two bodies nearer than that are in one place */
#define NEAR	0.5		/* side by distance: below, one body; never in it */
#define SOFT	1e-4		/* nothing collides */
#define STEP	1e-3

const char program_name[] = "barnes";
const int program_size = 192;

struct body {
	double at[3], speed[3], mass;
};

/* A child is none (0), cell c (c), or body b (-1 - b). */
struct cell {
	double mid[3], half;
	double at[3], mass;	/* of all bodies in it */
	int child[8];
};

struct world {
	int n, room;		/* bodies; cells of each subtree, the first its root */
	struct body *body;
	struct cell *cell;
};

static void begin(struct world *w)
{
	for (int i = 0; i < w->n; i++) {
		struct body *b = &w->body[i];

		/* More of them near the middle: trees of unequal depth. */
		for (int k = 0; k < 3; k++) {
			double x = (i * (37 + 16 * k) + 11 * k) % 1009 / 504.5 - 1;

			b->at[k] = x * fabs(x) + i * 1e-7;
			b->speed[k] = 0.1 * ((i + k) % 7 - 3);
		}
		b->mass = 1 + i % 3;
	}
}

/* The cube around all bodies. */
static struct cell around(const struct world *w)
{
	struct cell c = { .half = 0 };

	for (int i = 0; i < w->n; i++)
		for (int k = 0; k < 3; k++)
			c.half = fmax(c.half, fabs(w->body[i].at[k]));
	return c;
}

static int octant(const double *mid, const double *at)
{
	return (at[0] >= mid[0]) | (at[1] >= mid[1]) << 1 |
		(at[2] >= mid[2]) << 2;
}

static void cell_clear(struct cell *c, const struct cell *above, int o)
{
	memset(c, 0, sizeof(*c));
	c->half = above->half / 2;
	for (int k = 0; k < 3; k++)
		c->mid[k] = above->mid[k] + (o >> k & 1 ? c->half : -c->half);
}

static void insert(struct world *w, int c, int *used, int body)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		struct cell *at = &w->cell[c];
		int o = octant(at->mid, w->body[body].at), there = at->child[o];

		if (!there) {
			at->child[o] = -1 - body;
			return;
		}
		if (there < 0) {
			/* Whoever is there moves down. */
			must(*used == w->room ? -1 : 0, "room for the tree");
			there = c / w->room * w->room + (*used)++;
			cell_clear(&w->cell[there], at, o);
			w->cell[there].child[octant(w->cell[there].mid,
				w->body[-1 - at->child[o]].at)] = at->child[o];
			at->child[o] = there;
		}
		c = there;
	}
	must(-1, "two bodies in one place");
}

static void weigh(struct world *w, int c)
{
	struct cell *up = &w->cell[c];

	for (int o = 0; o < 8; o++) {
		int d = up->child[o];
		const double *at = d > 0 ? w->cell[d].at : w->body[-1 - d].at;
		double mass;

		if (!d)
			continue;
		if (d > 0)
			weigh(w, d);
		mass = d > 0 ? w->cell[d].mass : w->body[-1 - d].mass;
		up->mass += mass;
		for (int k = 0; k < 3; k++)
			up->at[k] += mass * at[k];
	}
	for (int k = 0; k < 3 && up->mass; k++)
		up->at[k] /= up->mass;
}

/* The subtrees first, first + step, ... */
static void build(struct world *w, int first, int step)
{
	struct cell top = around(w);

	for (int o = first; o < 8; o += step) {
		int used = 1;

		cell_clear(&w->cell[o * w->room], &top, o);
		for (int i = 0; i < w->n; i++)
			if (octant(top.mid, w->body[i].at) == o)
				insert(w, o * w->room, &used, i);
		weigh(w, o * w->room);
	}
}

static void pull(double *force, const double *at, const double *from,
		 double mass)
{
	double d[3], square = SOFT;

	for (int k = 0; k < 3; k++) {
		d[k] = from[k] - at[k];
		square += d[k] * d[k];
	}
	for (int k = 0; k < 3; k++)
		force[k] += mass * d[k] / (square * sqrt(square));
}

static void attract(const struct world *w, int body, int c, double *force)
{
	const struct cell *from = &w->cell[c];
	const double *at = w->body[body].at;
	double square = 0;

	for (int k = 0; k < 3; k++)
		square += (from->at[k] - at[k]) * (from->at[k] - at[k]);
	if (4 * from->half * from->half < NEAR * NEAR * square) {
		pull(force, at, from->at, from->mass);
		return;
	}
	for (int o = 0; o < 8; o++) {
		int d = from->child[o];

		if (d > 0)
			attract(w, body, d, force);
		else if (d < 0 && -1 - d != body)
			pull(force, at, w->body[-1 - d].at,
			     w->body[-1 - d].mass);
	}
}

static void forces(const struct world *w, int from, int to, double (*force)[3])
{
	for (int i = from; i < to; i++) {
		memset(force[i], 0, sizeof(force[i]));
		for (int o = 0; o < 8; o++)
			attract(w, i, o * w->room, force[i]);
	}
}

static void move(struct world *w, int from, int to, double (*force)[3])
{
	for (int i = from; i < to; i++)
		for (int k = 0; k < 3; k++) {
			w->body[i].speed[k] += STEP * force[i][k];
			w->body[i].at[k] += STEP * w->body[i].speed[k];
		}
}

/* What all have on each is near what the tree says. */
static int far(const struct world *w, double (*force)[3])
{
	double wrong = 0, all = 0;

	for (int i = 0; i < w->n; i++) {
		double whole[3] = { 0 };

		for (int j = 0; j < w->n; j++)
			if (j != i)
				pull(whole, w->body[i].at, w->body[j].at,
				     w->body[j].mass);
		for (int k = 0; k < 3; k++) {
			wrong += (whole[k] - force[i][k]) *
				(whole[k] - force[i][k]);
			all += whole[k] * whole[k];
		}
	}
	return !(wrong < 1e-3 * all);
}

/* By one thread, in memory of its own. */
static int alone(const struct world *shared_world, double (*force)[3])
{
	struct world w = *shared_world;
	int n = w.n, bad = 0;

	w.body = malloc(n * sizeof(*w.body));
	w.cell = malloc(8 * w.room * sizeof(*w.cell));
	must(w.body && w.cell ? 0 : -1, "memory");
	begin(&w);
	for (int s = 0; s < STEPS; s++) {
		build(&w, 0, 1);
		forces(&w, 0, n, force);
		if (!s)
			bad |= far(&w, force);
		move(&w, 0, n, force);
	}
	bad |= !!memcmp(w.body, shared_world->body, n * sizeof(*w.body));
	free(w.body);
	free(w.cell);
	return bad;
}

int program(int size)
{
	struct world w = { .n = size, .room = size + DEPTH };
	int from = part_begin(size), to = part_end(size), bad;
	double (*force)[3] = malloc(size * sizeof(*force));

	must(force ? 0 : -1, "memory");
	w.body = shared(0, size * sizeof(*w.body), MIOS_DSM_STRIPED);
	w.cell = shared(1, 8 * w.room * sizeof(*w.cell), MIOS_DSM_STRIPED);
	if (!mios_dsm_node())
		begin(&w);
	must(mios_dsm_barrier(), "barrier");
	for (int s = 0; s < STEPS; s++) {
		build(&w, mios_dsm_node(), mios_dsm_nodes());
		must(mios_dsm_barrier(), "barrier");
		forces(&w, from, to, force);
		must(mios_dsm_barrier(), "barrier");
		move(&w, from, to, force);
		must(mios_dsm_barrier(), "barrier");
	}
	bad = alone(&w, force);
	must(mios_dsm_barrier(), "barrier");
	free(force);
	return bad;
}
