// SPDX-License-Identifier: GPL-2.0
/*
 * How fast a CPU may run that is about to be a child's.  When instance 0 takes
 * a CPU offline, its frequency driver leaves it at the lowest performance, and
 * a child's need not find its own way out of that: amd-pstate wants ACPI.
 * Read while the CPU is still instance 0's; written by arch/x86/park.S.  Called
 * under the node's lock.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>

#include "node.h"

/* All that the CPU can do, with instance 0's preference for energy or speed. */
static bool intel_read(unsigned int cpu, u64 *request)
{
	u64 can;

	if (!boot_cpu_has(X86_FEATURE_HWP) ||
	    mios_rdmsrq_safe_on_cpu(cpu, MSR_HWP_CAPABILITIES, &can) ||
	    mios_rdmsrq_safe_on_cpu(cpu, MSR_HWP_REQUEST, request))
		return false;
	*request &= ~GENMASK_ULL(23, 0);
	*request |= HWP_MIN_PERF(HWP_LOWEST_PERF(can)) |
		    HWP_MAX_PERF(HWP_HIGHEST_PERF(can));
	return true;
}

static bool amd_read(unsigned int cpu, u64 *request)
{
	u64 can, enabled;

	if (!boot_cpu_has(X86_FEATURE_CPPC) ||
	    mios_rdmsrq_safe_on_cpu(cpu, MSR_AMD_CPPC_ENABLE, &enabled) ||
	    !(enabled & 1) ||
	    mios_rdmsrq_safe_on_cpu(cpu, MSR_AMD_CPPC_CAP1, &can) ||
	    mios_rdmsrq_safe_on_cpu(cpu, MSR_AMD_CPPC_REQ, request))
		return false;
	*request &= ~GENMASK_ULL(23, 0);
	*request |= FIELD_PREP(AMD_CPPC_MIN_PERF_MASK,
			       FIELD_GET(AMD_CPPC_LOWNONLIN_PERF_MASK, can)) |
		    FIELD_PREP(AMD_CPPC_MAX_PERF_MASK,
			       FIELD_GET(AMD_CPPC_HIGHEST_PERF_MASK, can));
	return true;
}

/**
 * mios_perf_read - what a CPU is to be asked for when it is a child's
 * @cpu: which; still online
 * @to: out; no register where the CPU is not asked in this way
 */
void mios_perf_read(unsigned int cpu, struct mios_msr *to)
{
	u64 request = 0;

	to->msr = 0;
	if (intel_read(cpu, &request))
		to->msr = MSR_HWP_REQUEST;
	else if (amd_read(cpu, &request))
		to->msr = MSR_AMD_CPPC_REQ;
	to->low = lower_32_bits(request);
	to->high = upper_32_bits(request);
}
