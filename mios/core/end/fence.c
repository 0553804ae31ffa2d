// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping an instance before anything that it held is recovered: an NMI to
 * each of its CPUs, which saves the registers (mios/core/fence/stop.c), then
 * INIT, which each confirms (cpu.c).  Called by the reaper alone, under the
 * node's lock, so that two who declare the same death fence once.  What the
 * notes say is a hint: it can delay a fence and spoil registers, but no CPU is
 * believed to have stopped because of it.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>

#include <asm/apic.h>

#include "../../inject/inject.h"
#include "../../arch/x86/icr.h"
#include "../link/quiet.h"
#include "end.h"

/* An NMI waits for another one's handler, and a virtual CPU for a core. */
#define NMI_WAIT_US	1000000
#define LOOK_US		200

MIOS_INJECT_TIMES(skip_fence, "say that an instance is stopped, do nothing");

/**
 * mios_node_notes - what an instance says of its CPUs
 * @node: locked, with its head mapped
 *
 * Return: the notes; NULL if its kernel keeps none, or of another version.
 */
struct mios_notes *mios_node_notes(const struct mios_node *node)
{
	struct mios_notes *notes = node->head + MIOS_NOTES_OFFSET;

	/* Pairs with the release in notes_describe(). */
	if (smp_load_acquire(&notes->magic) != MIOS_NOTES_MAGIC ||
	    READ_ONCE(notes->version) != MIOS_NOTES_VERSION)
		return NULL;
	return notes;
}

static bool has_answered(struct mios_notes *notes, unsigned int i, u32 request)
{
	/* Pairs with the release in take_nmi(): the registers are there. */
	return smp_load_acquire(&notes->cpu[i].taken) == request;
}

static unsigned int answers(const struct mios_node *node,
			    struct mios_notes *notes, u32 request)
{
	unsigned int i, count = 0;

	for (i = 0; i < node->nr_cpus; i++)
		count += has_answered(notes, i, request);
	return count;
}

static void stop_by_nmi(const struct mios_node *node,
			struct mios_notes *notes, u32 request)
{
	unsigned int i, waited, asked = 0;

	WRITE_ONCE(notes->request, request);
	for (i = 0; i < node->nr_cpus; i++) {
		if (!READ_ONCE(notes->cpu[i].ready))
			continue;
		/* A panic has stopped it, and its registers are the better. */
		if (has_answered(notes, i, request) ||
		    !mios_icr_send(APIC_DM_NMI, node->apicid[i]))
			asked++;
	}
	for (waited = 0; waited < NMI_WAIT_US; waited += LOOK_US) {
		if (answers(node, notes, request) >= asked)
			break;
		usleep_range(LOOK_US, 2 * LOOK_US);
	}
}

static DEFINE_MUTEX(quiet_lock);
static int (*devices_quiet)(u32 instance);	/* under quiet_lock */

void mios_fence_register(int (*quiet)(u32 instance))
{
	mutex_lock(&quiet_lock);
	devices_quiet = quiet;
	mutex_unlock(&quiet_lock);
}
EXPORT_SYMBOL_NS_GPL(mios_fence_register, MIOS);

/* Instance 0 knows what it has given away; a successor walks. */
static int fence_devices(const struct mios_node *node)
{
	int err = 0;

	if (node->kept)
		return mios_quiet_member(node->id);
	mutex_lock(&quiet_lock);
	if (devices_quiet)
		err = devices_quiet(node->id);
	mutex_unlock(&quiet_lock);
	return err;
}

static int fence(struct mios_node *node)
{
	struct mios_notes *notes = mios_node_notes(node);
	u32 request = incarnation_of(node);
	int err;

	/* Once: an NMI may wake a CPU that has had its INIT. */
	if (notes && node->stopped != request) {
		node->stopped = request;
		stop_by_nmi(node, notes, request);
	}
	err = mios_cpus_stop(node);
	if (!err)
		err = fence_devices(node);
	if (err)
		return err;
	pr_info("instance %u fenced: %u CPUs stopped, registers of %u saved\n",
		node->id, node->nr_cpus,
		notes ? answers(node, notes, request) : 0);
	return 0;
}

/**
 * mios_node_fence - stop every CPU of an instance for good
 * @node: locked, dead, with its head mapped
 *
 * Return: 0; -EIO if a CPU may still run, or a device that it was given may
 * write: then nothing may be recovered.
 */
int mios_node_fence(struct mios_node *node)
{
	return mios_inject(skip_fence) ? 0 : fence(node);
}
