/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Barrier and reduction among kernels, or among processes: a round is over when
 * all members have arrived, and all get what their values make together.  If a
 * member dies in a round, all others learn that of the same round.  Portable,
 * as the lock is: it allocates nothing, and how to wait is the caller's.
 *
 * Ordering, by name.
 *   ARRIVE	who arrives: its value, then one more at its node; the last there:
 *		that, then all values of the node.
 *   DONE	who ends a round: the result, then ->done, by a change that fails
 *		if the barrier broke before; who looks: ->done, then the result.
 *		It is not written again before all who look have arrived again.
 *   GO		who ends or breaks: ->done, then a member's ->go, and wakes it if
 *		it slept; who sleeps: ->go says so, then a look at ->done, then
 *		sleep if ->go is still the same.
 */
#ifndef _MIOS_LOCK_BARRIER_H
#define _MIOS_LOCK_BARRIER_H

#include "lock.h"

#include <mios/barrier.h>

/* Two values make one. */
typedef u64 (*mios_reduce)(u64 a, u64 b);

/**
 * struct mios_barrier - a barrier as one member sees it
 * @header:	where it is mapped here
 * @wait:	how to wait
 * @ctx:	first argument of @wait's
 * @round:	that it has arrived at, or has left
 * @nr_members:	checked copy
 * @fan:	likewise
 * @nr_nodes:	follows from these
 * @member:	number of this one
 * @arrived:	it has arrived, and not left yet
 */
struct mios_barrier {
	struct mios_barrier_header *header;
	const struct mios_lock_wait *wait;
	void *ctx;
	u64 round;
	u32 nr_members;
	u32 fan;
	u32 nr_nodes;
	u32 member;
	bool arrived;
};

/* Bytes of a barrier; 0: none can be so. */
size_t mios_barrier_bytes(u32 members, u32 fan);

/* The caller is alone. */
int mios_barrier_format(void *memory, u32 members, u32 fan);

/**
 * mios_barrier_view() - see a barrier, which somebody has made
 * @barrier: out; the caller sets @barrier->wait and @barrier->ctx
 * @memory: where it is mapped, 64 bytes aligned
 * @size: how much is
 * @member: nobody else is, and it is not in a round
 */
int mios_barrier_view(struct mios_barrier *barrier, void *memory, size_t size,
		      u32 member);

/**
 * mios_barrier_meet() - wait for all
 * @barrier: a view
 * @value: this member's, and then that of all; NULL: there is none
 * @reduce: all members give the same one
 *
 * 0; -EHOSTDOWN: a member has died; -ETIMEDOUT: it was late, and has arrived
 * nevertheless: the next call goes on waiting.
 */
int mios_barrier_meet(struct mios_barrier *barrier, u64 *value,
		      mios_reduce reduce);

/* Some member is dead: fenced.  Several may say so at once, or again. */
void mios_barrier_break(struct mios_barrier *barrier);

#endif /* _MIOS_LOCK_BARRIER_H */
