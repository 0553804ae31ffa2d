// SPDX-License-Identifier: GPL-2.0
/*
 * Where the machine has an IOMMU that is on: a function that this driver keeps
 * reaches no memory; one that an instance was given reaches that one's, and in
 * ring 0 the pools, by physical addresses, since its kernel knows nothing of
 * the IOMMU.  So a driver of one instance cannot write to another one's memory,
 * and what a dead one's device still wants to write is stopped on its way.
 */
#include <linux/err.h>
#include <linux/iommu.h>
#include <linux/msi.h>
#include <linux/pci.h>
#include <uapi/linux/mios_refusal.h>

#include "../core/end/given.h"
#include "../inject/inject.h"
#include "devices.h"

MIOS_INJECT_SWITCH(no_window, "let a given function reach no memory");

const char *mios_iommu_refusal(struct pci_dev *dev)
{
	/* Messages that instance 0 has not entered in its tables are stopped. */
	if (dev->dev.iommu_group && msi_device_has_isolated_msi(&dev->dev))
		return MIOS_REFUSAL_REMAPPED;
	return NULL;
}

int mios_iommu_claim(struct pci_dev *dev)
{
	return dev->dev.iommu_group ?
	       iommu_device_claim_dma_owner(&dev->dev, &dev->dev) : 0;
}

void mios_iommu_release(struct pci_dev *dev)
{
	if (dev->dev.iommu_group)
		iommu_device_release_dma_owner(&dev->dev);
}

static int map(void *ctx, const struct mios_range *range)
{
	return inject_no_window ? 0 :
	       iommu_map(ctx, range->base, range->base, range->size,
			 IOMMU_READ | IOMMU_WRITE | IOMMU_CACHE, GFP_KERNEL);
}

struct iommu_domain *mios_iommu_window(struct pci_dev *dev, u32 instance)
{
	struct iommu_domain *window;
	int err;

	if (!dev->dev.iommu_group)
		return NULL;
	window = iommu_paging_domain_alloc(&dev->dev);
	if (IS_ERR(window))
		return window;
	err = mios_given_memory(instance, map, window);
	if (!err)
		return window;
	iommu_domain_free(window);
	return ERR_PTR(err);
}

void mios_iommu_free(struct iommu_domain *window)
{
	if (window)
		iommu_domain_free(window);
}

int mios_iommu_open(struct pci_dev *dev, struct iommu_domain *window)
{
	return window ? iommu_attach_group(window, dev->dev.iommu_group) : 0;
}

void mios_iommu_close(struct pci_dev *dev, struct iommu_domain **window)
{
	if (!*window)
		return;
	/* To none at all, as long as it is claimed. */
	iommu_detach_group(*window, dev->dev.iommu_group);
	iommu_domain_free(*window);
	*window = NULL;
}
