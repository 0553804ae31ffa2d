// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping a node's CPUs, whatever they do: INIT to each, and a proof that it
 * has arrived.  Called under the node's lock.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/moduleparam.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/mce.h>
#include <asm/msr.h>
#include <asm/processor-flags.h>

#include "../../inject/inject.h"
#include "../../arch/x86/icr.h"
#include "node.h"

/* At mios_park_params in arch/x86/park.S; filled in for each use. */
struct park_params {
	u32 parked;
	u32 taken;
	u32 cr4;
	u32 banks;
	u32 traced;
	struct mios_msr perf;
	u16 idt_limit;
	u32 idt_base;
	u16 pad;
	struct {
		u16 offset;
		u16 segment;
	} vectors[32];
} __packed;
static_assert(offsetof(struct park_params, vectors) == 40);

MIOS_INJECT_VALUE(late_look,
		  "milliseconds before anybody looks whether a CPU has started");
MIOS_INJECT_TIMES(skip_init, "leave the last CPU of a node out of its INIT");
MIOS_INJECT_TIMES(assume_init,
		  "believe that a node's CPUs have taken their INIT");
MIOS_INJECT_TIMES(stray_sipi,
		  "a start-up interrupt comes right behind the INIT of a node's first CPU");
MIOS_INJECT_TIMES(lose_sipi, "a start-up interrupt is lost");
MIOS_INJECT_TIMES(park_nmi, "an NMI hits a CPU that has just been stopped");

static int sipi_send(const struct mios_node *node, u32 apicid)
{
	if (mios_inject(lose_sipi))
		return 0;
	return mios_icr_send(APIC_DM_STARTUP | (node->slice >> PAGE_SHIFT),
			     apicid);
}

static int init_send(u32 apicid)
{
	int err;

	err = mios_icr_send(APIC_INT_LEVELTRIG | APIC_INT_ASSERT |
			    APIC_DM_INIT, apicid);
	usleep_range(10, 50);
	/* Deassert: nothing to an x2APIC or a modern xAPIC, kept for the old */
	return err ?: mios_icr_send(APIC_INT_LEVELTRIG | APIC_DM_INIT, apicid);
}

static int all_init(const struct mios_node *node, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr; i++)
		err = init_send(node->apicid[i]) ?: err;
	/* Until the last one has acted on it, as the kernel itself waits. */
	usleep_range(200, 400);
	return err;
}

/**
 * mios_sipi_arrives - send a CPU a SIPI, and wait until it has changed a word
 * @node: whose slice it is to start in
 * @apicid: which CPU
 * @word: in that slice
 * @before: what is there until the CPU comes
 *
 * Return: 0; -ETIMEDOUT if it may have been lost; -EIO.
 */
int mios_sipi_arrives(const struct mios_node *node, u32 apicid,
		      const u32 *word, u32 before)
{
	u32 now;
	int err = sipi_send(node, apicid);

	if (inject_late_look)
		msleep(inject_late_look);
	return err ?:
	       read_poll_timeout(READ_ONCE, now, now != before, 100,
				 MIOS_SIPI_AGAIN_US, false, *word);
}

/*
 * A CPU that waits for a SIPI, and only such a one, counts itself.  Another
 * SIPI goes only behind another INIT: QEMU keeps one that comes too late, and
 * starts the CPU at its next INIT.
 *
 * Return: how often it was repeated; -EIO if the CPU does not take INIT.
 */
static int park_one(const struct mios_node *node, unsigned int i, bool again,
		    const u32 *parked)
{
	u32 before = READ_ONCE(*parked);
	unsigned int tries;

	for (tries = 0; tries < MIOS_PARK_WAIT_US / MIOS_SIPI_AGAIN_US;
	     tries++) {
		if (tries && again)
			init_send(node->apicid[i]);
		if (!mios_sipi_arrives(node, node->apicid[i], parked, before))
			return tries;
	}
	pr_err_ratelimited("instance %u: CPU with APIC id %u does not take INIT\n",
			   node->id, node->apicid[i]);
	return -EIO;
}

/* What an INIT leaves as it was, and who has the CPU next does not expect. */
static void leftovers_fill(struct park_params *p)
{
	u64 cap;

	p->traced = boot_cpu_has(X86_FEATURE_INTEL_PT);
	if (!boot_cpu_has(X86_FEATURE_MCE) || !boot_cpu_has(X86_FEATURE_MCA))
		return;
	mios_rdmsrq(MSR_IA32_MCG_CAP, cap);
	p->cr4 = X86_CR4_MCE;
	if (cap & MCG_CMCI_P)
		p->banks = cap & MCG_BANKCNT_MASK;
}

static struct park_params *page_fill(const struct mios_node *node, void *slice)
{
	struct park_params *p = slice + (mios_park_params - mios_park_code);
	unsigned int i;

	memcpy(slice, mios_park_code, mios_park_end - mios_park_code);
	p->idt_base += node->slice;
	for (i = 0; i < ARRAY_SIZE(p->vectors); i++)
		p->vectors[i].segment = node->slice >> 4;
	leftovers_fill(p);
	return p;
}

/* A stopped CPU takes it in the page where it halts, not in the firmware. */
static void park_nmi(const struct mios_node *node, const u32 *taken)
{
	u32 now;

	mios_icr_send(APIC_DM_NMI, node->apicid[0]);
	if (!read_poll_timeout(READ_ONCE, now, now, 100, MIOS_SIPI_AGAIN_US,
			       false, *taken))
		pr_info("instance %u: a stopped CPU has taken an NMI\n",
			node->id);
}

static int all_park(const struct mios_node *node, unsigned int nr)
{
	void *slice = memremap(node->slice, PAGE_SIZE, MEMREMAP_WB);
	struct park_params *p;
	unsigned int i;
	int ret = 0, repeated = 0;

	if (!slice)
		return -ENOMEM;
	p = page_fill(node, slice);
	for (i = 0; i < node->nr_cpus && ret >= 0; i++) {
		p->perf = node->perf[i];
		ret = park_one(node, i, i < nr, &p->parked);
		repeated += ret;
	}
	if (ret >= 0 && mios_inject(park_nmi))
		park_nmi(node, &p->taken);
	memunmap(slice);
	return ret < 0 ? ret : repeated;
}

/*
 * What a SIPI does that the CPU has not seen when the INIT comes: QEMU keeps
 * it, and the CPU starts again.
 */
static void stray_sipi(const struct mios_node *node)
{
	all_init(node, node->nr_cpus);
	sipi_send(node, node->apicid[0]);
	msleep(20);
}

/**
 * mios_cpus_stop - stop every CPU of a node, whatever it does
 * @node: whose
 *
 * INIT cannot be masked, and each CPU shows that it has arrived.  When this
 * returns 0 none of them executes an instruction until it is started again.
 *
 * Return: 0; -EIO if a CPU may still run.
 */
int mios_cpus_stop(const struct mios_node *node)
{
	unsigned int nr = node->nr_cpus - mios_inject(skip_init);
	int err;

	if (mios_inject(stray_sipi))
		stray_sipi(node);
	err = all_init(node, nr);
	if (!err && !mios_inject(assume_init))
		err = all_park(node, nr);
	if (err < 0)
		return err;
	/* A SIPI that was not lost, only late, has started its CPU once more. */
	if (err > 0)
		all_init(node, nr);
	/* Out of the slice, which is about to be somebody else's. */
	return all_init(node, nr);
}
