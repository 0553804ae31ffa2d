// SPDX-License-Identifier: GPL-2.0
/*
 * A program that lives in swap: writes its pages, has them put out, reads a line
 * of its input, and then comes back to each page and looks what is in it:
 *   swaps anon|shm|alike random|forward|backward PAGES ROUNDS [PAUSE [VISITS]]
 * says "out" after each putting out, and at the end "pages N wrong N lost N
 * median N tail N": pages that were not as written, pages whose reading was an
 * error (SIGBUS), and what coming back to one took, in nanoseconds, half of them
 * and fifteen of sixteen.  alike: anonymous, and the words of a page are, so that
 * it can be compressed.  PAUSE: so many milliseconds between two.  VISITS: how often
 * it comes back in a round, not once: from then on to any of them, and half of the
 * times to those of one half.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096
#define WORDS	(PAGE / sizeof(uint64_t))

static sigjmp_buf lost_jump;
static uint64_t pages, wrong, lost;
static uint64_t differ = WORDS;	/* words of a page that do */
static useconds_t pause_us;
static uint64_t *took, *order;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void bus(int sig)
{
	siglongjmp(lost_jump, 1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* What is to be in a word; never 0, so that no page is all zero. */
static uint64_t word(uint64_t round, uint64_t page, uint64_t i)
{
	return ((round << 48) + page * WORDS + i % differ) * 0x9e3779b97f4a7c15ull | 1;
}

/* 2 MiB at most at a time, not in one large page. */
static uint64_t *memory(const char *kind)
{
	size_t size = pages * PAGE;
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *at;

	if (!strcmp(kind, "shm")) {
		fd = memfd_create("swaps", 0);
		need(fd >= 0 && !ftruncate(fd, size), "memfd");
		flags = MAP_SHARED;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	need(at != MAP_FAILED, "mmap");
	madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

static uint64_t draw(uint64_t below)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void order_make(const char *how)
{
	uint64_t i, j, swap;

	for (i = 0; i < pages; i++)
		order[i] = *how == 'b' ? pages - 1 - i : i;
	if (*how != 'r')
		return;
	for (i = pages - 1; i; i--) {
		j = draw(i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

static void visit(uint64_t *at, uint64_t round, uint64_t page, uint64_t *ns)
{
	volatile uint64_t *first = at + page * WORDS;
	uint64_t begin = now_ns(), i;

	if (sigsetjmp(lost_jump, 1)) {
		lost++;
		return;
	}
	(void)*first;
	*ns = now_ns() - begin;
	for (i = 0; i < WORDS; i++)
		if (first[i] != word(round, page, i))
			break;
	wrong += i < WORDS;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t round, rounds, visits, *at, i, j;

	need(argc >= 5, "swaps anon|shm|alike random|forward|backward PAGES ROUNDS");
	pause_us = argc > 5 ? 1000 * atoi(argv[5]) : 0;
	visits = argc > 6 ? atoi(argv[6]) : 1;
	pages = strtoull(argv[3], NULL, 10);
	rounds = strtoull(argv[4], NULL, 10);
	took = calloc(pages, sizeof(*took));
	order = calloc(pages, sizeof(*order));
	need(took && order && pages, "memory");
	/* All but what it is about: an error there is one to be told. */
	need(!mlockall(MCL_CURRENT), "mlockall");
	signal(SIGBUS, bus);
	if (!strcmp(argv[1], "alike"))
		differ = 8;
	at = memory(argv[1]);
	order_make(argv[2]);
	for (round = 1; round <= rounds; round++) {
		for (i = 0; i < pages * WORDS; i++)
			at[i] = word(round, i / WORDS, i % WORDS);
		/* Again, for those that were being written. */
		for (i = 0; i < 3; i++) {
			madvise(at, pages * PAGE, MADV_PAGEOUT);
			usleep(20000);
		}
		printf("out\n");
		fflush(stdout);
		while ((i = getchar()) != (uint64_t)EOF && i != '\n')
			;
		for (i = 0; i < pages * visits; i++) {
			j = i < pages ? i : draw(i % 2 ? pages : pages / 2);
			visit(at, round, order[j], &took[j]);
			if (pause_us)
				usleep(pause_us);
		}
	}
	qsort(took, pages, sizeof(*took), compare);
	printf("pages %lu wrong %lu lost %lu median %lu tail %lu\n", pages,
	       wrong, lost, took[pages / 2], took[pages * 15 / 16]);
	return 0;
}
