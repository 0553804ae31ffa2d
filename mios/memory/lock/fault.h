/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests break in locks, one for each guarantee.  The user-space tests have
 * their own variant, with the same include guard; elsewhere nothing is broken.
 */
#ifndef _MIOS_LOCK_FAULT_H
#define _MIOS_LOCK_FAULT_H

#include "os.h"

enum mios_lock_fault {
	MIOS_LOCK_FAULT_FREE_FIRST,	/* free one's place, then hand on */
	MIOS_LOCK_FAULT_ANY_LAP,	/* take a place of another lap */
	MIOS_LOCK_FAULT_GRANT_ANY_LAP,	/* grant it to whoever is there now */
	MIOS_LOCK_FAULT_WAIT_FOR_TAIL,	/* who took a place moves the tail */
	MIOS_LOCK_FAULT_SKIP_PLACE,	/* go on from one that only changed */
	MIOS_LOCK_FAULT_BLIND_SLEEP,	/* say that one sleeps unasked */
	MIOS_LOCK_FAULT_BLIND_LEAVE,	/* leave without a look at the word */
	MIOS_LOCK_FAULT_NO_LAST_WAKE,	/* whom the dead were to wake sleeps */
	MIOS_LOCK_FAULT_FORGET,		/* nobody is told of a death */
	MIOS_LOCK_FAULT_ALWAYS_TELL,	/* a death in handing on is told, too */
	MIOS_LOCK_FAULT_LET_WAIT,	/* the dead go on waiting */
	MIOS_LOCK_FAULT_ANY_EPOCH,	/* bury whoever has the seat now */
	MIOS_LOCK_FAULT_PAST_WRITERS,	/* shares are given past who waits */
	MIOS_LOCK_FAULT_BLIND_DONE,	/* a share ends without a look at it */
	MIOS_LOCK_FAULT_SHARE_FORGETS,	/* only the first reader is told */
	MIOS_LOCK_FAULT_EARLY_END,	/* a round ends before all are there */
	MIOS_LOCK_FAULT_END_BROKEN,	/* a round ends after it has broken */
	MIOS_LOCK_FAULT_NO_SECOND_LOOK,	/* sleep without it */
	MIOS_LOCK_FAULT_TELL_NOBODY,	/* that it is broken */
	MIOS_LOCK_FAULT_NO_FIRST_WAIT,	/* take a register that is given back */
	MIOS_LOCK_FAULT_NO_LAST_WAIT,	/* take one that has just been taken */
	MIOS_LOCK_FAULT_REGISTER_FORGETS, /* nobody is told of a death with it */
	MIOS_LOCK_FAULT_PAST_SHARES,	/* take a register alone past shares */
	MIOS_LOCK_FAULTS
};

static inline bool mios_lock_fault(enum mios_lock_fault fault)
{
	return false;
}

#endif /* _MIOS_LOCK_FAULT_H */
