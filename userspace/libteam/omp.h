/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the preloaded object, which starts a team's processes, and our
 * libgomp, which does their work: the latter registers itself.
 */
#ifndef MIOS_OMP_H
#define MIOS_OMP_H

#include "team.h"
#include "window.h"

struct omp_runtime {
	void (*start)(struct omp_window *w, unsigned int place);
	void (*master)(void);			/* who calls is member 0 */
	void (*member)(unsigned int number);	/* never returns */
	void (*alone)(void);			/* in a child: no team */
};

/* start.c APIs: */
void mios_omp_register(const struct omp_runtime *runtime);
void mios_omp_alone(void);

/* layout.c APIs: */
void mios_omp_demand_code(const void *code);

/* fork.c APIs: */
void fork_prepare(int fd, int least);

#endif /* MIOS_OMP_H */
