// SPDX-License-Identifier: GPL-2.0
/*
 * A node's CPUs, from instance 0 and back.  INIT leaves a CPU waiting for a
 * SIPI, which is x86's "off": so a CPU is started by SIPI and ended by INIT,
 * whatever it was doing (park.c).  Called under the node's lock.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/processor-flags.h>
#include <uapi/linux/mios_refusal.h>

#include "../../inject/inject.h"
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
	u32 nr_mtrrs;
	struct mios_msr mtrrs[];
} __packed;
static_assert(sizeof(struct sipi_params) == 56);

MIOS_INJECT_VALUE(leave_cpu,
		  "keep this many CPUs of a node when it is given back");

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
 * mios_cpus_init - guard the CPUs that are not ours
 */
int mios_cpus_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					      "mios:guard", cpu_guard, NULL);

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

/**
 * mios_cpus_usable - may a node's CPUs be taken away from instance 0?
 * @node: node to boot
 * @why: explains a refusal
 *
 * Return: 0; -EOPNOTSUPP on a machine that no other kernel can run on; -EBUSY
 * if somebody has taken one offline, who must not find it in use by another
 * kernel, nor online afterwards.
 */
int mios_cpus_usable(const struct mios_node *node, struct mios_reason *why)
{
	unsigned int cpu;
	int err = mios_machine_usable(why);

	if (err)
		return err;
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
	unsigned int cpu, i = 0;
	int err;

	/*
	 * First the guard, so that nobody brings one back behind us.  Bit by
	 * bit, since another node's may be taken at the same time.
	 */
	for_each_cpu(cpu, &node->cpus)
		cpumask_set_cpu(cpu, &away);
	for_each_cpu(cpu, &node->cpus) {
		mios_perf_read(cpu, &node->perf[i++]);
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
	unsigned int cpu, left = inject_leave_cpu;
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
		if (err >= 0) {
			cpumask_clear_cpu(cpu, &owed);
		} else {
			cpumask_set_cpu(cpu, &owed);
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

/* As many range registers as the page of the code has room for. */
static int mtrrs_fill(struct sipi_params *p, const void *slice)
{
	const void *end = slice + PAGE_SIZE;
	int nr = mios_mtrrs_read(p->mtrrs, (end - (const void *)p->mtrrs) /
				 sizeof(p->mtrrs[0]));

	p->nr_mtrrs = max(nr, 0);
	return min(nr, 0);
}

static int slice_fill(struct mios_node *node, void *slice)
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
	return mtrrs_fill(p, slice);
}

/*
 * The child's own trampoline takes the place of the word before long, and who
 * looks late finds something else there; the manifest still tells.
 */
static bool has_started(struct mios_node *node, const u32 *arrived)
{
	return READ_ONCE(*arrived) ||
	       READ_ONCE(mios_node_manifest(node)->state) != MIOS_CHILD_LOADED;
}

/*
 * Send a SIPI, and another one, as the manuals want it, only to a CPU that has
 * not shown itself: one that runs would ignore it, but QEMU keeps it and starts
 * the CPU again at its next INIT.
 */
static int first_cpu_start(struct mios_node *node, const u32 *arrived,
			   struct mios_reason *why)
{
	unsigned int tries;
	int err;

	for (tries = 0; tries < MIOS_PARK_WAIT_US / MIOS_SIPI_AGAIN_US; tries++) {
		/* The next host may have stopped it, and another one waits there. */
		err = mios_node_hosted(node, why);
		if (err)
			return err;
		if (has_started(node, arrived) ||
		    !mios_sipi_arrives(node, node->apicid[0], arrived, 0))
			return 0;
	}
	return -EIO;
}

/**
 * mios_cpu_start - start a loaded image on a node's first CPU
 * @node: whose CPUs are fenced and whose image is complete
 * @why: explains a failure
 *
 * The other CPUs are started by the new kernel itself.
 *
 * Return: 0; -EOPNOTSUPP without 1 GiB pages; -E2BIG with more memory type
 * registers than any CPU has; -EIO if the CPU takes no SIPI; -ESHUTDOWN: this
 * instance is host no more.
 */
int mios_cpu_start(struct mios_node *node, struct mios_reason *why)
{
	struct sipi_params *params;
	void *slice;
	int err;

	if (!boot_cpu_has(X86_FEATURE_GBPAGES) || node->entry >> 48) {
		mios_reason_set(why,
				"node %u: " MIOS_REFUSAL_PAGES,
				node->id);
		return -EOPNOTSUPP;
	}
	slice = memremap(node->slice, MIOS_SLICE_SIZE, MEMREMAP_WB);
	if (!slice)
		return -ENOMEM;
	params = slice + (mios_sipi_params - mios_sipi_code);
	err = slice_fill(node, slice) ?:
	      first_cpu_start(node, &params->arrived, why);
	memunmap(slice);
	if (err == -E2BIG)
		mios_reason_set(why,
				"node %u: its CPUs have more memory type registers (MTRRs) than can be handed over",
				node->id);
	else if (err == -EIO)
		mios_reason_set(why,
				"node %u: CPU with APIC id %u takes no start-up interrupt",
				node->id, node->apicid[0]);
	return err;
}
