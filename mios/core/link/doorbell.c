// SPDX-License-Identifier: GPL-2.0
/*
 * The doorbell: one interrupt vector between kernels, the same in all of them,
 * from whoever has something to say to the CPU that the other one named.  Why
 * it rings stands in ->pending of the receiver's block, set before the
 * interrupt is sent.  Called from any context; no lock.
 */

#include <asm/apic.h>
#include <asm/barrier.h>
#include <asm/irq.h>
#include <asm/irq_vectors.h>

#include "../../inject/inject.h"
#include "../../arch/x86/icr.h"
#include "link_trace.h"
#include "ring.h"

MIOS_INJECT_TIMES(skip_doorbell, "publish without an interrupt");

static struct work_struct rang_work;
static u64 strays;	/* doorbells for which no reason was found */
static bool ending;	/* mios_bell_ending() */
static void (*frames)(u64 from);	/* of mios_bell_init() */

void mios_bell_ring(struct mios_peer *peer, enum mios_bell bell)
{
	unsigned long *pending = (unsigned long *)&peer->lines->pending[bell];

	/* Its CPUs may belong to another kernel by now. */
	if (READ_ONCE(peer->state) == MIOS_PEER_ABSENT)
		return;
	set_bit(mios_link.self, pending);
	smp_mb__after_atomic(); /* BELL: the reason, then the interrupt */
	trace_mios_bell_ring(peer->instance, bell);
	mios_count(MIOS_COUNT_BELLS_RUNG);
	if (mios_inject(skip_doorbell))
		return;
	mios_icr_post(APIC_DM_FIXED | READ_ONCE(peer->vector),
		      READ_ONCE(peer->apicid));
}

void mios_bell_ring_all(struct mios_ring *ring, enum mios_bell bell)
{
	struct mios_peer *peer;

	for_each_mios_peer(peer, ring)
		mios_bell_ring(peer, bell);
}

static void bell_echo(struct mios_ring *ring, u64 from)
{
	struct mios_peer *peer;

	for_each_mios_peer(peer, ring)
		if (from & BIT_ULL(peer->instance))
			WRITE_ONCE(ring->lines->echo_reply[peer->instance],
				   READ_ONCE(peer->lines->echo_request[mios_link.self]));
}

static void bell_dispatch(struct mios_ring *ring, u32 bell, u64 from)
{
	switch (bell) {
	case MIOS_BELL_CONTROL:
	case MIOS_BELL_CONSOLE:
	case MIOS_BELL_SPACE:
		atomic64_or(from, &ring->todo[bell]);
		queue_work(system_bh_wq, &ring->bh);
		break;
	case MIOS_BELL_NET:
		frames(from);
		break;
	case MIOS_BELL_CHANGE:
		queue_work(mios_link.wq, &ring->scan);
		break;
	case MIOS_BELL_ECHO:
		bell_echo(ring, from);
		break;
	}
}

/* Take the reasons in @mask from the block and act on them. */
static bool bell_take(struct mios_ring *ring, u32 bell, u64 mask)
{
	u64 *pending = &ring->lines->pending[bell];
	u64 from;

	if (!(READ_ONCE(*pending) & mask))
		return false;
	from = xchg(pending, 0) & ring->others; /* BELL */
	WRITE_ONCE(ring->taken[bell], ring->taken[bell] + 1);
	if (from) {
		trace_mios_bell(bell, from);
		mios_count(MIOS_COUNT_BELLS_HEARD);
		bell_dispatch(ring, bell, from);
	}
	return from;
}

/* Hard interrupt context, or called on behalf of a bell that got lost. */
static void bell_interrupt(void)
{
	struct mios_ring *ring;
	bool any = false;
	u32 bell, i;

	for_each_mios_ring(ring, i)
		for (bell = 0; bell < MIOS_BELLS; bell++)
			any |= bell_take(ring, bell, ~0ULL);
	if (!any)
		WRITE_ONCE(strays, strays + 1);
	if (!any || READ_ONCE(ending))
		queue_work(mios_link.mail, &rang_work);
}

void mios_bell_ending(bool some)
{
	WRITE_ONCE(ending, some);
	/* Pairs with the interrupt that follows the last words: mios_end(). */
	smp_mb();
}

u64 mios_bell_strays(void)
{
	return READ_ONCE(strays);
}

static void rang(struct work_struct *work)
{
	const struct mios_link_ops *ops = READ_ONCE(mios_link.ops);

	if (ops && ops->rang)
		ops->rang();
}

/*
 * A reason that stands there at two ticks in a row had an interrupt that went
 * astray: to a CPU that was going offline, say.  Nothing waits longer.
 */
void mios_bell_tick(struct mios_ring *ring)
{
	u32 bell;

	for (bell = 0; bell < MIOS_BELLS; bell++) {
		u64 now = READ_ONCE(ring->lines->pending[bell]) & ring->others;
		u32 taken = READ_ONCE(ring->taken[bell]);

		if ((now & ring->late[bell]) &&
		    taken == ring->taken_late[bell] &&
		    bell_take(ring, bell, ring->late[bell])) {
			ring->lost++;
			now = 0;
		}
		ring->late[bell] = now;
		ring->taken_late[bell] = taken;
	}
}

int mios_bell_init(void (*take_frames)(u64 from))
{
	frames = take_frames;
	INIT_WORK(&rang_work, rang);
	return x86_platform_ipi_register(bell_interrupt);
}

void mios_bell_exit(void)
{
	x86_platform_ipi_unregister(bell_interrupt);
	cancel_work_sync(&rang_work);
}
