/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How results are shown: tables, JSON, plots.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "../runtime/stats.h"
#include "../simulator/sim.h"

/* simout.c */
void sim_table_head(FILE *f);
void sim_table_row(FILE *f, const struct sim_config *c,
		   const struct sim_result *r);
void sim_json(FILE *f, const struct sim_config *c,
	      const struct sim_result *r);

/* nodes.c: of nodes first to end - 1; status is each node's exit status */
void nodes_table(FILE *f, u32 first, u32 end, const struct node_stats *s,
		 const int *status);
int nodes_json(const char *path, u32 first, u32 end,
	       const struct node_stats *s, const int *status);

/* plot.c: a line for each policy over the swept value. */
struct plot_point { u64 x, y; int series; };
int plot_write(const char *path, const char *title, const char *xlabel,
	       const char *ylabel, const char *const *names,
	       const struct plot_point *p, int count);

#endif /* RESULTS_H */
