// SPDX-License-Identifier: GPL-2.0
/*
 * With and without mios run --omp --share strict: statics, stacks and omp_alloc()
 * are shared, and what malloc() gives is, too, or each process's own.
 *	strict MEMBERS NEAR	so many have blocks of malloc() in the window
 *	strict MEMBERS read	the members read what main() has of malloc()
 */
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include "check.h"

enum { N = 10000 };

static long statics[N];
static char words[64][32];

/* How many members have blocks of malloc() near to what is shared? */
static int are_near(const void *given)
{
	int near = 0;

#pragma omp parallel reduction(+ : near)
	{
		void *block = malloc(100000);

		near = labs((char *)block - (char *)given) < 1l << 40;
		free(block);
	}
	return near;
}

static void read_of_main(int members)
{
	long *given = (long *)malloc(sizeof(*given)), sum = 0;

	*given = 5;
#pragma omp parallel reduction(+ : sum)
	sum += *given;
	check(sum == 5 * members, "what main() has of malloc()");
	free(given);
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]), near = atoi(argv[2]), right = 0;
	long *given = (long *)omp_alloc(N * sizeof(*given),
					omp_default_mem_alloc);
	long on_stack[N], sum = 0;

	if (!strcmp(argv[2], "read")) {
		read_of_main(members);
		near = members;
	}
#pragma omp parallel
	{
		std::vector<std::string> own;

		for (int i = 0; i < 1000; i++)
			own.push_back(std::string(50, 'x'));
		strcpy(words[omp_get_thread_num()], argv[0][0] ? "word" : "");
#pragma omp for schedule(dynamic, 10)
		for (int i = 0; i < N; i++)
			statics[i] = given[i] = on_stack[i] = i;
#pragma omp single
		for (int i = 0; i < 100; i++) {
#pragma omp task
			{
#pragma omp atomic
				right++;
			}
		}
	}
	for (int i = 0; i < N; i++)
		sum += statics[i] + given[i] + on_stack[i];
	check(sum == 3l * N * (N - 1) / 2 && right == 100, "what is shared");
	check(!strcmp(words[members - 1], "word"), "arguments");
	check(are_near(given) == near, "where malloc() is");
	given = (long *)omp_realloc(given, 2 * N * sizeof(*given),
				    omp_default_mem_alloc,
				    omp_default_mem_alloc);
#pragma omp parallel for
	for (int i = 0; i < 2 * N; i++)
		given[i] = 1;
	for (int i = 0; i < 2 * N; i++)
		sum -= given[i];
	check(sum == 3l * N * (N - 1) / 2 - 2 * N, "omp_realloc");
	omp_free(given, omp_default_mem_alloc);
	printf("%d members, all right\n", members);
	return 0;
}
