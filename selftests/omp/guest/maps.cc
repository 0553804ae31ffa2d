// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a program maps itself: what one member has mapped all may use, and
 * any of them may change, grow and unmap; it is zero at first, whoever had it.
 *	maps MEMBERS ROUNDS	so many by each of them at once
 */
#include <omp.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, N = 1 << 20, SLOTS = 64 };

static void *map(size_t size, int prot = PROT_READ | PROT_WRITE, int flags = 0,
		 void *at = nullptr)
{
	return mmap(at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static bool is_zero(const char *p, size_t size)
{
	return !*p && !memcmp(p, p + 1, size - 1);
}

/* By main() for all, and by each member for main(). */
static void both_ways(int members)
{
	long *numbers = (long *)map(N * sizeof(long)), sum = 0;
	static char *theirs[1024];

	check(numbers != MAP_FAILED, "main() maps nothing");
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		numbers[i] += i;
	for (int i = 0; i < N; i++)
		sum += numbers[i];
	check(sum == N * (N - 1l) / 2, "what main() has mapped");
	check(!munmap(numbers, N * sizeof(long)), "main() unmaps nothing");
#pragma omp parallel
	{
		int own = omp_get_thread_num();

		theirs[own] = (char *)map(3 * PAGE);
		memset(theirs[own], own + 1, 3 * PAGE);
	}
	for (int i = 0; i < members; i++)
		check(theirs[i][3 * PAGE - 1] == i + 1 &&
		      !munmap(theirs[i], 3 * PAGE), "what members have mapped");
}

/* As allocators do: more than is wanted, then without its ends. */
static void trimmed()
{
	const size_t large = 2 << 20;
	char *p = (char *)map(3 * large), *at;

	at = (char *)(((uintptr_t)p + large - 1) & -large);
	check(at == p || !munmap(p, at - p), "its beginning goes");
	check(!munmap(at + large, p + 2 * large - at), "its end goes");
#pragma omp parallel
	at[omp_get_thread_num()] = 1;
	check(!munmap(at + 4 * PAGE, PAGE), "a page of its middle goes");
	check(at[0] == 1 && !at[3 * PAGE] && !at[5 * PAGE], "what is left");
	check(!munmap(at, large), "with a hole in it");
}

/* Addresses are kept, and come into use part by part. */
static void kept()
{
	char *p = (char *)map(64 * PAGE, PROT_NONE, MAP_NORESERVE);

	check(!mprotect(p, 4 * PAGE, PROT_READ | PROT_WRITE), "mprotect()");
	check(map(8 * PAGE, PROT_READ | PROT_WRITE, MAP_FIXED, p + 4 * PAGE) ==
	      p + 4 * PAGE, "MAP_FIXED");
#pragma omp parallel for
	for (int i = 0; i < 12 * PAGE; i++)
		p[i]++;
	check(p[0] == 1 && p[12 * PAGE - 1] == 1, "what has come into use");
	check(!madvise(p, 4 * PAGE, MADV_DONTNEED) && is_zero(p, 4 * PAGE),
	      "MADV_DONTNEED");
	check(map(PAGE, PROT_READ | PROT_WRITE, MAP_FIXED, p + 4 * PAGE) ==
	      p + 4 * PAGE && !p[4 * PAGE] && p[5 * PAGE] == 1, "anew");
	check(!munmap(p, 64 * PAGE), "all that was kept");
}

static void resized()
{
	char *p = (char *)map(2 * PAGE), *next = (char *)map(PAGE);

	strcpy(p, "kept");
#pragma omp parallel
#pragma omp single
	p = (char *)mremap(p, 2 * PAGE, 300 * PAGE, MREMAP_MAYMOVE);
	check(p != MAP_FAILED && !strcmp(p, "kept"), "mremap() to more");
	check(is_zero(p + 2 * PAGE, 298 * PAGE), "what it has got");
	check(mremap(p, 300 * PAGE, PAGE, 0) == p, "mremap() to less");
	check(!munmap(p, PAGE) && !munmap(next, PAGE), "of another length");
}

/* A child has its own, but for what it is to have in common with us. */
static void of_child()
{
	int *own = (int *)map(PAGE), status;
	int *common = (int *)mmap(nullptr, PAGE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	*own = *common = 1;
	pid = fork();
	if (!pid) {
		int *more = (int *)map(PAGE);

		*own = *common = *more = 2;
		_exit(munmap(own, PAGE) || munmap(more, PAGE));
	}
	check(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "a child");
	check(*own == 1 && *common == 2, "what a child writes");
}

/* Written first, then run. */
static void code()
{
	static const unsigned char add[] = { 0x8d, 0x04, 0x37, 0xc3 };
	void *p = map(PAGE);

	memcpy(p, add, sizeof(add));
	check(!mprotect(p, PAGE, PROT_READ | PROT_EXEC), "code");
	check(((int (*)(int, int))p)(40, 2) == 42, "what code returns");
	check(!munmap(p, PAGE), "code goes");
}

/* All at once; what somebody leaves, another one unmaps. */
static void rounds(int n)
{
	static char *slots[SLOTS];
	static size_t sizes[SLOTS];
	int wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	{
		unsigned int seed = omp_get_thread_num();

		for (int i = 0; i < n; i++) {
			size_t size = (1 + rand_r(&seed) % 9) * PAGE, was;
			int slot = rand_r(&seed) % SLOTS;
			char *p = (char *)map(size), *before;

			wrong += p == MAP_FAILED || !is_zero(p, size);
			memset(p, slot, size);
#pragma omp critical
			{
				before = slots[slot];
				was = sizes[slot];
				slots[slot] = p;
				sizes[slot] = size;
			}
			wrong += before && (before[was - 1] != slot ||
					    munmap(before, was));
		}
	}
	check(!wrong, "many at once");
	for (int i = 0; i < SLOTS; i++)
		check(!slots[i] || !munmap(slots[i], sizes[i]), "what is left");
}

int main(int argc, char **argv)
{
	int members = argc > 1 ? atoi(argv[1]) : 1;

	check(omp_get_max_threads() == members, "how many there are");
	both_ways(members);
	trimmed();
	kept();
	resized();
	of_child();
	code();
	rounds(argc > 2 ? atoi(argv[2]) : 100);
	printf("%d members, all right\n", members);
}
