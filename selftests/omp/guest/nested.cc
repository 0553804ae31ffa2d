// SPDX-License-Identifier: GPL-2.0
/*
 * Regions within regions, and those of threads that the program has made: each
 * has its members, loops, barriers, reductions, tasks, and numbers of its own.
 */
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

#include "check.h"

enum { INNER = 3, N = 1000, ROUNDS = 20 };

/* What an inner region computes: loops of three schedules, tasks, a barrier. */
static long inner(int threads, int *wrong)
{
	long sum = 0, by_tasks = 0;
	int met = 0, singles = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	{
		if (omp_get_num_threads() != threads ||
		    omp_get_thread_num() >= threads) {
#pragma omp atomic
			++*wrong;
		}
#pragma omp for schedule(dynamic, 3)
		for (int i = 0; i < N; i++)
			sum += i;
#pragma omp for schedule(static)
		for (int i = 0; i < N; i++)
			sum += i;
#pragma omp atomic
		met++;
#pragma omp barrier
#pragma omp single
		{
			singles += met == threads;
#pragma omp taskloop shared(by_tasks) grainsize(50)
			for (int i = 0; i < N; i++) {
#pragma omp atomic
				by_tasks += i;
			}
		}
	}
	if (singles != 1) {
#pragma omp atomic
		++*wrong;
	}
	return sum + by_tasks;
}

static const long want = 3l * N * (N - 1) / 2;

static void nested(int members)
{
	std::vector<long> sums(members);
	int wrong = 0, levels = 0;

	for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel
		sums[omp_get_thread_num()] =
			inner(INNER - (round % 2), &wrong);
		for (int i = 0; i < members; i++)
			wrong += sums[i] != want;
	}
	check(!wrong, "teams in a team");
#pragma omp parallel
	{
		int outer = omp_get_thread_num(), right = 0;

#pragma omp parallel num_threads(2) reduction(+ : right)
		right += omp_get_level() == 2 && omp_get_active_level() == 2 &&
			 omp_get_ancestor_thread_num(1) == outer &&
			 omp_get_team_size(1) == members &&
			 omp_get_team_size(2) == 2;
#pragma omp atomic
		levels += right;
	}
	check(levels == 2 * members, "levels, ancestors");
	levels = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
	{
#pragma omp atomic
		levels += omp_get_level();
	}
	check(levels == 4 * 3, "a third level has one thread");
}

/* Its first thread is amid one region when it begins the next one. */
static int deep(int depth)
{
	int sum = 0;

	if (!depth)
		return 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += deep(depth - 1);
	return sum;
}

/* Each thread of the program has a team for itself, which ends with it. */
static void own_threads()
{
	int wrong = 0;

	for (int round = 0; round < 5; round++) {
		std::vector<std::thread> threads;
		std::vector<long> sums(4);

		for (int i = 0; i < 4; i++)
			threads.emplace_back([&, i] {
				for (int j = 0; j < 5; j++)
					sums[i] = inner(2, &wrong);
			});
		for (std::thread &t : threads)
			t.join();
		for (long sum : sums)
			wrong += sum != want;
	}
	check(!wrong, "teams of threads of the program");
}

/* Tasks of all members that begin regions. */
static void in_tasks()
{
	int wrong = 0, done = 0;

#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 20; i++) {
#pragma omp task
		{
			int bad = inner(2, &wrong) != want;

#pragma omp atomic
			done += !bad;
		}
	}
	check(done == 20 && !wrong, "regions in tasks");
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);

	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	check(omp_get_nested() && omp_get_max_active_levels() == 2, "settings");
	nested(members);
	own_threads();
	in_tasks();
	omp_set_max_active_levels(5);
	for (int round = 0; round < ROUNDS; round++)
		check(deep(5) == 1 << 5, "regions within regions within regions");
	printf("%d members, all right\n", members);
	return 0;
}
