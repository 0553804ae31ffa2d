// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory is cached how: instance 0's range registers (MTRRs), for the
 * first CPU of a child.  The manuals let them survive an INIT, some machines
 * clear them (QEMU does), and a kernel that finds them off takes what is not
 * its own for uncached.  The child's own kernel hands them on to its other
 * CPUs.  Called by cpu.c for each start; no lock, nobody changes them then.
 */
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/mtrr.h>

#include "../../inject/inject.h"
#include "node.h"

MIOS_INJECT_SWITCH(no_mtrrs,
		   "leave the memory types of a child as its INIT left them");

static const u32 fixed[] = {
	MSR_MTRRfix64K_00000, MSR_MTRRfix16K_80000, MSR_MTRRfix16K_A0000,
	MSR_MTRRfix4K_C0000, MSR_MTRRfix4K_C8000, MSR_MTRRfix4K_D0000,
	MSR_MTRRfix4K_D8000, MSR_MTRRfix4K_E0000, MSR_MTRRfix4K_E8000,
	MSR_MTRRfix4K_F0000, MSR_MTRRfix4K_F8000,
};

static struct mios_msr *msr_read(struct mios_msr *to, u32 msr)
{
	to->msr = msr;
	rdmsr(msr, to->low, to->high);
	return to + 1;
}

/**
 * mios_mtrrs_read - the range registers of the CPU we run on
 * @to: out; the one that switches the others on comes last
 * @room: entries there
 *
 * Return: how many there are, 0 on a machine without; -E2BIG: more than @room.
 */
int mios_mtrrs_read(struct mios_msr *to, unsigned int room)
{
	struct mios_msr *at = to;
	unsigned int i, pairs;
	u64 cap;

	if (!boot_cpu_has(X86_FEATURE_MTRR) || inject_no_mtrrs)
		return 0;
	mios_rdmsrq(MSR_MTRRcap, cap);
	pairs = cap & MTRR_CAP_VCNT;
	if (2 * pairs + ARRAY_SIZE(fixed) + 1 > room)
		return -E2BIG;
	for (i = 0; i < pairs; i++) {
		at = msr_read(at, MTRRphysBase_MSR(i));
		at = msr_read(at, MTRRphysMask_MSR(i));
	}
	for (i = 0; cap & MTRR_CAP_FIX && i < ARRAY_SIZE(fixed); i++)
		at = msr_read(at, fixed[i]);
	return msr_read(at, MSR_MTRRdefType) - to;
}
