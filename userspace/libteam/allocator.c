// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of which a team knows nothing: what another allocator gives, or sbrk(),
 * is the process's that asked, and a pointer to it wrong in all others.  So such
 * a program is refused, unless malloc() is each process's own anyway.
 */
#include <dlfcn.h>
#include <string.h>

#include "files.h"

#define INSTEAD	"run it with --share strict, or without --omp"

/* By name, as what they put in the place of malloc() is found behind ours. */
void allocator_refuse(const char *library)
{
	static const char * const known[] = {
		"libtcmalloc", "libjemalloc", "libmimalloc",
		"libtbbmalloc_proxy", "libhoard", "librpmalloc", "libsnmalloc",
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!mios_omp_place.strict &&
		    !strncmp(library, known[i], strlen(known[i])))
			omp_die("%s is an allocator for one process, and this "
				"program is several: " INSTEAD, library);
}

/* A program's own malloc() comes before ours. */
void allocator_demand(void)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	Dl_info its, ours;

	if (mios_omp_place.strict || !dladdr(found, &its) ||
	    !dladdr((void *)allocator_demand, &ours) ||
	    its.dli_fbase == ours.dli_fbase)
		return;
	omp_die("%s has a malloc() of its own, and this program is several "
		"processes: " INSTEAD, its.dli_fname);
}

void *sbrk(intptr_t more)
{
	if (more && files_places() > 1 && !mios_omp_place.strict)
		omp_die("the program takes memory by sbrk(), and is several "
			"processes: " INSTEAD);
	return REAL(sbrk)(more);
}
