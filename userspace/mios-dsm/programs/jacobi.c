// SPDX-License-Identifier: GPL-2.0
/*
 * Jacobi's iteration with false sharing on purpose: node k has the points k,
 * k + nodes, k + 2 nodes and so on of a line, so that all write to each page.
 * Right: each value is to the bit what one thread computes.
 */
#include "program.h"

#define STEPS	20

const char program_name[] = "jacobi";
const int program_size = 600;

static void step(const double *from, double *to, int n, int first, int by)
{
	for (int i = 1 + first; i <= n; i += by)
		to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

int program(int size)
{
	size_t bytes = sizeof(double) * (size + 2);
	double *a[2] = { shared(0, bytes, 0), shared(1, bytes, 0) };
	double *own[2] = { calloc(1, bytes), calloc(1, bytes) };
	int bad = 0;

	if (!own[0] || !own[1])
		must(-1, "memory");
	if (!mios_dsm_node())
		a[0][0] = a[1][0] = 1;
	own[0][0] = own[1][0] = 1;
	must(mios_dsm_barrier(), "barrier");
	for (int s = 0; s < STEPS; s++) {
		step(a[s % 2], a[1 - s % 2], size, mios_dsm_node(),
		     mios_dsm_nodes());
		must(mios_dsm_barrier(), "barrier");
		step(own[s % 2], own[1 - s % 2], size, 0, 1);
	}
	for (int i = 0; i < size + 2; i++)
		bad |= a[0][i] != own[0][i] || a[1][i] != own[1][i];
	free(own[0]);
	free(own[1]);
	return bad;
}
