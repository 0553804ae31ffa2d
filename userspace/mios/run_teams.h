/* SPDX-License-Identifier: GPL-2.0 */
/* Ranks of MPI that have teams of OpenMP: see run_teams.c. */
#ifndef MIOS_RUN_TEAMS_H
#define MIOS_RUN_TEAMS_H

#include "run_mpi.h"

struct teams {
	unsigned int nr, each;		/* ranks, and how many threads they have */
	const unsigned int *threads;	/* of each on each place */
	bool bind, strict;
	int ring;
};

void teams_explain(const struct teams *t, const struct placement *places, int n);
int teams_run(const struct teams *t, struct mpi_job *job);

/* The team of this rank into @places; its threads, or 0 and a line. */
unsigned int teams_own(const char *text, struct placement *places, int n, int self);

#endif /* MIOS_RUN_TEAMS_H */
