/* SPDX-License-Identifier: GPL-2.0 */
/* Deterministic random numbers; the seed is printed by test_options(). */
#ifndef _UNIT_RANDOM_H
#define _UNIT_RANDOM_H

static inline u32 test_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

#endif /* _UNIT_RANDOM_H */
