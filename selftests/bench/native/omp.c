// SPDX-License-Identifier: GPL-2.0
/*
 * What constructs of OpenMP cost, in nanoseconds of a team that is there:
 *   omp CONSTRUCT COUNT ...
 * CONSTRUCT: region, barrier, chunk, task, critical or reduction; for each pair of
 * words one number is printed, of one of each.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSEC	1e9

static volatile long sum;

static void regions(long n)
{
	long i;

	for (i = 0; i < n; i++) {
#pragma omp parallel
		__asm__ volatile("" : : : "memory");
	}
}

static void meet(void)
{
#pragma omp barrier
}

static void barriers(long n)
{
#pragma omp parallel
	{
		long i;

		for (i = 0; i < n; i++)
			meet();
	}
}

static void chunks(long n)
{
	long i;

#pragma omp parallel for schedule(dynamic, 1)
	for (i = 0; i < n; i++)
		__asm__ volatile("" : : : "memory");
}

static void tasks(long n)
{
#pragma omp parallel
#pragma omp single
	{
		long i;

		for (i = 0; i < n; i++) {
#pragma omp task
			__asm__ volatile("" : : : "memory");
		}
	}
}

/* Of all members together. */
static void criticals(long n)
{
#pragma omp parallel
	{
		long i;

#pragma omp for schedule(static)
		for (i = 0; i < n; i++) {
#pragma omp critical
			sum = sum + 1;
		}
	}
}

static void reductions(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		long here = 0;

#pragma omp parallel reduction(max : here)
		here = 1;
		sum = sum + here;
	}
}

static const struct {
	const char *name;
	void (*run)(long n);
} constructs[] = {
	{ "region", regions }, { "barrier", barriers }, { "chunk", chunks },
	{ "task", tasks }, { "critical", criticals },
	{ "reduction", reductions }, { NULL, NULL },
};

static int measure(const char *name, long n)
{
	double begin;
	int i;

	for (i = 0; constructs[i].name; i++) {
		if (strcmp(constructs[i].name, name) || n < 1)
			continue;
		constructs[i].run(n / 10 + 1);	/* the team is there now */
		begin = omp_get_wtime();
		constructs[i].run(n);
		printf("%.1f\n", (omp_get_wtime() - begin) * NSEC / n);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	int i = 1;

	while (i + 1 < argc && !measure(argv[i], atol(argv[i + 1])))
		i += 2;
	if (argc > 1 && i == argc)
		return 0;
	fprintf(stderr, "usage: omp CONSTRUCT COUNT ...\n");
	return 2;
}
