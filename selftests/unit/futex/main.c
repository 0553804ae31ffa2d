// SPDX-License-Identifier: GPL-2.0
/* What is explored, and what may be broken. */
#include "../lock/kernels.h"
#include "scenarios.h"

extern const struct instance instance_0, instance_1, instance_2;
const struct instance *const instances[NR] = {
	&instance_0, &instance_1, &instance_2,
};

bool model_broken[BREAKS];

/* The second ones of these instances. */
#define SECOND(set)	((set) << NR)
#define PLAY(...)	(&(const struct play) { __VA_ARGS__ })

static const struct entry entries[] = {
	{ "a flag", false, 0, PLAY(FLAG, .waits = 6, .wakes = 1, .turns = true) },
	{ "a flag, a death", false, 1, PLAY(FLAG, .waits = 2, .wakes = 1) },
	{ "a flag, a late answer", false, 0,
	  PLAY(FLAG, .waits = 2, .wakes = 1, .late = 1) },
	{ "two tokens, a late answer", false, 0,
	  PLAY(TOKENS, .waits = 2, .wakes = 1, .again = 1, .late = 1) },
	{ "a token, one gives up", false, 0,
	  PLAY(TOKENS, .waits = 6, .wakes = 1, .leaves = 2) },
	{ "two tokens for one", false, 0, PLAY(TOKENS, .waits = 4, .wakes = 3) },
	{ "a lock", false, 0, PLAY(LOCK, .wakes = 6) },
	{ "moved, a death", false, 1, PLAY(MOVE, .waits = 2, .wakes = 1) },
	{ "moved or woken", false, 0, PLAY(MOVE, .waits = 6, .wakes = 1) },
	{ "a lock, a death", false, 1, PLAY(LOCK, .wakes = 6) },
	{ "a flag, two wait on one", false, 0,
	  PLAY(FLAG, .waits = SECOND(2) | 2, .wakes = 1) },
	{ "a token, two wait on one", false, 0,
	  PLAY(TOKENS, .waits = SECOND(2) | 2, .wakes = 1) },
	{ "moved, two on one", false, 0,
	  PLAY(MOVE, .waits = SECOND(4) | 4, .wakes = 1) },
	{ "an operation", false, 0,
	  PLAY(OP, .waits = SECOND(2) | 2, .wakes = 1) },
	{ "a lock, one gives up", false, 0, PLAY(LOCK, .wakes = 6, .leaves = 4) },
	{ "a lock, one of two gives up", true, 0,
	  PLAY(LOCK, .wakes = SECOND(2) | 3, .leaves = 2) },
	{ "a lock, one gives up, a death", true, 1,
	  PLAY(LOCK, .wakes = 6, .leaves = 4) },
	{ "a lock, two of one want that of the dead", true, 1,
	  PLAY(LOCK, .wakes = SECOND(2) | 3, .held = true) },
	{ "an operation, a death", true, 1,
	  PLAY(OP, .waits = SECOND(2) | 2, .wakes = 1) },
	{ "two operations", true, 0,
	  PLAY(OP, .waits = SECOND(2) | 2, .wakes = 5) },
	{ "an operation, three wait", true, 0,
	  PLAY(OP, .waits = SECOND(2) | 1 | 4, .wakes = 1) },
	{ "two tokens, two wait on one, a death", true, 1,
	  PLAY(TOKENS, .waits = SECOND(2) | 2, .wakes = 1, .again = 1) },
	{ "a lock, two of one want it", true, 0, PLAY(LOCK, .wakes = SECOND(1) | 3) },
	{ "a token, a death, a late answer", true, 1,
	  PLAY(TOKENS, .waits = 4, .wakes = 1, .late = 1) },
	{ "a lock, two deaths", true, 2, PLAY(LOCK, .wakes = 6) },
	{ "two tokens for two", true, 0, PLAY(TOKENS, .waits = 6, .wakes = 3) },
	{ "moved or woken, a death", true, 1, PLAY(MOVE, .waits = 6, .wakes = 1) },
	{ "three want a lock", true, 0, PLAY(LOCK, .wakes = 7) },
};

static const char *const names[BREAKS] = {
	[LATE_ENTER] = "late-enter",
	[NO_ENTER_BARRIER] = "no-enter-barrier",
	[NO_WAKE_BARRIER] = "no-wake-barrier",
	[NO_MOVE] = "no-move",
	[NO_DEBT] = "no-debt",
	[TWICE] = "twice",
	[EARLY_DEATH] = "early-death",
	[EARLY_BURIAL] = "early-burial",
	[NO_OP_REST] = "no-op-rest",
	[NO_OP_SECOND] = "no-op-second",
	[LATE_OP] = "late-op",
	[LEAVE_WOKEN] = "leave-woken",
};

const struct kernels_test kernels_test = {
	.common = {
		.setup = scenario_setup, .died = scenario_died,
		.end = scenario_end, .rests = scenario_rests,
	},
	.entries = entries, .nr = sizeof(entries) / sizeof(*entries),
	.names = names, .breaks = BREAKS, .broken = model_broken,
};
