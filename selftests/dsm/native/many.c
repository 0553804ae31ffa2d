// SPDX-License-Identifier: GPL-2.0
/*
 * More threads on each node than the engine has CPUs, all of them alive from
 * beginning to end: each stops at a page of its own, then all at one that another
 * node has.
 */
#include <pthread.h>

#include "trial.h"

#define THREADS	150
#define TURNS	3

static pthread_barrier_t all;
static uint64_t *word;

static void *work(void *page)
{
	*(volatile char *)page = 1;
	for (int i = 0; i < TURNS; i++) {
		pthread_barrier_wait(&all);
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	}
	pthread_barrier_wait(&all);
	return page;
}

int main(void)
{
	pthread_t thread[THREADS];
	char *page;

	demand(!mios_dsm_start(), "start");
	word = common(0, PAGE, 0);
	page = common(1, THREADS * PAGE, MIOS_DSM_STRIPED);
	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		demand(!pthread_create(&thread[i], NULL, work, page + i * PAGE),
		       "thread");
	for (int i = 0; i < TURNS; i++) {
		pthread_barrier_wait(&all);
		/* Another node has it, so that all of ours stop. */
		demand(!mios_dsm_barrier(), "barrier");
	}
	pthread_barrier_wait(&all);
	demand(!mios_dsm_barrier() &&
	       *word == 1UL * mios_dsm_nodes() * THREADS * TURNS,
	       "increments were lost");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
