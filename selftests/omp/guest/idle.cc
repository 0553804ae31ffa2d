// SPDX-License-Identifier: GPL-2.0
/*
 * A team that has nothing to do, between two regions: main() says so, and waits for
 * a line.
 *	idle MEMBERS
 */
#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "check.h"

static int count()
{
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	sum++;
	return sum;
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]);

	check(count() == members, "the first region");
	puts("idle");
	fflush(stdout);
	check(getchar() == '\n', "a line");
	check(count() == members, "the next region");
	printf("%d members, all right\n", members);
}
