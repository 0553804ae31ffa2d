// SPDX-License-Identifier: GPL-2.0
/*
 * The switches behind mios_ipc_fault(): module parameters, so that a test can
 * set them at run time.  Compiled with MIOS_FAULT=1 only.
 */
#include <linux/module.h>

#include "fault.h"

static bool fault_on[MIOS_IPC_FAULTS];

#define MIOS_IPC_FAULT_PARAM(name, index, text)				\
	module_param_named(fault_##name, fault_on[index], bool, 0600);	\
	MODULE_PARM_DESC(fault_##name, "fault: " text)

MIOS_IPC_FAULT_PARAM(no_remote_wake, MIOS_IPC_FAULT_NO_REMOTE_WAKE,
		     "wake nobody who waits on another instance");
MIOS_IPC_FAULT_PARAM(no_enter, MIOS_IPC_FAULT_NO_ENTER,
		     "wait on a futex without saying so");
MIOS_IPC_FAULT_PARAM(no_death_wake, MIOS_IPC_FAULT_NO_DEATH_WAKE,
		     "wake nobody when an instance dies");
MIOS_IPC_FAULT_PARAM(no_owner_death, MIOS_IPC_FAULT_NO_OWNER_DEATH,
		     "wait for locks of the dead");

bool mios_ipc_fault(enum mios_ipc_fault fault)
{
	return READ_ONCE(fault_on[fault]);
}
