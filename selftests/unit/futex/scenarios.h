/* SPDX-License-Identifier: GPL-2.0 */
/* What tasks of the scenarios do. */
#ifndef _SCENARIOS_H
#define _SCENARIOS_H

#include "../lock/explore.h"
#include "model.h"

enum what { FLAG, TOKENS, MOVE, LOCK };

/**
 * struct play - what they do
 * @waits:	a bit for each instance that has a waiter
 * @wakes:	and one that wakes, or for a LOCK takes it
 * @leaves:	waiters that may give up
 * @late:	answers that may come too late
 * @again:	each waits, or wakes, so many times more
 * @turns:	any instance may be the first that is woken
 */
struct play {
	enum what what;
	u32 waits, wakes, leaves, late, again;
	bool turns;
};

void scenario_setup(const struct scenario *scenario);
void scenario_died(u32 instance);
void scenario_end(void);
bool scenario_rests(void);

#endif
