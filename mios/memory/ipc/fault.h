/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests break here, one for each guarantee: module parameters of mios_fs
 * (fault_..., with MIOS_FAULT=1 only).
 */
#ifndef _MIOS_IPC_FAULT_H
#define _MIOS_IPC_FAULT_H

#include <linux/types.h>

enum mios_ipc_fault {
	MIOS_IPC_FAULT_NO_REMOTE_WAKE,	/* wake nobody elsewhere */
	MIOS_IPC_FAULT_NO_ENTER,	/* wait without saying so */
	MIOS_IPC_FAULT_NO_DEATH_WAKE,	/* wake nobody when an instance dies */
	MIOS_IPC_FAULT_NO_OWNER_DEATH,	/* take the dead for alive */
	MIOS_IPC_FAULTS
};

#ifdef MIOS_FAULT
bool mios_ipc_fault(enum mios_ipc_fault fault);
#else
static inline bool mios_ipc_fault(enum mios_ipc_fault fault)
{
	return false;
}
#endif

#endif /* _MIOS_IPC_FAULT_H */
