// SPDX-License-Identifier: GPL-2.0
/*
 * Node 0 writes a page from its first word to its last, again and again with
 * a higher number; the others read it from the last word to the first.  By
 * x86's memory model the numbers that they read on the way do not fall: where
 * a page is seen half installed, or a writer still writes to it after it has
 * left, they do.
 */
#include <stdint.h>

#include "trial.h"

#define WORDS	(PAGE / 8)
#define ROUNDS	150

static void read_all(const volatile uint64_t *page)
{
	uint64_t last = 0, now;

	while (last < ROUNDS) {
		last = 0;
		for (int i = WORDS - 1; i >= 0; i--) {
			now = page[i];
			demand(now >= last, "an older word after a newer one");
			last = now;
		}
		usleep(100);
	}
}

int main(void)
{
	volatile uint64_t *page;

	demand(!mios_dsm_start(), "start");
	page = common(0, PAGE, mios_dsm_nodes() - 1);
	if (mios_dsm_node()) {
		read_all(page);
	} else {
		for (int r = 1; r <= ROUNDS; r++)
			for (int i = 0; i < WORDS; i++) {
				page[i] = r;
				if (i % 128 == 0)
					usleep(50);
			}
	}
	demand(!mios_dsm_finish(), "finish");
	return 0;
}
