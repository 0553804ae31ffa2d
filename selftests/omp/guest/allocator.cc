// SPDX-License-Identifier: GPL-2.0
/*
 * A program that takes its memory where a team cannot have it: by a malloc() of its
 * own, if built with -DOWN, or by sbrk().
 */
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#ifdef OWN
static char memory[4 << 20];
static size_t used;

extern "C" void *malloc(size_t size)
{
	used = (used + 15) & ~15ul;
	used += size;
	return memory + used - size;
}

extern "C" void free(void *)
{
}
#endif

int main()
{
	int *p = (int *)sbrk(4096), sum = 0;

	*p = 1;
#pragma omp parallel reduction(+ : sum)
	sum += *p;
	printf("%d\n", sum);
	return 0;
}
