// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks of every kind.  Every check says what it found; the first argument is
 * how many members are expected, the second how often all is done.
 */
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static int members;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	exit(1);
}

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a) final(n < 6)
	a = fib(n - 1);
#pragma omp task shared(b) if (n > 4)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

/* Tasks of tasks, for which nobody waits but the end of the region. */
static void grow(int depth, int *count)
{
	for (int i = 0; i < 2 && depth; i++) {
#pragma omp task firstprivate(depth)
		grow(depth - 1, count);
	}
#pragma omp atomic
	++*count;
}

static void plain()
{
	int count = 0, who[1024] = {}, kinds = 0, before_barrier = 0;
	long f = 0;

#pragma omp parallel
	{
#pragma omp single
		f = fib(14);
#pragma omp single nowait
		grow(7, &count);
	}
	check(f == 377, "fib");
	check(count == 255, "tasks that the end of the region waits for");

	/* Each waits until another one runs, so no member can run them all. */
#pragma omp parallel
	{
#pragma omp single
		for (int i = 0; i < members; i++) {
#pragma omp task
			{
				int here;

				who[omp_get_thread_num()] = 1;
#pragma omp atomic
				before_barrier++;
				do {
#pragma omp atomic read
					here = before_barrier;
				} while (here < members);
			}
		}
		if (before_barrier != members)
			exit(1);
	}
	for (int i = 0; i < members; i++)
		kinds += who[i];
	check(kinds == members, "each member runs a task");
}

static void depends()
{
	enum { N = 60 };
	int x = 0, y = 0, wrong = 0, sum = 0, order[N] = {};
	std::vector<int> chain;

#pragma omp parallel
#pragma omp single
	{
		for (int i = 0; i < N; i++) {
#pragma omp task depend(out : x)
			{
				x = i;
				chain.push_back(i);
			}
			for (int j = 0; j < 3; j++) {
#pragma omp task depend(in : x) depend(mutexinoutset : sum)
				{
					wrong += x != i;
					sum++;
				}
#pragma omp task depend(in : x)
				if (x != i) {
#pragma omp atomic
					wrong++;
				}
			}
#pragma omp task depend(in : x) depend(out : order[i])
			order[i] = x + 1;
		}
		for (int i = 1; i < N; i++) {
#pragma omp task depend(in : order[i - 1]) depend(inout : order[i])
			order[i] += order[i - 1];
		}
#pragma omp task depend(inout : order[N - 1]) if (0)
		y = order[N - 1];
	}
	check(!wrong && sum == 3 * N, "in after out, one at a time");
	check(y == N * (N + 1) / 2, "a chain, and who waits for its end");
	for (int i = 0; i < N; i++)
		check(chain[i] == i, "the order of those that write");

	omp_depend_t object;
	int z = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp depobj(object) depend(inout : z)
#pragma omp task depend(depobj : object)
		{
			usleep(1000);
			z = 1;
		}
#pragma omp taskwait depend(in : z)
		y = z;
#pragma omp depobj(object) destroy
	}
	check(y == 1, "depend objects, taskwait depend");
}

static void groups()
{
	int count = 0, then = 0, outside = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp task
		{
#pragma omp atomic
			outside++;
		}
#pragma omp taskgroup
		{
			for (int i = 0; i < 10; i++) {
#pragma omp task
				{
#pragma omp task
					{
						usleep(100);
#pragma omp atomic
						count++;
					}
				}
			}
		}
		then = count;
	}
	check(then == 10 && outside == 1, "a group waits for tasks of tasks");
}

static int no_iterations(int n)
{
	int sum = 0;

#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum++;
	return sum;
}

static void loops()
{
	enum { N = 1000 };
	std::vector<int> hits(N);
	unsigned long long big = 0;
	int last = -1, tasks = 0, smallest = N;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskloop grainsize(7) lastprivate(last)
		for (int i = 0; i < N; i++) {
#pragma omp atomic
			hits[i]++;
			last = i;
		}
#pragma omp taskloop num_tasks(13) nogroup
		for (int i = N - 1; i >= 0; i -= 3) {
#pragma omp atomic
			hits[i]++;
		}
#pragma omp taskwait
#pragma omp taskloop
		for (unsigned long long i = ~0ull - 50; i < ~0ull - 9; i += 10) {
#pragma omp atomic
			big++;
		}
#pragma omp taskloop num_tasks(10) private(tasks) shared(smallest)
		for (int i = 0; i < 10; i++) {
#pragma omp atomic
			smallest--;
		}
	}
	for (int i = 0; i < N; i++)
		check(hits[i] == 1 + (i % 3 == 0), "taskloop: each once");
	check(last == N - 1, "taskloop: lastprivate");
	check(!no_iterations(0) && no_iterations(3) == 3, "taskloop: a reduction over none");
	check(big == 5 && smallest == N - 10, "taskloop: unsigned, by number");
}

/* Regions of all sizes, one after the other: a task is run by their members. */
static void sizes()
{
	int count = 0, strangers = 0, expected = 0;

	for (int i = 0; i < 60; i++) {
		int n = 1 + i % members;

#pragma omp parallel num_threads(n)
		{
			for (int j = 0; j < 3; j++) {
#pragma omp task
				{
					usleep(200);
					if (omp_get_thread_num() >= n ||
					    omp_get_num_threads() != n) {
#pragma omp atomic
						strangers++;
					}
#pragma omp atomic
					count++;
				}
			}
		}
		expected += 3 * n;
	}
	check(count == expected, "tasks of regions of all sizes");
	check(!strangers, "members of other sizes keep out");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	members = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
	for (int i = 0; i < rounds; i++) {
		plain();
		depends();
		groups();
		loops();
		sizes();
	}
	printf("%d members, all right\n", members);
	return 0;
}
