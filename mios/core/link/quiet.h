/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PCI functions that instances were given, and instance 0's death: for
 * mios/devices/, which has them, and for who fences.
 */
#ifndef MIOS_QUIET_H
#define MIOS_QUIET_H

#include <linux/types.h>

/**
 * mios_devices_hold() - a PCI function is this instance's from now on
 * @function: bus << 8 | device << 3 | function, in segment 0
 *
 * Before it does anything; so that it is left alone when instance 0 has died.
 * -ENOSPC: it has as many as it can have.
 */
int mios_devices_hold(u32 function);

/* It is so no more, and does nothing. */
void mios_devices_release(u32 function);

/**
 * mios_quiet_member() - instance 0 is dead: make quiet what another dead one had
 * @instance: which; its CPUs have stopped
 *
 * By who is host.  Return: 0: no device of it writes any more; -EAGAIN: those of
 * instance 0 come first; -EIO: one may, so nothing of it is to be used again.
 */
int mios_quiet_member(u32 instance);

#endif /* MIOS_QUIET_H */
