// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: count [TURNS].  Threads of all nodes count: with atomic instructions,
 * with plain ones under a lock, and with atomic instructions across two pages.
 * None may be lost.  Before that, memory that cannot be had is refused.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "trial.h"

#define THREADS	2

static int turns = 300;
static uint64_t *word;
static char *bytes;

static void *count(void *arg)
{
	/* In no 8-byte word, and half of it on each of two pages. */
	uint64_t *across = (uint64_t *)(bytes + PAGE - 4);

	for (int i = 0; i < turns; i++) {
		__atomic_fetch_add(&word[0], 1, __ATOMIC_SEQ_CST);
		demand(!mios_dsm_lock(1), "lock");
		word[1]++;
		demand(!mios_dsm_unlock(1), "unlock");
		if (i % 10)
			continue;
		/* The compiler knows that this is not aligned. */
		__asm__ volatile("lock incq %0" : "+m" (*across));
	}
	return arg;
}

static void refused(size_t size, int home, int why)
{
	errno = 0;
	demand(!mios_dsm_malloc(size, home) && errno == why,
	       "memory that cannot be given");
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	uint64_t all;

	if (argc == 2)
		turns = atoi(argv[1]) / 10 * 10;
	demand(!mios_dsm_start(), "start");
	refused(1UL << 40, 0, ENOMEM);
	refused(-1UL, MIOS_DSM_STRIPED, ENOMEM);
	refused(0, 0, EINVAL);
	refused(1, mios_dsm_nodes(), EINVAL);
	word = common(0, 2 * PAGE, 0);
	bytes = common(1, 2 * PAGE, MIOS_DSM_STRIPED);
	for (int i = 0; i < THREADS; i++)
		demand(!pthread_create(&thread[i], NULL, count, NULL),
		       "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	demand(!mios_dsm_barrier(), "barrier");
	all = (uint64_t)mios_dsm_nodes() * THREADS * turns;
	demand(word[0] == all, "atomic increments were lost");
	demand(word[1] == all, "increments under a lock were lost");
	demand(*(volatile uint64_t *)(bytes + PAGE - 4) == all / 10,
	       "increments across two pages were lost");
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
