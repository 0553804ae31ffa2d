// SPDX-License-Identifier: GPL-2.0
/*
 * How large the stack of a thread of ours is.  libc takes out of it what the
 * program and its libraries have of thread-local data, which may be megabytes of
 * threadprivate variables.  Called by the runtimes of OpenMP and of coarrays.
 */
#include <dlfcn.h>

#include "team.h"

size_t mios_omp_stack_size(size_t size, const pthread_attr_t *attr)
{
	size_t (*least)(const pthread_attr_t *attr) =
		(size_t (*)(const pthread_attr_t *))dlsym(RTLD_DEFAULT,
							  "__pthread_get_minstack");

	return size + (least ? least(attr) : 0);
}
