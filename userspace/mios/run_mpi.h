/* SPDX-License-Identifier: GPL-2.0 */
/* MPI programs in mios run: see run_mpi.c. */
#ifndef MIOS_RUN_MPI_H
#define MIOS_RUN_MPI_H

#include <stdbool.h>
#include <stddef.h>

#include "libmios/placement.h"

struct mpi_job {
	const struct placement *places;
	int nr_places;
	uint64_t parts;		/* bit per instance: parts of ranks' teams are there */
	unsigned int tasks, cpus;
	bool bind, label, oversubscribe;
	bool foreign;		/* on another ring than this instance's */
	char **argv;
};

int open_program(const char *name);
bool program_needs(const char *program, bool (*is_such)(const char *library),
		   char *library, size_t size);
bool mpi_program(const char *program, char *library, size_t size);
int mpi_run(const struct mpi_job *job, const char *library);

#endif /* MIOS_RUN_MPI_H */
