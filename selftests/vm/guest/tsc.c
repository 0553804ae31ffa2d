// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of this host's TSC in kHz, for machine.py.  Under TCG
 * the guest's TSC is the host's, but a guest that measures it on a busy host
 * gets it wrong by a factor, and all its clocks with it.  Here a pair of
 * readings counts only when nothing came between them.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES		1000
#define INTERVAL_NS	200000000ULL

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* The tightest of many readings of both clocks at once. */
static void read_both(uint64_t *tsc, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t at = now_ns();
		uint64_t after = __rdtsc();

		if (after - before < best) {
			best = after - before;
			*tsc = before + best / 2;
			*ns = at;
		}
	}
}

int main(void)
{
	struct timespec pause = { 0, INTERVAL_NS };
	uint64_t tsc0, ns0, tsc1, ns1;

	read_both(&tsc0, &ns0);
	nanosleep(&pause, NULL);
	read_both(&tsc1, &ns1);
	printf("%.0f\n", (double)(tsc1 - tsc0) * 1e6 / (ns1 - ns0));
	return 0;
}
