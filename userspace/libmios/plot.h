/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plot.c: a line for each of names[], which ends with NULL, over what was
 * varied.  Knows nothing of what is plotted.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdint.h>

struct plot_point { uint64_t x, y; int series; };

/* 0, or cli_error(). */
int plot_write(const char *path, const char *title, const char *xlabel,
	       const char *ylabel, const char *const *names,
	       const struct plot_point *p, int count);

#endif /* PLOT_H */
