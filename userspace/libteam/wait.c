// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for another process of the team, which may be another kernel's: after
 * some spinning we sleep, for longer and longer up to a bound, and look again.
 * Where members share a CPU who waits gives it away first; elsewhere that would
 * give it to programs that have nothing to do with us, for their whole turns.
 */
#include <sched.h>
#include <time.h>

#include "team.h"

#define YIELDS		32	/* looks after which only the CPU is given away */
#define SLEEP_MIN	20000	/* ns */
#define SLEEP_SHIFT	6	/* up to SLEEP_MIN << 6: 1.3 ms */

unsigned int mios_omp_spins = 4000;

void mios_omp_sleep(struct omp_wait *wait)
{
	unsigned int more = wait->looks - mios_omp_spins;
	unsigned int yields = mios_omp_spins ? 0 : YIELDS;
	struct timespec time = { 0, SLEEP_MIN };

	if (more <= yields) {
		sched_yield();
		return;
	}
	more -= yields;
	time.tv_nsec <<= more < SLEEP_SHIFT ? more : SLEEP_SHIFT;
	if (more > SLEEP_SHIFT)		/* or it would wrap some day */
		wait->looks--;
	nanosleep(&time, NULL);
}

/* Until the lock is ours; it is only read while somebody has it. */
void word_wait(_Atomic uint32_t *word)
{
	struct omp_wait wait = { 0 };

	do
		wait_once(&wait);
	while (atomic_load_explicit(word, memory_order_relaxed) ||
	       atomic_exchange_explicit(word, 1, memory_order_acquire));
}
