/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How results are shown: tables, JSON; plots are in plot.h.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "../../runtime/stats.h"
#include "../simulator/sim.h"
#include "../../../libmios/plot.h"

/* simout.c */
void sim_table_head(FILE *f);
void sim_table_row(FILE *f, const struct sim_config *c,
		   const struct sim_result *r);
void sim_explain(FILE *f, const struct sim_result *r);
void sim_json(FILE *f, const struct sim_config *c,
	      const struct sim_result *r);

/* node_results.c: of nodes first to end - 1; status is each node's exit status */
void nodes_table(FILE *f, u32 first, u32 end, const struct node_stats *s,
		 const int *status);
int nodes_json(const char *path, u32 first, u32 end,
	       const struct node_stats *s, const int *status);

#endif /* RESULTS_H */
