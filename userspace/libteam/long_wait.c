// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for what may take long, as the next region: after some looks the waiter
 * sleeps on a word of the window, whichever process he is of, until somebody has news.
 * Nobody polls, so a team that has nothing to do takes no CPU.
 */
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "inside.h"

#define YIELDS		32	/* looks, where members share a CPU */
#define LONG_WAIT_LIMIT	30	/* seconds, should no news come of what is there */

struct omp_place mios_omp_place;

/*
 * Who is about to sleep says so, by ->asleep, and looks once more before he does; who
 * has something new stores it before he looks whether anybody has said that.  So not
 * both miss the other: each has a full barrier in between.  Who wakes takes the word
 * back first, so that it is done once for all who sleep, however long it takes until
 * they run; whoever has to sleep again says so again.
 */
void long_wait_sleep(struct omp_wait *wait)
{
	static const struct timespec limit = { LONG_WAIT_LIMIT, 0 };
	struct omp_window *w = mios_omp_place.window;

	if (!w || (!mios_omp_spins && wait->looks < YIELDS)) {
		mios_omp_sleep(wait);
		wait->looks++;
		return;
	}
	if (!wait->armed) {
		wait->seen = atomic_load(&w->wakes);
		atomic_store(&w->asleep, 1);
	} else {
		syscall(SYS_futex, &w->wakes, FUTEX_WAIT, wait->seen, &limit, NULL,
			0);
	}
	wait->armed = !wait->armed;
}

void long_wake_all(void)
{
	struct omp_window *w = mios_omp_place.window;

	if (!atomic_exchange(&w->asleep, 0))
		return;
	atomic_fetch_add(&w->wakes, 1);
	syscall(SYS_futex, &w->wakes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
