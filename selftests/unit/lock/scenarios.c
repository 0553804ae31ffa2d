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

static const struct entry entries[] = {
	{ "two, twice each", false, 0, TWO(0) },
	{ "two that spin first", false, 0, TWO(.spins = 1) },
	{ "two, one gives up", false, 0, TWO(.leaves = 1) },
	{ "two, both return", false, 0, TWO(.leaves = 3, .returns = true) },
	{ "two, one only tries", false, 0, TWO(.tries = 2) },
	{ "two, a death", false, 1, TWO(.buries = 1) },
	{ "two that spin first, a death", false, 1, ONCE(.spins = 1, .buries = 1) },
	{ "two, a death, two bury", false, 1, ONCE(.buries = 2) },
	{ "two, a death, one gives up", false, 1,
	  ONCE(.buries = 1, .leaves = 2) },
	{ "two, two deaths", false, 2, ONCE(.buries = 1) },
	{ "two, a death, born again", false, 1,
	  ONCE(.buries = 2, .reborn = true) },
	{ "three", false, 0, THREE(0) },
	{ "three, one gives up", false, 0, THREE(.leaves = 2) },
	{ "two share", false, 0, TWO(.shares = 3) },
	{ "one shares, it returns", false, 0,
	  TWO(.shares = 1, .leaves = 3, .returns = true) },
	{ "two share, one does not", false, 0, THREE(.shares = 3) },
	{ "one shares, two do not", false, 0, THREE(.shares = 2, .spins = 1) },
	{ "two share, a death", false, 1, ONCE(.shares = 3, .buries = 2) },
	{ "one shares, two deaths", false, 2, ONCE(.shares = 1, .buries = 1) },
	{ "three, a death", false, 1, THREE(.buries = 1) },
	{ "two, twice each, a death, two bury", true, 1, TWO(.buries = 2) },
	{ "two, a death, both return", true, 1,
	  ONCE(.buries = 2, .leaves = 3, .returns = true) },
	{ "two, two deaths, two bury", true, 2, ONCE(.buries = 2) },
	{ "three in two places", true, 0,
	  CONTEST(.places = 2, .rounds = { 1, 1, 1 }) },
	{ "three in two places, a death", true, 1,
	  CONTEST(.places = 2, .rounds = { 1, 1, 1 }, .buries = 1) },
	{ "three, two give up", true, 0, THREE(.leaves = 3, .returns = true) },
	{ "three, one gives up, a death", true, 1,
	  THREE(.buries = 1, .leaves = 2) },
	{ "three, a death, two bury", true, 1, THREE(.buries = 2) },
	{ "three that spin first, a death", true, 1,
	  THREE(.spins = 1, .buries = 1) },
	{ "two share, one does not, a death", true, 1,
	  THREE(.shares = 3, .buries = 1) },
	{ "three share, a death", true, 1, THREE(.shares = 7, .buries = 1) },
	{ "two share, one leaves, a death", true, 1,
	  THREE(.shares = 5, .leaves = 6, .buries = 1) },
	{ "two share, two deaths", true, 2, ONCE(.shares = 3, .buries = 2) },
	{ "one shares, a death, two bury", true, 1, THREE(.shares = 2, .buries = 2) },
};

/* Sharers have been in it together, and nobody else. */
static void together(const struct scenario *scenario)
{
	const struct contest *contest = scenario->own;

	CHECK(contest_together == (__builtin_popcount(contest->shares) > 1));
}

void test_explore(bool deep)
{
	const struct scenario common = {
		.setup = contest_setup, .died = contest_died,
		.end = contest_end, .all = together,
	};

	explore_list(&common, entries, sizeof(entries) / sizeof(*entries),
		     deep);
}
