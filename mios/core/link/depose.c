// SPDX-License-Identifier: GPL-2.0
/*
 * A host that hangs is told to panic.  Nobody may fence it, and nobody takes its
 * place on a suspicion (role.c); but a CPU that takes no interrupts takes an NMI,
 * and a panic is an announced end, after which all goes on as after any other.
 *
 * DEPOSE: who would be host next writes whom it means, number and incarnation,
 * into its own block, and sends an NMI to one of the other's CPUs after another.
 * Who takes an NMI that is nobody else's looks whether a member means it, and
 * whether it really hangs: one that has had a heartbeat of its own in the last
 * seconds goes on, whoever means it.  So a word that somebody has overwritten, or
 * that is there still when the host is well again, ends nobody.  What takes no NMI
 * stays a suspect.
 *
 * The asking is done under link_lock, by the worker that scans; the answer runs in
 * NMI context, and takes no lock.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/jiffies.h>
#include <linux/nmi.h>
#include <linux/panic.h>

#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "../../arch/x86/icr.h"
#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_SWITCH(keep_host, "do not panic when the others ask for it");
MIOS_INJECT_SWITCH(doubt_nothing,
		   "panic when the others ask for it, also if all is well");
MIOS_INJECT_TIMES(mean_well, "tell a host to panic that does not hang");

/* Two that panic at once wait for each other, so one CPU at a time. */
#define NEXT_CPU	(2 * HZ)
/* More than three heartbeats of the slowest. */
#define BEATS_MS	4000U

static u64 meant;		/* the word as it stands, 0: nobody */
static unsigned long next;	/* jiffies of the next NMI */
static u32 sent;		/* NMIs */
static u64 beaten;		/* TSC of the last heartbeat here */

void mios_depose_beat(void)
{
	WRITE_ONCE(beaten, rdtsc());
}

static bool hangs_here(void)
{
	u64 then = READ_ONCE(beaten);
	s64 silent = rdtsc_ordered() - then;	/* another CPU's may be ahead */

	return inject_doubt_nothing || silent > (s64)tsc_khz * BEATS_MS;
}

static bool is_meant(struct mios_ring *ring)
{
	struct mios_peer *peer;

	for_each_mios_peer(peer, ring)
		if (READ_ONCE(peer->state) == MIOS_PEER_JOINED &&
		    READ_ONCE(peer->lines->depose) == mios_role_word())
			return true;
	return false;
}

/* DEPOSE.  After all who know what their NMI is for. */
static int take_nmi(unsigned int type, struct pt_regs *regs)
{
	struct mios_ring *ring = mios_ring_get(0);

	if (!ring || !READ_ONCE(mios_link.declares) || !is_meant(ring))
		return NMI_DONE;
	if (!hangs_here()) {
		pr_warn("another instance asks for the end of this one, which does not hang: it goes on\n");
		return NMI_HANDLED;
	}
	if (inject_keep_host)
		return NMI_HANDLED;
	nmi_panic(regs, "mios: the others have not heard this instance, and ask for its end");
	return NMI_HANDLED;
}

/* Has whoever is host hung for as long as its own policy allows? */
static bool hangs(const struct mios_peer *peer, u32 patience_ms)
{
	u32 policy, timeout;

	if (mios_inject(mean_well))
		return true;
	if (peer->state != MIOS_PEER_JOINED ||
	    mios_link_hang_get(&policy, &timeout) ||
	    policy == MIOS_HANG_REPORT || !timeout)
		return false;
	timeout = max(timeout, MIOS_HANG_LEAST);
	return mios_suspect_ms(peer) >= timeout * MSEC_PER_SEC + patience_ms;
}

static void begin(struct mios_ring *ring, const struct mios_peer *peer,
		  u64 word)
{
	meant = word;
	sent = 0;
	next = jiffies;
	WRITE_ONCE(ring->lines->depose, word);
	pr_warn("instance %u is host and hangs: it is told to panic\n",
		peer->instance);
}

static void nmi_send(const struct mios_peer *peer)
{
	u32 nr = peer->desc.nr_cpus;

	if (sent == 2 * nr) {
		sent++;
		pr_err("instance %u takes no NMI: it stays a suspect, and nobody takes its place\n",
		       peer->instance);
	}
	if (sent > 2 * nr || time_before(jiffies, next))
		return;
	mios_icr_send(APIC_DM_NMI, peer->desc.apicid[sent % nr]);
	sent++;
	next = jiffies + NEXT_CPU;
}

/**
 * mios_depose_look - has the host to be told to panic?
 * @ring:	ring 0; under link_lock
 * @peer:	who is host; NULL: nobody, or it is not for this instance to say
 * @patience_ms: how much longer than the limit to wait, as others may do it
 */
void mios_depose_look(struct mios_ring *ring, struct mios_peer *peer,
		      u32 patience_ms)
{
	u64 word = peer && hangs(peer, patience_ms) ?
		   (u64)peer->incarnation << 32 | peer->instance : 0;

	if (word && word != meant)
		begin(ring, peer, word);
	if (!word && meant) {
		WRITE_ONCE(ring->lines->depose, 0);
		meant = 0;
	}
	if (word && peer->desc.nr_cpus)
		nmi_send(peer);
}

int mios_depose_init(void)
{
	mios_depose_beat();
	return register_nmi_handler(NMI_UNKNOWN, take_nmi, 0, "mios-depose");
}

void mios_depose_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "mios-depose");
}
