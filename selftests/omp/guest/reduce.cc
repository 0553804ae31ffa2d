// SPDX-License-Identifier: GPL-2.0
/*
 * What constructs have besides iterations: reductions by tasks, of each kind of
 * construct; lastprivate(conditional), scan; loops whose iterations wait for
 * each other.
 */
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

static int members;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("WRONG: %s\n", what);
	exit(1);
}

struct pair {
	long a, b;
};

#pragma omp declare reduction(+ : pair : omp_out.a += omp_in.a, \
	omp_out.b += omp_in.b) initializer(omp_priv = { 0, 0 })

static void tree(int depth, long *leaves)
{
	if (!depth) {
#pragma omp task in_reduction(+ : leaves[0 : 1])
		leaves[0]++;
		return;
	}
	for (int i = 0; i < 2; i++) {
#pragma omp task in_reduction(+ : leaves[0 : 1])
		tree(depth - 1, leaves);
	}
}

static void by_tasks()
{
	long sum = 0, in_loop = 0, in_group = 0, twice = 0, leaves[1] = { 0 };
	pair both = { 0, 0 };

#pragma omp parallel reduction(task, + : sum, both)
	{
#pragma omp single nowait
		for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum, both)
			{
				long before = sum;

				/* nobody else has this copy meanwhile */
				usleep(50);
				sum = before + i;
				both.a += i;
				both.b += 2 * i;
			}
		}
		sum += 1000;
	}
	check(sum == 4950 + 1000 * members, "parallel reduction(task)");
	check(both.a == 4950 && both.b == 9900, "of an own kind");

#pragma omp parallel
	{
#pragma omp for reduction(task, + : in_loop) schedule(dynamic, 3)
		for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+ : in_loop)
			in_loop += i;
		}
#pragma omp for reduction(task, + : twice)
		for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+ : twice)
			twice += 2 * i;
		}
#pragma omp single
#pragma omp taskgroup task_reduction(+ : in_group)
		{
			for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+ : in_group)
				in_group += i;
			}
		}
	}
	check(in_loop == 1225 && twice == 2450, "for reduction(task)");
	check(in_group == 1225, "taskgroup task_reduction");

	in_loop = 0;
#pragma omp parallel
#pragma omp single
	{
#pragma omp taskloop reduction(+ : in_loop) grainsize(3)
		for (int i = 0; i < 50; i++)
			in_loop += i;
#pragma omp taskgroup task_reduction(+ : leaves)
		tree(6, leaves);
	}
	check(in_loop == 1225, "taskloop reduction");
	check(leaves[0] == 64, "tasks of tasks in a reduction");

	in_loop = in_group = 0;
#pragma omp parallel
	{
#pragma omp scope reduction(task, + : in_loop)
#pragma omp task in_reduction(+ : in_loop)
		in_loop++;
#pragma omp sections reduction(task, + : in_group)
		{
#pragma omp section
#pragma omp task in_reduction(+ : in_group)
			in_group += 1;
#pragma omp section
#pragma omp task in_reduction(+ : in_group)
			in_group += 2;
		}
	}
	check(in_loop == members, "scope");
	check(in_group == 3, "sections reduction(task)");
}

static void last()
{
	enum { N = 1000 };
	int a[N], sums[N], at = -1, found = -1, sum = 0, wrong = 0;

	for (int i = 0; i < N; i++)
		a[i] = i % 100;
#pragma omp parallel for schedule(dynamic, 7) lastprivate(conditional : at)
	for (int i = 0; i < N; i++)
		if (a[i] == 42)
			at = i;
#pragma omp parallel for lastprivate(conditional : found)
	for (int i = 0; i < N; i++)
		if (a[i] == 7)
			found = i;
	check(at == 942 && found == 907, "lastprivate(conditional)");
#pragma omp parallel for reduction(inscan, + : sum)
	for (int i = 0; i < N; i++) {
		sum += a[i];
#pragma omp scan inclusive(sum)
		sums[i] = sum;
	}
	sum = 0;
	for (int i = 0; i < N; i++) {
		sum += a[i];
		wrong += sums[i] != sum;
	}
	check(!wrong, "scan");
}

/* Each place needs those above and to the left of it. */
template <typename number, int DYNAMIC> static void wave()
{
	enum { N = 20, M = 30 };
	static long field[N + 1][M + 1];

	for (int i = 0; i <= N; i++)
		for (int j = 0; j <= M; j++)
			field[i][j] = !i || !j;
#pragma omp parallel
	if (DYNAMIC) {
#pragma omp for ordered(2) schedule(dynamic)
		for (number i = 1; i <= N; i++)
			for (number j = 1; j <= M; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
				field[i][j] = (field[i - 1][j] +
					       field[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
			}
	} else {
#pragma omp for ordered(2) schedule(static)
		for (number i = 1; i <= N; i++)
			for (number j = 1; j <= M; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
				field[i][j] = (field[i - 1][j] +
					       field[i][j - 1]) % 1000003;
#pragma omp ordered depend(source)
			}
	}
	for (int i = 1; i <= N; i++)
		for (int j = 1; j <= M; j++)
			check(field[i][j] == (field[i - 1][j] +
					      field[i][j - 1]) % 1000003,
			      "ordered(2)");
}

static void line()
{
	enum { N = 100 };
	long steps[N] = { 1 };

#pragma omp parallel for ordered(1) schedule(static, 3)
	for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
		steps[i] = steps[i - 1] + i;
#pragma omp ordered depend(source)
	}
	check(steps[N - 1] == 1 + N * (N - 1) / 2, "ordered(1)");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	members = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
	for (int i = 0; i < rounds; i++) {
		by_tasks();
		last();
		wave<int, 0>();
		wave<int, 1>();
		wave<unsigned long long, 0>();
		wave<unsigned long long, 1>();
		line();
	}
	printf("%d members, all right\n", members);
	return 0;
}
