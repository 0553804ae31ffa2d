// SPDX-License-Identifier: GPL-2.0
/*
 * The one place that writes the interrupt command register: the kernel's own
 * functions send to CPUs that it knows, by its own numbers.  (An instance that
 * ends rings from its kernel, mios_end(), when its modules may be gone.)
 * Called from any context; no lock.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irqflags.h>

#include <asm/apic.h>
#include <asm/barrier.h>

#include "icr.h"

/* Polls of the "delivery pending" bit before sending anyway. */
#define POST_SPINS	100000
/* A delivery takes some bus cycles; 100 ms is never. */
#define SEND_TRIES	20000
#define SEND_WAIT_US	5

/*
 * BELL: what the receiver is to find was stored before.  The x2APIC's register
 * write waits for nobody and needs the fence.  The xAPIC is a device behind an
 * uncached mapping and comes after every earlier store by itself; its last
 * command may still be on its way.
 */
static void command(u32 low, u32 apicid)
{
	int spins;

	if (x2apic_mode)
		weak_wrmsr_fence();
	else
		for (spins = 0; spins < POST_SPINS &&
		     (apic->read(APIC_ICR) & APIC_ICR_BUSY); spins++)
			cpu_relax();
	apic->icr_write(low, apicid);
}

/**
 * mios_icr_post - send an interrupt to one CPU, and go on
 * @low: kind and vector, as in the lower half of the command register
 * @apicid: to whom
 */
void mios_icr_post(u32 low, u32 apicid)
{
	unsigned long flags;

	local_irq_save(flags);
	command(low, apicid);
	local_irq_restore(flags);
}

/**
 * mios_icr_send - the same, and wait until it has been delivered
 * @low: kind and vector, as in the lower half of the command register
 * @apicid: to whom
 *
 * Return: 0; -EIO if it was not delivered in time.
 */
int mios_icr_send(u32 low, u32 apicid)
{
	unsigned long flags;
	unsigned int tries;
	bool busy = true;

	local_irq_save(flags);
	command(low, apicid);
	for (tries = 0; busy && tries < SEND_TRIES; tries++) {
		busy = apic->icr_read() & APIC_ICR_BUSY;
		if (busy)
			udelay(SEND_WAIT_US);
	}
	local_irq_restore(flags);
	return busy ? -EIO : 0;
}
