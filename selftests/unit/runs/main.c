// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of a team's heap (userspace/libteam/runs.c) against a model: who has which
 * unit.  Several processes, or threads, take, make longer, shorten and give back runs
 * by lot; no unit is two's, what is told to be zero is, and when all has been given
 * back it is one block again.
 *	runs processes|threads SEED ROUNDS
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inside.h"

#define UNITS	1024u
#define UNIT	(1ul << RUNS_SHIFT)
#define WORDS	(UNIT / sizeof(uint64_t))
#define AT_WORK	4
#define HELD	12

struct held {
	uint32_t at, count;
};

static struct runs *runs;
static char *memory;
static _Atomic uint32_t *owner;		/* of each unit: who, from 1 on */
static struct runs_stock *stocks;	/* one for each, as for each process */
static unsigned int rounds, seed;

/* What inside.h wants of the rest of the library. */
void mios_omp_word_wait(_Atomic uint32_t *word)
{
	while (atomic_exchange_explicit(word, 1, memory_order_acquire))
		sched_yield();
}

static void wrong(const char *what)
{
	printf("WRONG: %s\n", what);
	fflush(stdout);
	_exit(1);
}

static uint64_t *words(uint32_t unit)
{
	return (uint64_t *)(memory + unit * UNIT);
}

/* Some words of each unit stand for all. */
static void claim(uint32_t at, uint32_t count, uint32_t who, bool zero)
{
	uint32_t i, nobody;

	for (i = at; i < at + count; i++) {
		nobody = 0;
		if (i >= UNITS || !atomic_compare_exchange_strong(&owner[i], &nobody, who))
			wrong("a unit is two's");
		if (zero && (words(i)[1] || words(i)[WORDS - 1]))
			wrong("what is told to be zero is not");
		words(i)[1] = who;
		words(i)[WORDS - 1] = ((uint64_t)who << 32) + i;
	}
}

static void release(uint32_t at, uint32_t count, uint32_t who)
{
	uint32_t i;

	for (i = at; i < at + count; i++) {
		if (words(i)[1] != who || words(i)[WORDS - 1] != ((uint64_t)who << 32) + i)
			wrong("a run's memory was written by another");
		atomic_store(&owner[i], 0);
	}
}

static void take(struct held *h, uint32_t count, uint32_t who)
{
	bool zero = false;
	int64_t at = runs_stock_take(runs, &stocks[who - 1], count);

	if (at < 0)
		at = runs_take(runs, memory, count, who - 1, &zero);

	h->count = at < 0 ? 0 : count;
	if (at < 0)
		return;
	h->at = at;
	if (runs_count(runs, at) != count)
		wrong("a run is not as long as was asked for");
	claim(at, count, who, zero);
}

static void give(struct held *h, uint32_t left, uint32_t who)
{
	release(h->at + left, h->count - left, who);
	/* Whole ones into the stock of any, as others' blocks go home. */
	if (left || !runs_stock_put(runs, &stocks[h->at % AT_WORK], h->at))
		runs_give(runs, memory, h->at, left);
	h->count = left;
}

static void grow(struct held *h, uint32_t more, uint32_t who)
{
	if (!runs_grow(runs, memory, h->at, h->count + more, who - 1))
		return;
	claim(h->at + h->count, more, who, false);
	h->count += more;
}

/* Most are short, some have half of all. */
static uint32_t draw_count(unsigned int *lot)
{
	return 1 + rand_r(lot) % (rand_r(lot) % 32 ? 24 : UNITS / 2 + 40);
}

static void turn(struct held *h, uint32_t who, unsigned int *lot)
{
	unsigned int what = rand_r(lot) % 4;

	if (!h->count)
		take(h, draw_count(lot), who);
	else if (what == 0)
		grow(h, 1 + rand_r(lot) % 8, who);
	else if (what == 1 && h->count > 1)
		give(h, 1 + rand_r(lot) % (h->count - 1), who);
	else
		give(h, 0, who);
}

static void *work(void *arg)
{
	const uint32_t who = 1 + (uintptr_t)arg;
	struct held held[HELD] = { };
	unsigned int i, lot = seed * 100 + who;

	for (i = 0; i < rounds; i++)
		turn(&held[rand_r(&lot) % HELD], who, &lot);
	for (i = 0; i < HELD; i++)
		if (held[i].count)
			give(&held[i], 0, who);
	return NULL;
}

static void in_processes(void)
{
	uintptr_t i;
	int status;

	for (i = 0; i < AT_WORK; i++)
		if (!fork()) {
			work((void *)i);
			_exit(0);
		}
	while (wait(&status) > 0)
		if (status)
			_exit(1);
}

static void in_threads(void)
{
	pthread_t threads[AT_WORK];
	uintptr_t i;

	for (i = 0; i < AT_WORK; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (i = 0; i < AT_WORK; i++)
		pthread_join(threads[i], NULL);
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		wrong("no memory");
	return p;
}

int main(int argc, char **argv)
{
	struct held all = { };
	unsigned int i;

	if (argc != 4)
		return 2;
	seed = atoi(argv[2]);
	rounds = atoi(argv[3]);
	runs = shared(runs_size(UNITS));
	memory = shared(UNITS * UNIT);
	owner = shared(UNITS * sizeof(*owner));
	stocks = shared((1 + AT_WORK) * sizeof(*stocks));
	runs_create(runs, UNITS);
	if (!strcmp(argv[1], "processes"))
		in_processes();
	else
		in_threads();
	for (i = 0; i < AT_WORK; i++)
		runs_stock_empty(runs, memory, &stocks[i]);
	take(&all, UNITS, 1 + AT_WORK);
	if (!all.count)
		wrong("what all have given back is not one block");
	give(&all, 0, 1 + AT_WORK);
	take(&all, UNITS - 1, 1 + AT_WORK);
	if (!all.count)
		wrong("less than all is not to be had");
	puts("ok");
	return 0;
}
