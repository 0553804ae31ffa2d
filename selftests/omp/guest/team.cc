// SPDX-License-Identifier: GPL-2.0
/*
 * A program as any other with OpenMP: static and stack arrays, containers that
 * members fill, and each construct that a team over instances has by now.
 * Every line that it prints is the same whatever the team; the first argument
 * is how many members are expected.
 */
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

enum { N = 20000, EACH = 5000 };

static double squares[N];
static int seen[64];
static std::vector<std::string> names;

static void check(bool good, const char *what)
{
	printf("%s: %s\n", good ? "ok" : "WRONG", what);
	if (!good)
		exit(1);
}

static void data(int members)
{
	int on_stack[N], count = 0, who = -1;
	std::vector<long> numbers(N);
	long sum = 0;

#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		squares[i] = (double)i * i;
		on_stack[i] = i;
		numbers[i] = 2 * i;
	}
	for (int i = 0; i < N; i++)
		sum += squares[i] == (double)i * i && on_stack[i] == i &&
		       numbers[i] == 2 * i;
	check(sum == N, "static array, array on the stack, vector");

#pragma omp parallel
	{
#pragma omp critical(names)
		names.push_back("a string that is too long to lie in place " +
				std::to_string(omp_get_thread_num()));
#pragma omp atomic
		count++;
#pragma omp master
		who = omp_get_thread_num();
		seen[omp_get_thread_num()] = 1;
	}
	check(count == members && (int)names.size() == members && who == 0,
	      "critical, atomic, master");
	sum = 0;
	for (int i = 0; i < members; i++)
		sum += seen[i];
	check(sum == members, "each member took part");
	names.clear();

	volatile long named = 0, unnamed = 0;

#pragma omp parallel
	for (int i = 0; i < EACH; i++) {
#pragma omp critical(named)
		named = named + 1;
#pragma omp critical
		unnamed = unnamed + 1;
	}
	check(named == EACH * members && unnamed == EACH * members,
	      "critical keeps the others out");
}

static void loops()
{
	long sums[4] = {}, want = (long)N * (N - 1) / 2, down = 0;
	unsigned long long big = 0;

#pragma omp parallel for reduction(+ : sums)
	for (int i = 0; i < N; i++)
		sums[0] += i;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sums)
	for (int i = 0; i < N; i++)
		sums[1] += i;
#pragma omp parallel for schedule(guided) reduction(+ : sums)
	for (int i = 0; i < N; i++)
		sums[2] += i;
#pragma omp parallel reduction(+ : sums, down, big)
	{
#pragma omp for schedule(static, 3) nowait
		for (int i = 0; i < N; i++)
			sums[3] += i;
#pragma omp for schedule(dynamic) nowait
		for (int i = 999; i > 0; i -= 2)
			down += i;
#pragma omp for schedule(dynamic, 5)
		for (unsigned long long i = ~0ull - 50; i < ~0ull - 9; i += 10)
			big++;
	}
	check(sums[0] == want && sums[1] == want && sums[2] == want &&
	      sums[3] == want && down == 250000 && big == 5,
	      "loops: static, dynamic, guided, down, unsigned");
}

static void sharing(int members)
{
	int one = 0, parts[3] = {}, after = 0, copied = 0, turn = 0;
	bool ordered = true;

#pragma omp parallel
	{
		int mine = 0;

#pragma omp single
		one++;
#pragma omp sections
		{
#pragma omp section
			parts[0]++;
#pragma omp section
			parts[1]++;
#pragma omp section
			parts[2]++;
		}
#pragma omp single copyprivate(mine)
		mine = 42;
#pragma omp atomic
		copied += mine;
#pragma omp barrier
#pragma omp atomic
		after += copied == 42 * members;
#pragma omp for ordered schedule(dynamic, 2)
		for (int i = 0; i < 40; i++) {
#pragma omp ordered
			ordered &= turn++ == i;
		}
	}
	check(one == 1 && parts[0] + parts[1] + parts[2] == 3 && parts[2] == 1,
	      "single, sections");
	check(copied == 42 * members && after == members,
	      "copyprivate, barrier");
	check(ordered && turn == 40, "ordered");
}

static int local = 1;
#pragma omp threadprivate(local)

static void own(int members)
{
	long sum = 0, inner = 0;
	omp_lock_t lock;

	local = 5;
#pragma omp parallel copyin(local) reduction(+ : sum)
	{
		sum += local;
		local = omp_get_thread_num();
	}
	check(sum == 5 * members, "copyin");
	sum = 0;
#pragma omp parallel reduction(+ : sum)
	sum += local;
	check(sum == members * (members - 1) / 2, "threadprivate");

	omp_init_lock(&lock);
	sum = 0;
#pragma omp parallel
	for (int i = 0; i < 100; i++) {
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
	check(sum == 100 * members, "locks");

#pragma omp parallel reduction(+ : inner)
#pragma omp parallel reduction(+ : inner)
	inner += omp_get_num_threads();
	check(inner == members, "a region in a region has one thread");
}

static long fib(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static void tasks()
{
	long f = 0, sum = 0;

#pragma omp parallel
#pragma omp single
	f = fib(12);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(10) shared(sum)
	for (int i = 0; i < 100; i++) {
#pragma omp atomic
		sum += i;
	}
	check(f == 144 && sum == 4950, "tasks");
}

struct start {
	std::vector<int> list;

	start() : list(3, 7) { }
};

static start before;

int main(int argc, char **argv)
{
	int members = argc > 1 ? atoi(argv[1]) : omp_get_max_threads();
	long words = 0, at = 0;

	check(omp_get_max_threads() == members, "threads");
	check(before.list.size() == 3, "constructors have run, once");
	data(members);
	loops();
	sharing(members);
	own(members);
	tasks();
#pragma omp parallel reduction(+ : words, at)
	{
		words += argv[0][0] + before.list[2];
		at += getenv("PATH") ? 1 : 0;
#pragma omp critical
		std::cout << "member " << omp_get_thread_num() << std::endl;
	}
	check(words == members * (argv[0][0] + 7) && at == members,
	      "arguments and environment");
	for (int i = 0; i < 2000; i++) {
#pragma omp parallel
		if (i % members == omp_get_thread_num())
			at++;
	}
	check(at == members + 2000, "2000 regions");
	return argc > 2 ? atoi(argv[2]) : 0;
}
