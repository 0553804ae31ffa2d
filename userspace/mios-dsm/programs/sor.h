/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What successive over-relaxation computes, wherever the grid is: sor.c has it in
 * shared memory, selftests/bench/native/mpisor.c in messages.
 */
#ifndef SOR_H
#define SOR_H

#define SOR_STEPS	10
#define SOR_SIZE	128

/* One colour of the rows from to to - 1 of n. */
static inline void sor_half(double *g, int n, int from, int to, int colour)
{
	for (int i = from; i < to; i++)
		for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
			g[i * n + j] += 0.3 * (g[(i - 1) * n + j] +
				g[(i + 1) * n + j] + g[i * n + j - 1] +
				g[i * n + j + 1] - 4 * g[i * n + j]);
}

static inline void sor_begin(double *g, int n)
{
	for (int i = 0; i < n; i++)
		g[i] = g[i * n] = i;
}

/* The whole of it by one thread. */
static inline void sor_alone(double *g, int n)
{
	sor_begin(g, n);
	for (int s = 0; s < 2 * SOR_STEPS; s++)
		sor_half(g, n, 1, n - 1, s % 2);
}

#endif /* SOR_H */
