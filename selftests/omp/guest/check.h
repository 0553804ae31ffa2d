/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs of selftests/omp/guest/ end with when something is wrong. */
#ifndef OMP_CHECK_H
#define OMP_CHECK_H

#include <cstdio>
#include <unistd.h>

static inline void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	fflush(stdout);
	_exit(1);
}

#endif /* OMP_CHECK_H */
