// SPDX-License-Identifier: GPL-2.0
/*
 * Loops of each schedule and of each kind of counter, up and down: every iteration
 * is run once; those that are ordered are, and those that wait for others do.
 *	loops MEMBERS
 */
#include <climits>
#include <cstdlib>
#include <initializer_list>
#include <omp.h>

#include "check.h"

enum { N = 203 };

static int hits[N];
static long sums[N];

static bool once()
{
	bool good = true;

	for (int &hit : hits) {
		good &= hit == 1;
		hit = 0;
	}
	return good;
}

static bool summed()
{
	bool good = true;

	for (int i = 1; i < N; i++)
		good &= sums[i] == i * (i + 1l) / 2;
	for (long &sum : sums)
		sum = 0;
	return good;
}

#define PRAGMA(X) _Pragma(#X)

#define LOOPS(NAME, ...)						\
template <typename T> static void NAME(T first, T last)			\
{									\
	PRAGMA(omp parallel for schedule(__VA_ARGS__))			\
	for (T i = first; i < first + 3 * N; i += 3)			\
		hits[(i - first) / 3]++;				\
	check(once(), "up, schedule(" #__VA_ARGS__ ")");		\
	PRAGMA(omp parallel)						\
	{								\
		PRAGMA(omp for schedule(__VA_ARGS__) nowait)		\
		for (T i = last; i > last - 2 * N; i -= 2)		\
			hits[(last - i) / 2]++;				\
		PRAGMA(omp for schedule(__VA_ARGS__))			\
		for (T i = first; i > first; i--)			\
			hits[0]++;					\
	}								\
	check(once(), "down, schedule(" #__VA_ARGS__ ")");		\
}

#define ORDERED(NAME, ...)						\
template <typename T> static void NAME(T first)				\
{									\
	bool wrong = false;						\
	T next = first;							\
									\
	PRAGMA(omp parallel for schedule(__VA_ARGS__) ordered)		\
	for (T i = first; i < first + N; i++) {				\
		hits[i - first]++;					\
		PRAGMA(omp ordered)					\
		wrong |= next++ != i;					\
	}								\
	check(!wrong && once(), "ordered, schedule(" #__VA_ARGS__ ")");	\
	PRAGMA(omp parallel for schedule(__VA_ARGS__) ordered(1))	\
	for (T i = first + 1; i < first + N; i++) {			\
		PRAGMA(omp ordered depend(sink : i - 1))		\
		sums[i - first] = sums[i - first - 1] + (i - first);	\
		PRAGMA(omp ordered depend(source))			\
	}								\
	check(summed(), "ordered(1), schedule(" #__VA_ARGS__ ")");	\
}

LOOPS(of_static, static)
LOOPS(of_static_3, static, 3)
LOOPS(of_dynamic, dynamic)
LOOPS(of_dynamic_5, dynamic, 5)
LOOPS(of_monotonic, monotonic : dynamic, 2)
LOOPS(of_guided, guided)
LOOPS(of_guided_4, guided, 4)
LOOPS(of_guided_in_order, monotonic : guided, 2)
LOOPS(of_auto, auto)
LOOPS(of_runtime, runtime)
LOOPS(of_nonmonotonic, nonmonotonic : runtime)
LOOPS(of_runtime_in_order, monotonic : runtime)
ORDERED(in_static, static)
ORDERED(in_static_3, static, 3)
ORDERED(in_dynamic, dynamic, 2)
ORDERED(in_guided, guided)
ORDERED(in_runtime, runtime)

template <typename T> static void at_run_time(T first, T last)
{
	const omp_sched_t kinds[] = { omp_sched_static, omp_sched_dynamic,
				      omp_sched_guided, omp_sched_auto };
	omp_sched_t found;
	int chunk;

	for (omp_sched_t kind : kinds)
		for (int size : { 0, 1, 7 }) {
			omp_set_schedule(kind, size);
			omp_get_schedule(&found, &chunk);
			check((found & 0xff) == kind && (kind == omp_sched_auto ||
			      !size || chunk == size), "omp_set_schedule");
			of_runtime<T>(first, last);
			of_nonmonotonic<T>(first, last);
			of_runtime_in_order<T>(first, last);
			in_runtime<T>(first);
		}
}

template <typename T> static void all(T first, T last)
{
	of_static<T>(first, last);
	of_static_3<T>(first, last);
	of_dynamic<T>(first, last);
	of_dynamic_5<T>(first, last);
	of_monotonic<T>(first, last);
	of_guided<T>(first, last);
	of_guided_4<T>(first, last);
	of_guided_in_order<T>(first, last);
	of_auto<T>(first, last);
	in_static<T>(first);
	in_static_3<T>(first);
	in_dynamic<T>(first);
	in_guided<T>(first);
	at_run_time<T>(first, last);
}

int main(int argc, char **argv)
{
	check(omp_get_max_threads() == atoi(argv[1]), "how many there are");
	all<int>(-50, 70);
	all<long>(LONG_MIN + 1, LONG_MAX - 1);
	all<unsigned long long>(1ull << 63, ULLONG_MAX - 1);
	printf("%s members, all right\n", argv[1]);
	return 0;
}
