// SPDX-License-Identifier: GPL-2.0
/*
 * A node's CPUs, from instance 0 and back.  INIT leaves a CPU waiting for a
 * SIPI, which is x86's "off": so a CPU is started by SIPI and ended by INIT,
 * whatever it was doing.  Called under the node's lock.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/moduleparam.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/processor-flags.h>

#include "../arch/x86/icr.h"
#include "node.h"

/* The tables behind the code in the slice, one page each. */
enum { SLICE_CODE, SLICE_PGD, SLICE_P4D, SLICE_PUD_LOW, SLICE_PUD_HIGH };

/* struct at mios_sipi_params in arch/x86/sipi.S */
struct sipi_params {
	u16 gdt_limit;
	u32 gdt_base;
	u16 pad0;
	u32 jump32;
	u16 code32;
	u16 pad1;
	u32 jump64;
	u16 code64;
	u16 pad2;
	u32 cr3;
	u32 cr4;
	u64 entry;
	u64 zero_page;
	u32 arrived;
	u32 pad3;
} __packed;
static_assert(sizeof(struct sipi_params) == 56);

static int fault_skip_init, fault_assume_init, fault_stray_sipi;
#ifdef MIOS_FAULT
static unsigned int fault_leave_cpu;
module_param(fault_leave_cpu, uint, 0600);
MODULE_PARM_DESC(fault_leave_cpu, "fault: keep this many CPUs of a node when it is given back");
module_param(fault_skip_init, int, 0600);
MODULE_PARM_DESC(fault_skip_init, "fault: leave the last CPU of a node out of its INIT: times, -1 for always");
module_param(fault_assume_init, int, 0600);
MODULE_PARM_DESC(fault_assume_init, "fault: believe that a node's CPUs have taken their INIT: times, -1 for always");
module_param(fault_stray_sipi, int, 0600);
MODULE_PARM_DESC(fault_stray_sipi, "fault: a start-up interrupt comes right behind the INIT of a node's first CPU: times, -1 for always");
#else
#define fault_leave_cpu 0
#endif

/* How long a CPU may take to show itself: an emulated one waits for a core. */
#define PARK_WAIT_US	20000000
/* A SIPI that has not arrived by then is taken for lost. */
#define SIPI_AGAIN_US	200000

static struct cpumask away;		/* CPUs that run another kernel */
static struct cpumask owed;		/* that did not come back: all may try */
static enum cpuhp_state guard_state;

/*
 * Refuses to bring up a CPU that runs another kernel.  Not -EBUSY, on which
 * the driver core would try again for a second.
 */
static int cpu_guard(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, &away) ? -EPERM : 0;
}

/**
 * mios_cpus_init - guard the CPUs that are not ours, stop shorthand IPIs
 */
int mios_cpus_init(void)
{
	int state;

	apic_ipi_shorthand_disable();
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "mios:guard",
					  cpu_guard, NULL);
	if (state < 0)
		return state;
	guard_state = state;
	return 0;
}

/**
 * mios_cpus_exit - drop the guard; every CPU has come back
 */
void mios_cpus_exit(void)
{
	cpuhp_remove_state_nocalls(guard_state);
}

static int sipi_send(const struct mios_node *node, u32 apicid)
{
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

/* Send a CPU a SIPI, and wait until the code there has changed a word. */
static int sipi_arrives(const struct mios_node *node, u32 apicid,
			const u32 *word, u64 wait_us)
{
	const u32 before = READ_ONCE(*word);
	u32 now;

	return sipi_send(node, apicid) ?:
	       read_poll_timeout(READ_ONCE, now, now != before, 100, wait_us,
				 false, *word);
}

/* A CPU that waits for a SIPI, and only such a one, counts itself. */
static int park_one(const struct mios_node *node, u32 apicid, u32 *count)
{
	if (!sipi_arrives(node, apicid, count, PARK_WAIT_US))
		return 0;
	pr_err_ratelimited("instance %u: CPU with APIC id %u does not take INIT\n",
			   node->id, apicid);
	return -EIO;
}

static int all_park(const struct mios_node *node)
{
	void *slice = memremap(node->slice, PAGE_SIZE, MEMREMAP_WB);
	unsigned int i;
	int err = 0;

	if (!slice)
		return -ENOMEM;
	memcpy(slice, mios_park_code, mios_park_end - mios_park_code);
	for (i = 0; i < node->nr_cpus && !err; i++)
		err = park_one(node, node->apicid[i], slice +
			       (mios_park_count - mios_park_code));
	memunmap(slice);
	return err;
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
	unsigned int nr = node->nr_cpus - mios_fault_take(&fault_skip_init);
	int err;

	if (mios_fault_take(&fault_stray_sipi))
		stray_sipi(node);
	err = all_init(node, nr);
	if (!err && !mios_fault_take(&fault_assume_init))
		err = all_park(node);
	/* Out of the slice, which is about to be somebody else's. */
	return err ?: all_init(node, nr);
}

/**
 * mios_cpus_usable - may a node's CPUs be taken away from instance 0?
 * @node: node to boot
 * @why: explains a refusal
 *
 * Return: 0; -EBUSY if somebody has taken one offline, who must not find it in
 * use by another kernel, nor online afterwards.
 */
int mios_cpus_usable(const struct mios_node *node, struct mios_reason *why)
{
	unsigned int cpu;

	for_each_cpu(cpu, &node->cpus) {
		if (cpu_online(cpu))
			cpumask_clear_cpu(cpu, &owed);
		if (cpu_online(cpu) || cpumask_test_cpu(cpu, &owed))
			continue;
		mios_reason_set(why,
				"node %u: CPU %u has been taken offline: bring it back, or load mios again to boot the node without it",
				node->id, cpu);
		return -EBUSY;
	}
	return 0;
}

/**
 * mios_cpus_take - take a node's CPUs away from instance 0
 * @node: node to boot
 * @why: explains a failure
 *
 * Return: 0, or -errno of the CPU hotplug with every CPU back.
 */
int mios_cpus_take(struct mios_node *node, struct mios_reason *why)
{
	unsigned int cpu;
	int err;

	/*
	 * First the guard, so that nobody brings one back behind us.  Bit by
	 * bit, since another node's may be taken at the same time.
	 */
	for_each_cpu(cpu, &node->cpus)
		cpumask_set_cpu(cpu, &away);
	for_each_cpu(cpu, &node->cpus) {
		err = remove_cpu(cpu);
		/* 1: somebody has, since we looked, and wants it so */
		if (err == 1 && !cpumask_test_cpu(cpu, &owed))
			cpumask_clear_cpu(cpu, &away);
		if (err < 0 || cpu_online(cpu) ||
		    !cpumask_test_cpu(cpu, &away)) {
			mios_reason_set(why,
					"node %u: CPU %u cannot be taken offline (error %d)",
					node->id, cpu, err < 0 ? -err : EBUSY);
			mios_cpus_return(node);
			return err < 0 ? err : -EBUSY;
		}
	}
	/* Dead in software; now also in hardware. */
	err = mios_cpus_stop(node);
	if (err) {
		mios_reason_set(why, "node %u: a CPU does not take INIT",
				node->id);
		mios_cpus_return(node);
	}
	return err;
}

/**
 * mios_cpus_return - give a node's CPUs back to instance 0
 * @node: whose CPUs are fenced
 *
 * Return: 0, or the first error; the others are back all the same.
 */
int mios_cpus_return(struct mios_node *node)
{
	unsigned int cpu, left = fault_leave_cpu;
	int err, first = 0;

	for_each_cpu(cpu, &node->cpus) {
		/* Offline since it came back for a dump: as somebody wants it. */
		if (!cpumask_test_and_clear_cpu(cpu, &away))
			continue;
		if (left) {
			left--;
			cpumask_set_cpu(cpu, &owed);
			continue;
		}
		err = add_cpu(cpu);
		/* 1: it was online before */
		cpumask_assign_cpu(cpu, &owed, err < 0);
		if (err < 0) {
			pr_err("node %u: CPU %u does not come back: %d\n",
			       node->id, cpu, err);
			first = first ?: err;
		}
	}
	return first;
}

/* One table maps 512 GiB in pages of 1 GiB, each to itself. */
static void identity_map(u64 *pud, u64 base)
{
	unsigned int i;

	base = ALIGN_DOWN(base, 1ULL << 39);
	for (i = 0; i < PTRS_PER_PUD; i++)
		pud[i] = (base + ((u64)i << 30)) | _PAGE_PRESENT | _PAGE_RW |
			 _PAGE_PSE;
}

static u32 tables_fill(struct mios_node *node, void *slice, bool la57)
{
	const u64 flags = _PAGE_PRESENT | _PAGE_RW;
	u64 *pgd = slice + SLICE_PGD * PAGE_SIZE;
	u64 *p4d = slice + SLICE_P4D * PAGE_SIZE;
	u64 high = node->entry >> 39;

	identity_map(slice + SLICE_PUD_LOW * PAGE_SIZE, 0);
	p4d[0] = (node->slice + SLICE_PUD_LOW * PAGE_SIZE) | flags;
	if (high) {
		identity_map(slice + SLICE_PUD_HIGH * PAGE_SIZE, node->entry);
		p4d[high] = (node->slice + SLICE_PUD_HIGH * PAGE_SIZE) | flags;
	}
	if (!la57)
		return node->slice + SLICE_P4D * PAGE_SIZE;
	pgd[0] = (node->slice + SLICE_P4D * PAGE_SIZE) | flags;
	return node->slice + SLICE_PGD * PAGE_SIZE;
}

static void slice_fill(struct mios_node *node, void *slice)
{
	bool la57 = __read_cr4() & X86_CR4_LA57;
	struct sipi_params *p;

	memset(slice, 0, MIOS_SLICE_SIZE);
	memcpy(slice, mios_sipi_code, mios_sipi_end - mios_sipi_code);
	p = slice + (mios_sipi_params - mios_sipi_code);
	p->gdt_base += node->slice;
	p->jump32 += node->slice;
	p->jump64 += node->slice;
	p->cr3 = tables_fill(node, slice, la57);
	/* Left as it is, or the image would look for low memory to change it */
	p->cr4 = X86_CR4_PAE | (la57 ? X86_CR4_LA57 : 0);
	p->entry = node->entry;
	p->zero_page = node->zero_page;
}

/*
 * Send a SIPI, and another one, as the manuals want it, only to a CPU that has
 * not shown itself: one that runs would ignore it, but QEMU keeps it and starts
 * the CPU again at its next INIT.
 */
static int first_cpu_start(const struct mios_node *node, const u32 *arrived)
{
	unsigned int tries;

	for (tries = 0; tries < PARK_WAIT_US / SIPI_AGAIN_US; tries++)
		if (READ_ONCE(*arrived) ||
		    !sipi_arrives(node, node->apicid[0], arrived,
				  SIPI_AGAIN_US))
			return 0;
	return -EIO;
}

/**
 * mios_cpu_start - start a loaded image on a node's first CPU
 * @node: whose CPUs are fenced and whose image is complete
 * @why: explains a failure
 *
 * The other CPUs are started by the new kernel itself.
 *
 * Return: 0; -EOPNOTSUPP without 1 GiB pages; -EIO if the CPU takes no SIPI.
 */
int mios_cpu_start(struct mios_node *node, struct mios_reason *why)
{
	struct sipi_params *params;
	void *slice;
	int err;

	if (!boot_cpu_has(X86_FEATURE_GBPAGES) || node->entry >> 48) {
		mios_reason_set(why,
				"node %u: starting it needs CPUs with 1 GiB pages and memory below 256 TiB",
				node->id);
		return -EOPNOTSUPP;
	}
	slice = memremap(node->slice, MIOS_SLICE_SIZE, MEMREMAP_WB);
	if (!slice)
		return -ENOMEM;
	slice_fill(node, slice);
	params = slice + (mios_sipi_params - mios_sipi_code);
	err = first_cpu_start(node, &params->arrived);
	memunmap(slice);
	if (err)
		mios_reason_set(why,
				"node %u: CPU with APIC id %u takes no start-up interrupt",
				node->id, node->apicid[0]);
	return err;
}
