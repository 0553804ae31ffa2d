/* SPDX-License-Identifier: GPL-2.0 */
/* What of an instance is fenced beside its CPUs; for mios/devices/. */
#ifndef MIOS_GIVEN_H
#define MIOS_GIVEN_H

#include <linux/types.h>

/**
 * mios_fence_register() - fence what is not a CPU, too
 * @quiet: nothing that an instance was given writes memory any more: 0; else it
 *	is asked again later, and the instance is not dead before.  NULL: nobody
 *	has to be asked
 *
 * Called when its CPUs have stopped; may sleep.
 */
void mios_fence_register(int (*quiet)(u32 instance));

#endif /* MIOS_GIVEN_H */
