// SPDX-License-Identifier: GPL-2.0
/*
 * Machines that no second kernel can be started on, told before anything is
 * taken from instance 0.  Called at each claim, as a TSC may become unstable
 * at any time; no lock.
 */
#include <linux/cc_platform.h>
#include <linux/errno.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#include <uapi/linux/mios_refusal.h>

#include "node.h"

/**
 * mios_machine_usable - can a kernel be started beside this one?
 * @why: explains a refusal
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int mios_machine_usable(struct mios_reason *why)
{
	const char *what = NULL;

	/* An instance has no other clock, and none to check it against. */
	if (check_tsc_unstable())
		what = MIOS_REFUSAL_TSC;
	/* What instance 0 writes is encrypted, what the child reads is not. */
	else if (cc_platform_has(CC_ATTR_HOST_MEM_ENCRYPT))
		what = MIOS_REFUSAL_SME;
	else if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		what = MIOS_REFUSAL_GUEST;
	/* Its memory must not be touched by a kernel that does not know it. */
	else if (cpu_feature_enabled(X86_FEATURE_TDX_HOST_PLATFORM))
		what = MIOS_REFUSAL_TDX;
	if (!what)
		return 0;
	mios_reason_set(why, "no instance can be started on this machine: %s",
			what);
	return -EOPNOTSUPP;
}
