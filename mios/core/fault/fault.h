/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults that tests inject, one per guarantee, each a module parameter of the
 * same name (fault_...): how many times it shall happen, -1 for always.  Built
 * with MIOS_FAULT=1 only; otherwise nothing of it remains.
 */
#ifndef _MIOS_FAULT_H
#define _MIOS_FAULT_H

#include <linux/types.h>

enum mios_fault {
	MIOS_FAULT_SKIP_DOORBELL,	/* publish, but send no interrupt */
	MIOS_FAULT_STALE_INCARNATION,	/* publish slots of the last boot */
	MIOS_FAULT_NO_SLOT_CHECK,	/* believe the header of a slot */
	MIOS_FAULT_GARBAGE_SLOT,	/* publish a slot with a wild header */
	MIOS_FAULT_GARBAGE_DESC,	/* publish a damaged descriptor */
	MIOS_FAULT_NO_ACK,		/* never confirm that a peer is dropped */
	MIOS_FAULT_EARLY_ACK,		/* confirm it before it is told */
	MIOS_FAULT_LOSE_ANSWER,		/* drop the answer to a call */
	MIOS_FAULT_STOP_BEAT,		/* do not show the heartbeat */
	MIOS_FAULT_BAD_DOORBELL,	/* publish another instance's CPU */
	MIOS_FAULT_NO_CPU_CHECK,	/* believe whose CPUs they are */
	MIOS_FAULT_ACCEPT_OLD,		/* believe any incarnation */
	MIOS_FAULT_REUSE_SESSION,	/* begin a session that slots carry */
	MIOS_FAULT_FORGET_CHANNEL,	/* leave a channel to the dead open */
	MIOS_FAULT_STUCK_END,		/* begin to end in order, and go no further */
	MIOS_FAULT_COUNT_TIME,		/* silence by the clock, not in own beats */
	MIOS_FAULT_NO_RESTORE,		/* leave what a peer has overwritten */
	MIOS_FAULT_ODD_BEAT,		/* never finish writing the heartbeat */
	MIOS_FAULT_LEAK_PEER,		/* lose a page when a peer is dropped */
	/* Asked by miosd (mios_fault() of libmios), no count: */
	MIOS_FAULT_KEEP_CONNECTIONS,	/* end no TCP connection with the dead */
	MIOS_FAULT_KEEP_SESSIONS,	/* leave running what the dead started */
	MIOS_FAULT_KEEP_SEGMENTS,	/* leave what the dead have in /dev/shm */
	MIOS_FAULT_END_WITH_HOST,	/* end what a dead instance 0 started */
	MIOS_FAULT_IMPATIENT,		/* give up a session that is silent */
	MIOS_FAULT_STAY_ROOT,		/* read what a user says as root */
	MIOS_FAULTS
};

#ifdef MIOS_FAULT
bool mios_fault(enum mios_fault fault);
bool mios_fault_in(enum mios_fault fault, u32 type);
#else
static inline bool mios_fault(enum mios_fault fault) { return false; }
static inline bool mios_fault_in(enum mios_fault fault, u32 type)
{
	return false;
}
#endif

#endif /* _MIOS_FAULT_H */
