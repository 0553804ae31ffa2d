// SPDX-License-Identifier: GPL-2.0
/*
 * Successive over-relaxation, red and black: each node has rows of a grid, and
 * reads its neighbours' edge rows after every half step.  Right: each value is
 * to the bit what one thread computes.
 */
#include <string.h>

#include "program.h"

#define STEPS	10

const char program_name[] = "sor";
const int program_size = 128;

static void half(double *g, int n, int from, int to, int colour)
{
	for (int i = from; i < to; i++)
		for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
			g[i * n + j] += 0.3 * (g[(i - 1) * n + j] +
				g[(i + 1) * n + j] + g[i * n + j - 1] +
				g[i * n + j + 1] - 4 * g[i * n + j]);
}

static void begin(double *g, int n)
{
	for (int i = 0; i < n; i++)
		g[i] = g[i * n] = i;
}

int program(int size)
{
	int n = size + 2, bad = 0;
	size_t bytes = sizeof(double) * n * n;
	double *g = shared(0, bytes, MIOS_DSM_STRIPED), *own;
	int from = 1 + part_begin(size), to = 1 + part_end(size);

	if (!mios_dsm_node())
		begin(g, n);
	must(mios_dsm_barrier(), "barrier");
	for (int s = 0; s < 2 * STEPS; s++) {
		half(g, n, from, to, s % 2);
		must(mios_dsm_barrier(), "barrier");
	}
	own = calloc(1, bytes);
	if (!own)
		must(-1, "memory");
	begin(own, n);
	for (int s = 0; s < 2 * STEPS; s++)
		half(own, n, 1, n - 1, s % 2);
	bad = memcmp(g, own, bytes);
	free(own);
	return bad;
}
