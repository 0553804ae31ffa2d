// SPDX-License-Identifier: GPL-2.0
/* What is explored, and what may be broken. */
#include "../lock/kernels.h"
#include "model.h"

extern const struct instance instance_0, instance_1, instance_2;
const struct instance *const instances[NR] = {
	&instance_0, &instance_1, &instance_2,
};

bool model_broken[BREAKS];

#define PLAY(...)	(&(const struct play) { __VA_ARGS__ })

static const struct entry entries[] = {
	{ "a change, a copy", false, 0,
	  PLAY(.changes = 1, .answers = 1, .copies = 1, .copiers = 1) },
	{ "a change, two copies", false, 0,
	  PLAY(.changes = 1, .answers = 1, .copies = 2, .copiers = 1) },
	{ "two changes, two answers, two copies", false, 0,
	  PLAY(.changes = 2, .answers = 2, .copies = 2, .copiers = 1) },
	{ "a change, two copy", false, 0,
	  PLAY(.changes = 1, .answers = 1, .copies = 1, .copiers = 2) },
	{ "a change, a copy, a death", false, 1,
	  PLAY(.changes = 1, .answers = 1, .copies = 1, .copiers = 1) },
	{ "a change, two copies, two deaths", false, 2,
	  PLAY(.changes = 1, .answers = 1, .copies = 2, .copiers = 1) },
};

static const char *const names[BREAKS] = {
	[NO_COPY_BARRIER] = "no-copy-barrier",
	[NO_CHANGE_BARRIER] = "no-change-barrier",
	[LATE_GENERATION] = "late-generation",
	[NO_TOLD] = "no-told",
	[NO_LEAVE] = "no-leave",
	[EARLY_DEATH] = "early-death",
};

const struct kernels_test kernels_test = {
	.common = {
		.setup = scenario_setup, .died = scenario_died,
		.end = scenario_end, .all = scenario_all, .rests = scenario_rests,
	},
	.entries = entries, .nr = sizeof(entries) / sizeof(*entries),
	.names = names, .breaks = BREAKS, .broken = model_broken,
};
