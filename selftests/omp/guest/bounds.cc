// SPDX-License-Identifier: GPL-2.0
/*
 * What the user bounds: with OMP_THREAD_LIMIT=3 no more threads are at work at a
 * time, in regions within regions, too; with OMP_MAX_TASK_PRIORITY=9 tasks of a
 * higher priority come first.  For three members.
 */
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "check.h"

enum { LIMIT = 3, TASKS = 12, MOST = 9 };

static int add(int *count, int n)
{
	int now;

#pragma omp atomic capture
	now = *count += n;
	return now;
}

static void await(int *count, int n)
{
	while (add(count, 0) < n)
		usleep(100);
}

/* Two members begin regions of three at the same time: one thread is left. */
static void threads()
{
	int members = 0, at_work = 0, begun = 0, alone = 0;

	check(omp_get_thread_limit() == LIMIT, "the limit");
#pragma omp parallel num_threads(8)
	add(&members, 1);
	check(members == LIMIT, "members of a region");
	for (int round = 0; round < 20; round++) {
		at_work = begun = alone = 0;
#pragma omp parallel num_threads(2)
		{
#pragma omp parallel num_threads(3)
			{
				add(&at_work, 1);
				if (!omp_get_thread_num())
					add(&begun, 1);
				await(&begun, 2);
			}
#pragma omp barrier
#pragma omp single
			{
#pragma omp parallel num_threads(3)
				add(&alone, 1);
			}
		}
		check(at_work == LIMIT, "regions within a region");
		check(alone == 2, "one that begins when the others are over");
	}
}

/* One member is kept busy by the first task; the other one runs the rest. */
static void priorities()
{
	int order[TASKS], n = 0, busy = 0, wrong = 0;

	check(omp_get_max_task_priority() == MOST, "the highest priority");
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task priority(20) shared(busy, n)
		{
			add(&busy, 1);
			await(&n, TASKS);
		}
		await(&busy, 1);
		for (int i = 0; i < TASKS; i++) {
#pragma omp task priority(i * 7 % TASKS) shared(order, n)
			order[add(&n, 1) - 1] = i * 7 % TASKS;
		}
#pragma omp taskwait
	}
	for (int i = 1; i < TASKS; i++)
		wrong += order[i - 1] < order[i] && order[i - 1] < MOST;
	check(!wrong, "tasks in the order of their priorities");
}

int main(int argc, char **argv)
{
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	threads();
	priorities();
	printf("%s members, all right\n", argv[1]);
	return 0;
}
