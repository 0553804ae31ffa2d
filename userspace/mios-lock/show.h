/* SPDX-License-Identifier: GPL-2.0 */
/* How results are shown: a table for people, JSON for programs. */
#ifndef _MIOS_LOCK_SHOW_H
#define _MIOS_LOCK_SHOW_H

#include <stdio.h>

#include "sim.h"

/* Nanoseconds of a hand-over beyond the time that the lock is held. */
double show_cost(const struct sim_config *config,
		 const struct sim_result *result);

void show_head(FILE *f);
void show_row(FILE *f, const struct sim_config *config,
	      const struct sim_result *result);
void show_json(FILE *f, const struct sim_config *config,
	       const struct sim_result *result);

#endif /* _MIOS_LOCK_SHOW_H */
