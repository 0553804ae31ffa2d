/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What of an instance is fenced beside its CPUs, and where that may write; for
 * mios/devices/.
 */
#ifndef MIOS_GIVEN_H
#define MIOS_GIVEN_H

#include <linux/types.h>
#include <mios/layout.h>

/**
 * mios_fence_register() - fence what is not a CPU, too
 * @quiet: nothing that an instance was given writes memory any more: 0; else it
 *	is asked again later, and the instance is not dead before.  NULL: nobody
 *	has to be asked
 *
 * Called when its CPUs have stopped; may sleep.
 */
void mios_fence_register(int (*quiet)(u32 instance));

/**
 * mios_given_memory() - memory that a device of an instance may write to
 * @instance: on instance 0; it is up
 * @each: called for each range: the memory of its node, and in ring 0 the pools;
 *	what is not 0 ends it
 * @ctx: its argument
 *
 * May sleep.
 *
 * Return: 0; what @each has returned; or -ENODEV.
 */
int mios_given_memory(u32 instance,
		      int (*each)(void *ctx, const struct mios_range *range),
		      void *ctx);

#endif /* MIOS_GIVEN_H */
