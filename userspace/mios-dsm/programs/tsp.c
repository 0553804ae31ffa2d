// SPDX-License-Identifier: GPL-2.0
/*
 * Travelling salesman by branch and bound: the first legs of all tours are a
 * work queue from which nodes take by a lock; the best length so far is read by
 * all and improved under another lock.  Right: it is what one thread finds
 * that tries every tour, and each piece of work was done once.
 */
#include "program.h"

#define CITIES_MAX	12
#define QUEUE_LOCK	1
#define BEST_LOCK	2

const char program_name[] = "tsp";
const int program_size = 9;

struct tour {
	int next;		/* of the queue */
	int done;		/* pieces of work */
	int best;
};

static int cities, way[CITIES_MAX][CITIES_MAX];
static _Thread_local int limit;	/* what the search below cuts off at */

static void map_draw(int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			way[i][j] = i == j ? 0 :
				10 + ((i + j) * 37 + i * j * 53) % 90;
	cities = n;
}

/* The shortest way through the cities that are left, and home. */
static void search(const int *best, int at, unsigned int left, int length)
{
	/* Others may have found a better one; so may we. */
	if (best && __atomic_load_n(best, __ATOMIC_RELAXED) < limit)
		limit = *best;
	if (length >= limit)
		return;
	if (!left) {
		if (length + way[at][0] < limit)
			limit = length + way[at][0];
		return;
	}
	for (int c = 1; c < cities; c++)
		if (left >> c & 1)
			search(best, c, left & ~(1u << c),
			       length + way[at][c]);
}

/* Piece w of the work: the first two legs. */
static int work(struct tour *t, int w)
{
	int a = 1 + w / (cities - 1), b = 1 + w % (cities - 1);
	unsigned int left = ((1u << cities) - 2) & ~(1u << a) & ~(1u << b);

	if (a == b)
		return 0;
	limit = t->best;
	search(&t->best, b, left, way[0][a] + way[a][b]);
	must(mios_dsm_lock(BEST_LOCK), "lock");
	if (limit < t->best)
		t->best = limit;
	must(mios_dsm_unlock(BEST_LOCK), "unlock");
	return 1;
}

static int take(struct tour *t)
{
	int w;

	must(mios_dsm_lock(QUEUE_LOCK), "lock");
	w = t->next++;
	must(mios_dsm_unlock(QUEUE_LOCK), "unlock");
	return w;
}

int program(int size)
{
	struct tour *t = shared(0, sizeof(*t), 0);
	int n = size > CITIES_MAX ? CITIES_MAX : size < 4 ? 4 : size, w;

	if (!mios_dsm_node()) {
		map_draw(n);
		t->best = 1 << 30;
	}
	must(mios_dsm_barrier(), "barrier");
	if (cities != n)
		map_draw(n);
	while ((w = take(t)) < (n - 1) * (n - 1))
		__atomic_fetch_add(&t->done, work(t, w), __ATOMIC_SEQ_CST);
	must(mios_dsm_barrier(), "barrier");
	limit = 1 << 30;
	search(NULL, 0, (1u << n) - 2, 0);
	return limit != t->best || t->done != (n - 1) * (n - 2);
}
