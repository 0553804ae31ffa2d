/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PCI functions that instance 0 gives to another instance.  give.c is instance
 * 0's side, which lets go of a function and makes it quiet again; bus.c is the
 * other one, which has a PCI bus with what it was given, and nothing else.
 */
#ifndef MIOS_DEVICES_H
#define MIOS_DEVICES_H

#include <linux/types.h>

#include <mios/msg.h>

/* give.c: on instance 0 */
int mios_give_init(void);
void mios_give_exit(void);

/* bus.c: on the others */

/**
 * mios_bus_give() - have a function from now on
 * @call: what instance 0 says of it
 *
 * Return: 0, it has a driver if there is one; -EEXIST: it is here already;
 * -ENXIO: what answers is not what was said; or another error.
 */
int mios_bus_give(const struct mios_call_device *call);

/**
 * mios_bus_take() - let go of a function
 * @call: which
 *
 * Return: 0, its driver has gone; -ENOENT: it is not here.
 */
int mios_bus_take(const struct mios_call_device *call);

void mios_bus_exit(void);

#endif /* MIOS_DEVICES_H */
