/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the trials of the native DSM share: each is a program that mios-dsm run
 * starts on several nodes, and that ends with 1 and a line when something is
 * not as it must be.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <mios_dsm.h>

#define PAGE	4096

static inline void demand(bool good, const char *what)
{
	if (good)
		return;
	printf("FAILED: node %d: %s\n", mios_dsm_node(), what);
	fflush(stdout);
	_exit(1);
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The same memory on all nodes, which begins at one of them. */
static inline void *common(int root, size_t size, int home)
{
	if (!mios_dsm_node())
		mios_dsm_root()[root] = mios_dsm_malloc(size, home);
	demand(!mios_dsm_barrier(), "barrier");
	demand(mios_dsm_root()[root], "no memory");
	return mios_dsm_root()[root];
}

#endif /* TRIAL_H */
