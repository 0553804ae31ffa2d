// SPDX-License-Identifier: GPL-2.0
/*
 * Matrix multiplication: all nodes read both factors, each writes rows of the
 * product.  Right: each number is what one thread computes.
 */
#include "program.h"

const char program_name[] = "matrix";
const int program_size = 64;

static double element(const double *a, const double *b, int n, int i, int j)
{
	double sum = 0;

	for (int k = 0; k < n; k++)
		sum += a[i * n + k] * b[k * n + j];
	return sum;
}

int program(int size)
{
	size_t bytes = sizeof(double) * size * size;
	double *a = shared(0, bytes, 0);
	double *b = shared(1, bytes, mios_dsm_nodes() - 1);
	double *c = shared(2, bytes, MIOS_DSM_STRIPED);
	int bad = 0;

	for (int i = part_begin(size); i < part_end(size); i++)
		for (int j = 0; j < size; j++) {
			a[i * size + j] = i + 1.0 / (j + 1);
			b[i * size + j] = j - 1.0 / (i + 1);
		}
	must(mios_dsm_barrier(), "barrier");
	for (int i = part_begin(size); i < part_end(size); i++)
		for (int j = 0; j < size; j++)
			c[i * size + j] = element(a, b, size, i, j);
	must(mios_dsm_barrier(), "barrier");
	for (int i = 0; i < size; i++)
		for (int j = 0; j < size; j++)
			bad |= c[i * size + j] !=
				element(a, b, size, i, j) ||
				a[i * size + j] != i + 1.0 / (j + 1);
	return bad;
}
