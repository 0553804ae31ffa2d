// SPDX-License-Identifier: GPL-2.0
/*
 * A process that is late: main() asks for the CPUs of all members at once, before the
 * other process has looked for its own.
 */
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include "check.h"

enum { FIRST = 3, OTHERS = 7 };

/* Constructors run in the first process, in the thread that starts its members. */
static thread_local bool first;

static void __attribute__((constructor)) say_first()
{
	first = true;
}

/* In place of libc's, as the library calls it. */
extern "C" int sched_getaffinity(pid_t, size_t size, cpu_set_t *cpus) noexcept
{
	if (!first)
		usleep(300000);
	CPU_ZERO_S(size, cpus);
	CPU_SET_S(first ? FIRST : OTHERS, size, cpus);
	return 0;
}

int main()
{
	int ids[2] = { -1, -1 };

	check(omp_get_num_places() == 2, "a place for each process");
	omp_get_place_proc_ids(0, &ids[0]);
	omp_get_place_proc_ids(1, &ids[1]);
	printf("CPUs %d and %d\n", ids[0], ids[1]);
	return 0;
}
