/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The descriptors of a team: each is a process's own, and works in all.  See
 * files.c for who has which, ask.c for how another one is asked.
 */
#ifndef MIOS_OMP_FILES_H
#define MIOS_OMP_FILES_H

#include <dlfcn.h>

#include "omp.h"

/* libc's own, found when it is first called for. */
#define REAL(NAME) ({							\
	static typeof(NAME) *real;					\
									\
	if (!real)							\
		real = (typeof(real))dlsym(RTLD_NEXT, #NAME);		\
	real;								\
})

/* files.c APIs: */
void files_create(struct omp_window *w);
int files_limit(void);
void files_start(void);
void files_separate(void);
unsigned int files_place(int fd);
bool files_here(int fd);
void files_moved(int fd);

#endif /* MIOS_OMP_FILES_H */
