/* SPDX-License-Identifier: GPL-2.0 */
/* What instances do with the lock that the explorer goes through. */
#ifndef _CONTEST_H
#define _CONTEST_H

#include "explore.h"

/**
 * struct contest - who does what
 * @places:	of the ring
 * @rounds:	how often each instance wants the lock; 0: it is not there
 * @tries:	instances that only try, as bits
 * @shares:	instances that want a share only, as bits
 * @leaves:	instances that may find it late, once
 * @returns:	do those come back?
 * @spins:	before they sleep
 * @buries:	how many bury the first dead
 * @reborn:	does the dead's next epoch want the lock, too?
 */
struct contest {
	u32 places, rounds[3], tries, shares, leaves;
	bool returns;
	u32 spins, buries;
	bool reborn;
};

/* Did two ever have a share at the same time?  Over all states. */
extern bool contest_together;

/* Of a struct scenario. */
void contest_setup(const struct scenario *scenario);
void contest_died(u32 instance);
void contest_end(void);

#endif
