/* SPDX-License-Identifier: GPL-2.0 */
/* What the lock tests share. */
#ifndef _TEST_H
#define _TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "../../../mios/memory/lock/place.h"

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "%s:%d: failed: %s\n", __FILE__,	\
			__LINE__, #condition);				\
		exit(1);						\
	}								\
} while (0)

/* Deterministic random numbers; the seed is printed by main(). */
static inline u32 test_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

void test_steps(void);
void test_garbage(u64 seed, unsigned long rounds);
void test_explore(bool deep);
void test_meet(bool deep);
void test_registers(bool deep);
void test_meet_steps(void);
void test_meet_threads(unsigned long rounds);
void test_threads(u64 seed, unsigned long rounds);
void test_processes(u64 seed, unsigned long kills);

#endif
