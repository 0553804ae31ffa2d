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

/* iommu.c: on instance 0; nothing where the machine has none, or it is off */
struct iommu_domain;
struct pci_dev;

/* NULL: its IOMMU lets it be given; else why not. */
const char *mios_iommu_refusal(struct pci_dev *dev);

/**
 * mios_iommu_claim() - from now on a function reaches no memory
 * @dev: this driver's
 *
 * Return: 0, until mios_iommu_release(); -EBUSY: a function that shares its
 * group has another driver.
 */
int mios_iommu_claim(struct pci_dev *dev);
void mios_iommu_release(struct pci_dev *dev);

/**
 * mios_iommu_window() - what a function of an instance is to reach
 * @dev: claimed
 * @instance: which
 *
 * Return: for mios_iommu_open() or mios_iommu_free(); NULL: there is no IOMMU; or
 * an error.
 */
struct iommu_domain *mios_iommu_window(struct pci_dev *dev, u32 instance);
void mios_iommu_free(struct iommu_domain *window);

/* From now on it reaches that, until mios_iommu_close(), which frees it. */
int mios_iommu_open(struct pci_dev *dev, struct iommu_domain *window);
void mios_iommu_close(struct pci_dev *dev, struct iommu_domain **window);

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
