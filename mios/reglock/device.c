// SPDX-License-Identifier: GPL-2.0
/*
 * The device: an Intel 82574 (QEMU's e1000e), whose SWSM.SMBI is 0 for the first
 * who reads it and 1 for all others until somebody writes 0.  It is the only such
 * bit there: SWSM.SWESMBI and EXTCNF_CTRL are written and read back, and QEMU
 * does not arbitrate them.  The driver has no table of devices: it gets one
 * by driver_override, and so never a card that is to be a network card.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "../core/link/link.h"
#include "reglock.h"

#define SWSM		0x5b50
#define WUC		0x5800	/* read without effect */
#define SMBI		1u
#define PAGE_OF(at)	((at) & PAGE_MASK)

static_assert(PAGE_OF(SWSM) == PAGE_OF(WUC));

/* The one that is used; there is no more than one. */
static struct mios_register_place here;
static void *words;
static bool ending;

/* What is left of whoever used it before is given back, then it has to lock. */
static int register_works(void __iomem *page)
{
	void __iomem *swsm = page + SWSM - PAGE_OF(SWSM);
	u32 first, second;

	iowrite32(0, swsm);
	first = ioread32(swsm);
	second = ioread32(swsm);
	iowrite32(0, swsm);
	return !(first & SMBI) && (second & SMBI) && second != ~0u;
}

static size_t words_size(void)
{
	return PAGE_ALIGN(mios_register_size(mios_link_nr() *
					     MIOS_REGISTER_EACH));
}

static int words_make(void)
{
	size_t size = words_size();

	if (!size)
		return -E2BIG;
	words = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!words)
		return -ENOMEM;
	here.words = virt_to_phys(words);
	here.size = size;
	return mios_register_format(words,
				    mios_link_nr() * MIOS_REGISTER_EACH);
}

static void words_free(void)
{
	free_pages_exact(words, words_size());
	words = NULL;
	here = (struct mios_register_place) { };
}

static int probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	void __iomem *page;
	int err;

	if (dev->vendor != PCI_VENDOR_ID_INTEL || dev->device != 0x10d3) {
		pci_err(dev, "not known to have a register that a read takes\n");
		return -ENODEV;
	}
	if (words)
		return -EBUSY;
	err = pcim_enable_device(dev);
	if (err)
		return err;
	err = pcim_request_all_regions(dev, "mios_reglock");
	if (err)
		return err;
	if (pci_resource_len(dev, 0) < PAGE_OF(SWSM) + PAGE_SIZE)
		return -ENODEV;
	page = devm_ioremap(&dev->dev,
			    pci_resource_start(dev, 0) + PAGE_OF(SWSM),
			    PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	if (!register_works(page)) {
		pci_err(dev, "SWSM does not lock\n");
		return -ENODEV;
	}
	err = words_make();
	if (err)
		goto free;
	here.page = pci_resource_start(dev, 0) + PAGE_OF(SWSM);
	here.at = SWSM - PAGE_OF(SWSM);
	here.flush = WUC - PAGE_OF(SWSM);
	err = mios_reglock_begin(&here, words);
	if (err)
		goto free;
	pci_info(dev, "its register is a lock for all instances\n");
	return 0;

free:
	if (words)
		words_free();
	return err;
}

/*
 * With the module, which nobody uses any more.  Or pulled out: then all who have
 * it mapped read ones, which is "taken"; what is beside it stays for them.
 */
static void removed(struct pci_dev *dev)
{
	mios_reglock_end();
	if (ending)
		return;
	here.size = 0;
	pci_err(dev, "the register lock is gone; reload mios_reglock for another one\n");
}

static struct pci_driver driver = {
	.name = "mios_reglock",
	.probe = probe,
	.remove = removed,
	/* Only rmmod takes it away, which waits for those who use it. */
	.driver = { .suppress_bind_attrs = true },
};

/**
 * mios_reglock_device_place() - where the register is, for another instance
 * @place: out
 *
 * -ENODEV: no device has been given to the driver.
 */
int mios_reglock_device_place(struct mios_register_place *place)
{
	if (!here.size)
		return -ENODEV;
	*place = here;
	return 0;
}

int mios_reglock_device_init(void)
{
	return pci_register_driver(&driver);
}

void mios_reglock_device_exit(void)
{
	ending = true;
	pci_unregister_driver(&driver);
	if (words)
		words_free();
}
