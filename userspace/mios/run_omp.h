/* SPDX-License-Identifier: GPL-2.0 */
/* OpenMP programs over instances in mios run: see run_omp.c. */
#ifndef MIOS_RUN_OMP_H
#define MIOS_RUN_OMP_H

#include <stdbool.h>

#include "libmios/placement.h"

struct omp_job {
	struct placement *places;
	int nr_places;
	int self;			/* the caller's instance */
	unsigned int threads;
	bool bind, label, explain, strict;
	int ring;
	char **argv;
};

unsigned int omp_threads(void);
int omp_check(unsigned int threads, int ring, const char *program);
int omp_run(struct omp_job *job);

/* omp_program.c: 0, or -errno and a line that says why it cannot work */
int omp_check_program(const char *program);

/* omp_window.c: the file that the processes share, and who removes it */
int job_window_create(const char *kind, unsigned int threads, char *path,
		      size_t size);
void job_window_end(void);

#endif /* MIOS_RUN_OMP_H */
