// SPDX-License-Identifier: GPL-2.0
/*
 * The Fourier transform of a cube of complex numbers.  Each node transforms
 * rows and columns of its planes; then all exchange, as each node transforms
 * its part of what lies across the planes.  Right: each value is to the bit what
 * one thread computes, and the transform of that, backwards, is the cube.
 */
#include <math.h>
#include <string.h>

#include "program.h"

const char program_name[] = "fft";
const int program_size = 16;

struct value {
	double re, im;
};

static struct value *root;	/* of one, all powers */

/* n values, step apart; n is a power of two.  sign: -1 forward, 1 back. */
static void line(struct value *a, int n, int step, int sign)
{
	for (int i = 1, j = 0; i < n; i++) {
		int bit = n / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct value t = a[i * step];

			a[i * step] = a[j * step];
			a[j * step] = t;
		}
	}
	for (int half = 1; half < n; half *= 2)
		for (int i = 0; i < n; i += 2 * half)
			for (int k = 0; k < half; k++) {
				struct value w = root[n / (2 * half) * k];
				struct value *x = &a[(i + k) * step];
				struct value *y = x + half * step, t;

				w.im *= sign;
				t.re = w.re * y->re - w.im * y->im;
				t.im = w.re * y->im + w.im * y->re;
				y->re = x->re - t.re;
				y->im = x->im - t.im;
				x->re += t.re;
				x->im += t.im;
			}
}

/* Rows and columns of the planes from first on. */
static void planes(struct value *a, int n, int first, int end, int sign)
{
	for (int z = first; z < end; z++)
		for (int i = 0; i < n; i++) {
			line(a + (z * n + i) * n, n, 1, sign);
			if (i == n - 1)
				for (int x = 0; x < n; x++)
					line(a + z * n * n + x, n, n, sign);
		}
}

/* Across the planes, for the rows from first on. */
static void across(struct value *a, int n, int first, int end, int sign)
{
	for (int i = first * n; i < end * n; i++)
		line(a + i, n, n * n, sign);
}

static void roots(int n)
{
	root = malloc(n * sizeof(*root));
	if (!root)
		must(-1, "memory");
	for (int i = 0; i < n; i++)
		root[i] = (struct value){ cos(2 * M_PI * i / n),
					  sin(2 * M_PI * i / n) };
}

static struct value start(int i)
{
	return (struct value){ (i * 37 + 11) % 101 / 101.0,
			       (i * 53 + 7) % 97 / 97.0 };
}

/* By this thread alone, there and back again: must be what it was. */
static int alone(struct value *own, const struct value *cube, int n)
{
	int all = n * n * n, bad = 0;

	for (int i = 0; i < all; i++)
		own[i] = start(i);
	planes(own, n, 0, n, -1);
	across(own, n, 0, n, -1);
	bad |= !!memcmp(own, cube, all * sizeof(*own));
	across(own, n, 0, n, 1);
	planes(own, n, 0, n, 1);
	for (int i = 0; i < all; i++)
		bad |= fabs(own[i].re / all - start(i).re) > 1e-12 ||
			fabs(own[i].im / all - start(i).im) > 1e-12;
	return bad;
}

int program(int size)
{
	int n = 2, bad;
	struct value *cube, *own;

	while (n < size)
		n *= 2;
	cube = shared(0, sizeof(*cube) * n * n * n, MIOS_DSM_STRIPED);
	own = malloc(sizeof(*own) * n * n * n);
	if (!own)
		must(-1, "memory");
	if (!mios_dsm_node())
		roots(n);
	must(mios_dsm_barrier(), "barrier");
	if (!root)
		roots(n);
	for (int i = part_begin(n) * n * n; i < part_end(n) * n * n; i++)
		cube[i] = start(i);
	planes(cube, n, part_begin(n), part_end(n), -1);
	must(mios_dsm_barrier(), "barrier");
	across(cube, n, part_begin(n), part_end(n), -1);
	must(mios_dsm_barrier(), "barrier");
	bad = alone(own, cube, n);
	must(mios_dsm_barrier(), "barrier");
	free(own);
	return bad;
}
