// SPDX-License-Identifier: GPL-2.0
/*
 * Cancellation of loops, sections, regions and groups of tasks, again and again,
 * with what comes after each.  To be started with OMP_CANCELLATION=true.
 */
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "check.h"

enum { N = 100000, ROUNDS = 30, TASKS = 200 };

/* Who finds it stops the others; they do the next loop in full. */
static void loops(int members)
{
	int found = -1, done = 0, after = 0, fixed = 0;

#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 10)
		for (int i = 0; i < N; i++) {
			if (i == 500) {
#pragma omp atomic write
				found = i;
#pragma omp cancel for
			}
#pragma omp cancellation point for
			usleep(1);
#pragma omp atomic
			done++;
		}
#pragma omp for schedule(static)
		for (int i = 0; i < N; i++) {
#pragma omp cancel for if (i == 0)
#pragma omp cancellation point for
#pragma omp atomic
			fixed++;
		}
#pragma omp for reduction(+ : after)
		for (int i = 0; i < 1000; i++)
			after++;
	}
	check(found == 500 && done < N && after == 1000, "cancel for");
	check(members == 1 ? !fixed : fixed < N, "cancel for, static");
}

static void sections()
{
	int never = 0;

#pragma omp parallel num_threads(1)
#pragma omp sections
	{
#pragma omp section
		{
#pragma omp cancel sections
			never++;
		}
	}
	check(!never, "cancel sections");
}

/* Members wait at a barrier that one of them never comes to. */
static void regions(int members)
{
	int passed = 0, counted = 0;

#pragma omp parallel
	{
		if (omp_get_thread_num() == members - 1) {
			usleep(2000);
#pragma omp cancel parallel
		}
#pragma omp barrier
#pragma omp atomic
		passed++;
	}
	check(!passed, "cancel parallel, while others wait");
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < 3; i++) {
#pragma omp atomic
			counted++;
		}
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
		}
		for (;;) {
#pragma omp cancellation point parallel
			usleep(10);
		}
	}
	check(counted <= 3, "cancel parallel, while others compute");
	counted = 0;
#pragma omp parallel
	{
#pragma omp for schedule(dynamic)
		for (int i = 0; i < 100; i++) {
#pragma omp atomic
			counted++;
		}
#pragma omp single
		counted++;
	}
	check(counted == 101, "the region after it");
}

struct counts {
	int *alive;

	explicit counts(int *n) : alive(n) { add(1); }
	counts(const counts &other) : alive(other.alive) { add(1); }
	~counts() { add(-1); }
	void add(int n)
	{
#pragma omp atomic
		*alive += n;
	}
};

static void tasks()
{
	int run = 0, outside = 0, alive = 0;

#pragma omp parallel
#pragma omp single
	{
		counts object(&alive);

#pragma omp task
		{
#pragma omp atomic
			outside++;
		}
#pragma omp taskgroup
		for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(object)
			object.add(0);
#pragma omp task
			{
#pragma omp atomic
				run++;
				usleep(100);
				if (i == 3) {
#pragma omp cancel taskgroup
				}
			}
		}
	}
	check(run < TASKS && run >= 1, "cancel taskgroup");
	check(outside == 1 && !alive, "tasks outside, and destructors");
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);

	check(omp_get_cancellation(), "OMP_CANCELLATION");
	for (int i = 0; i < ROUNDS; i++) {
		loops(members);
		sections();
		regions(members);
		tasks();
	}
	printf("%d members, all right\n", members);
	return 0;
}
