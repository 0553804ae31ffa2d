// SPDX-License-Identifier: GPL-2.0
/*
 * Time: the processor's own counter, unscaled and without an offset, and the
 * system's monotonic clock.  All nodes are on one machine as yet, so both are
 * the same everywhere.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "clock.h"
#include "end.h"

#define BOOT_ID	"/proc/sys/kernel/random/boot_id"

struct machine {
	char boot_id[40];
	uint64_t khz;
};

static uint64_t rate;

/* Each boot of a machine has a name, so nodes with the same one share a clock. */
int clock_alike(const struct shape *s, uint64_t khz)
{
	void **root = mios_dsm_root() + VMM_NODES + 1;
	struct machine own = { .khz = khz };
	FILE *file = fopen(BOOT_ID, "re");

	if (!file || !fgets(own.boot_id, sizeof(own.boot_id), file))
		return say("cannot read %s: %s", BOOT_ID, strerror(errno));
	fclose(file);
	if (!s->self) {
		*root = mios_dsm_malloc(sizeof(own), 0);
		if (*root)
			memcpy(*root, &own, sizeof(own));
	}
	if (end_barrier())
		return -1;
	if (!*root || memcmp(*root, &own, sizeof(own)))
		return say("this node is on another machine than node 0: as yet all nodes of a "
			   "guest must be on one, whose clock they share");
	return 0;
}

void clock_start(uint64_t khz)
{
	rate = khz;
}

struct apic_time clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (struct apic_time){
		.ns = t.tv_sec * 1000000000ull + t.tv_nsec,
		.tsc = __builtin_ia32_rdtsc(), .khz = rate,
	};
}

int clock_timer(timer_t *timer)
{
	struct sigevent to = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = CLOCK_SIGNAL,
	};

	to._sigev_un._tid = gettid();
	return timer_create(CLOCK_MONOTONIC, &to, timer) ? -errno : 0;
}

void clock_arm(timer_t timer, uint64_t ns)
{
	const struct itimerspec t = {
		.it_value = { ns / 1000000000, ns % 1000000000 },
	};

	timer_settime(timer, TIMER_ABSTIME, &t, NULL);
}
