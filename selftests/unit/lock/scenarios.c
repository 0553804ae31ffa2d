// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer explores: two or three instances that want one lock, each
 * of which may die at any step, and up to two others that bury it at the same
 * time, and may die in that.
 */
#include "contest.h"

#define CONTEST(...)	(&(const struct contest) { __VA_ARGS__ })
#define TWO(...)	CONTEST(.places = 2, .rounds = { 2, 2 }, __VA_ARGS__)
#define ONCE(...)	CONTEST(.places = 4, .rounds = { 1, 1 }, __VA_ARGS__)
#define THREE(...)	CONTEST(.places = 4, .rounds = { 1, 1, 1 }, __VA_ARGS__)

struct entry {
	const char *name;
	u32 deaths;
	const struct contest *contest;
};

/* In the gate. */
static const struct entry quick[] = {
	{ "two, twice each", 0, TWO(0) },
	{ "two that spin first", 0, TWO(.spins = 1) },
	{ "two, one gives up", 0, TWO(.leaves = 1) },
	{ "two, both return", 0, TWO(.leaves = 3, .returns = true) },
	{ "two, one only tries", 0, TWO(.tries = 2) },
	{ "two, a death", 1, TWO(.buries = 1) },
	{ "two that spin first, a death", 1, ONCE(.spins = 1, .buries = 1) },
	{ "two, a death, two bury", 1, ONCE(.buries = 2) },
	{ "two, a death, one gives up", 1,
	  ONCE(.buries = 1, .leaves = 2) },
	{ "two, two deaths", 2, ONCE(.buries = 1) },
	{ "two, a death, born again", 1,
	  ONCE(.buries = 2, .reborn = true) },
	{ "three", 0, THREE(0) },
	{ "three, one gives up", 0, THREE(.leaves = 2) },
	{ "two share", 0, TWO(.shares = 3) },
	{ "one shares, it returns", 0,
	  TWO(.shares = 1, .leaves = 3, .returns = true) },
	{ "two share, one does not", 0, THREE(.shares = 3) },
	{ "one shares, two do not", 0, THREE(.shares = 2, .spins = 1) },
	{ "two share, a death", 1, ONCE(.shares = 3, .buries = 2) },
	{ "one shares, two deaths", 2, ONCE(.shares = 1, .buries = 1) },
	{ "three, a death", 1, THREE(.buries = 1) },
};

/* Outside the gate. */
static const struct entry more[] = {
	{ "two, twice each, a death, two bury", 1, TWO(.buries = 2) },
	{ "two, a death, both return", 1,
	  ONCE(.buries = 2, .leaves = 3, .returns = true) },
	{ "two, two deaths, two bury", 2, ONCE(.buries = 2) },
	{ "three in two places", 0,
	  CONTEST(.places = 2, .rounds = { 1, 1, 1 }) },
	{ "three in two places, a death", 1,
	  CONTEST(.places = 2, .rounds = { 1, 1, 1 }, .buries = 1) },
	{ "three, two give up", 0, THREE(.leaves = 3, .returns = true) },
	{ "three, one gives up, a death", 1,
	  THREE(.buries = 1, .leaves = 2) },
	{ "three, a death, two bury", 1, THREE(.buries = 2) },
	{ "three that spin first, a death", 1,
	  THREE(.spins = 1, .buries = 1) },
	{ "two share, one does not, a death", 1,
	  THREE(.shares = 3, .buries = 1) },
	{ "three share, a death", 1, THREE(.shares = 7, .buries = 1) },
	{ "two share, one leaves, a death", 1,
	  THREE(.shares = 5, .leaves = 6, .buries = 1) },
	{ "two share, two deaths", 2, ONCE(.shares = 3, .buries = 2) },
	{ "one shares, a death, two bury", 1, THREE(.shares = 2, .buries = 2) },
};

static void explore_all(const struct entry *list, u32 nr, u32 states_shift)
{
	struct scenario scenario = {
		.setup = contest_setup, .died = contest_died, .end = contest_end,
	};
	u32 i, sharers;

	for (i = 0; i < nr; i++) {
		scenario.name = list[i].name;
		scenario.deaths = list[i].deaths;
		scenario.contest = list[i].contest;
		printf("%s: ", scenario.name);
		fflush(stdout);
		printf("%lu states\n", explore(&scenario, states_shift));
		sharers = __builtin_popcount(scenario.contest->shares);
		CHECK(contest_together == (sharers > 1));
	}
}

void test_explore(bool deep)
{
	if (deep)
		explore_all(more, sizeof(more) / sizeof(*more), 26);
	else
		explore_all(quick, sizeof(quick) / sizeof(*quick), 21);
}
