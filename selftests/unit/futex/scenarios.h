/* SPDX-License-Identifier: GPL-2.0 */
/* What tasks of the scenarios do. */
#ifndef _SCENARIOS_H
#define _SCENARIOS_H

#include "../lock/explore.h"
#include "model.h"

enum what { FLAG, TOKENS, MOVE, LOCK, OP };

/**
 * struct play - what they do
 * @waits:	a bit for each waiter; from BIT(NR) on the second ones of instances
 * @wakes:	and for each instance that has one who wakes; for a LOCK for each
 *		who takes it, as above
 * @leaves:	waiters that may give up
 * @late:	answers that may come too late
 * @held:	the first task of instance 0 has the LOCK at first
 * @again:	each waits, or wakes, so many times more
 * @turns:	any instance may be the first that is woken
 */
struct play {
	enum what what;
	u32 waits, wakes, leaves, late, again;
	bool turns, held;
};

void scenario_setup(const struct scenario *scenario);
void scenario_died(u32 instance);
void scenario_end(void);
bool scenario_rests(void);

#endif
