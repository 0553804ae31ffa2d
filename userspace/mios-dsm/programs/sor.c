// SPDX-License-Identifier: GPL-2.0
/*
 * Successive over-relaxation, red and black: each node has rows of a grid, and
 * reads its neighbours' edge rows after every half step.  Right: each value is
 * to the bit what one thread computes.
 */
#include <string.h>

#include "program.h"
#include "sor.h"

const char program_name[] = "sor";
const int program_size = SOR_SIZE;

int program(int size)
{
	int n = size + 2, bad = 0;
	size_t bytes = sizeof(double) * n * n;
	double *g = shared(0, bytes, MIOS_DSM_STRIPED), *own;
	int from = 1 + part_begin(size), to = 1 + part_end(size);

	if (!mios_dsm_node())
		sor_begin(g, n);
	must(mios_dsm_barrier(), "barrier");
	for (int s = 0; s < 2 * SOR_STEPS; s++) {
		sor_half(g, n, from, to, s % 2);
		must(mios_dsm_barrier(), "barrier");
	}
	own = calloc(1, bytes);
	if (!own)
		must(-1, "memory");
	sor_alone(own, n);
	bad = memcmp(g, own, bytes);
	free(own);
	return bad;
}
