// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI bus of an instance: the functions that it was given, each at the
 * address that it has on instance 0, and no other.  Nothing is looked for:
 * configuration space is that one page of each function (ECAM), and resources
 * are where instance 0 has placed them.
 *
 * A function has no INTx here, as no I/O APIC is this kernel's: drivers get
 * MSI-X, whose messages go from the device to the own CPUs.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include <asm/pci.h>

#include "../core/link/quiet.h"
#include "devices.h"

#define CONFIG_SIZE	4096

/**
 * struct root - a bus with a number of instance 0's
 * @entry:	in roots
 * @sysdata:	what the architecture asks of a bus
 * @bus:	the PCI core's
 */
struct root {
	struct list_head entry;
	struct pci_sysdata sysdata;
	struct pci_bus *bus;
};

/**
 * struct held - a function that is here
 * @entry:	in helds
 * @function:	bus << 8 | devfn
 * @config:	its configuration space
 * @dev:	the PCI core's
 */
struct held {
	struct list_head entry;
	u32 function;
	void __iomem *config;
	struct pci_dev *dev;
};

/*
 * Changed under the PCI core's lock for rescans.  A driver's access to its
 * configuration space goes through helds without it: by RCU, as others may come
 * and go; his own stays until his driver has gone.
 */
static LIST_HEAD(roots);
static LIST_HEAD(helds);

static struct held *held_find(u32 function)
{
	struct held *h;

	list_for_each_entry_rcu(h, &helds, entry, true)
		if (h->function == function)
			return h;
	return NULL;
}

/* --- configuration space */

static void __iomem *config_map(struct pci_bus *bus, unsigned int devfn,
				int where)
{
	void __iomem *at = NULL;
	struct held *h;

	rcu_read_lock();
	h = held_find(bus->number << 8 | devfn);
	if (h && where < CONFIG_SIZE)
		at = h->config + where;
	rcu_read_unlock();
	return at;
}

/* Without an interrupt pin, whatever the function says. */
static int config_read(struct pci_bus *bus, unsigned int devfn, int where,
		       int size, u32 *value)
{
	int err = pci_generic_config_read(bus, devfn, where, size, value);
	int at = PCI_INTERRUPT_PIN - where;

	if (!err && at >= 0 && at < size)
		*value &= ~(0xffu << 8 * at);
	return err;
}

static struct pci_ops config_ops = {
	.map_bus = config_map,
	.read = config_read,
	.write = pci_generic_config_write,
};

/* --- buses */

/* Windows are all there is: instance 0 has placed everything. */
static struct root *root_make(u32 number)
{
	struct root *r = kzalloc(sizeof(*r), GFP_KERNEL);
	LIST_HEAD(windows);

	if (!r)
		return NULL;
	pci_add_resource(&windows, &ioport_resource);
	pci_add_resource(&windows, &iomem_resource);
	r->bus = pci_create_root_bus(NULL, number, &config_ops, &r->sysdata,
				     &windows);
	if (!r->bus) {
		pci_free_resource_list(&windows);
		kfree(r);
		return NULL;
	}
	list_add(&r->entry, &roots);
	return r;
}

static struct root *root_get(u32 number)
{
	struct root *r;

	list_for_each_entry(r, &roots, entry)
		if (r->bus->number == number)
			return r;
	return root_make(number);
}

/* --- functions */

static bool is_as_said(struct pci_dev *dev, const struct mios_call_device *call)
{
	unsigned int i;

	for (i = 0; i < MIOS_DEVICE_BARS; i++)
		if (pci_resource_len(dev, i) != call->bar[i].size ||
		    (call->bar[i].size &&
		     pci_resource_start(dev, i) != call->bar[i].start))
			return false;
	return dev->hdr_type == PCI_HEADER_TYPE_NORMAL;
}

static int claim(struct pci_dev *dev)
{
	unsigned int i;
	int err;

	for (i = 0; i < MIOS_DEVICE_BARS; i++) {
		if (!pci_resource_len(dev, i))
			continue;
		err = pci_claim_resource(dev, i);
		if (err)
			return err;
	}
	return 0;
}

static void held_free(struct held *h)
{
	if (h->dev)
		pci_stop_and_remove_bus_device(h->dev);
	mios_devices_release(h->function);
	list_del_rcu(&h->entry);
	synchronize_rcu();
	iounmap(h->config);
	kfree(h);
}

static int held_add(struct held *h, const struct mios_call_device *call)
{
	struct root *r = root_get(h->function >> 8);
	int err;

	err = r ? mios_devices_hold(h->function) : -ENOMEM;
	if (err)
		return err;
	if (readl(h->config) != call->id)
		return -ENXIO;
	h->dev = pci_scan_single_device(r->bus, h->function & 0xff);
	if (!h->dev || !is_as_said(h->dev, call))
		return -ENXIO;
	err = claim(h->dev);
	if (err)
		return err;
	pci_bus_add_device(h->dev);
	return 0;
}

int mios_bus_give(const struct mios_call_device *call)
{
	struct held *h;
	int err;

	if (call->function > 0xffff || call->config & (CONFIG_SIZE - 1))
		return -EINVAL;
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (!h)
		return -ENOMEM;
	h->function = call->function;
	h->config = ioremap(call->config, CONFIG_SIZE);
	if (!h->config) {
		kfree(h);
		return -ENOMEM;
	}
	pci_lock_rescan_remove();
	if (held_find(call->function)) {
		err = -EEXIST;
		iounmap(h->config);
		kfree(h);
	} else {
		list_add_rcu(&h->entry, &helds);
		err = held_add(h, call);
		if (err)
			held_free(h);
	}
	pci_unlock_rescan_remove();
	return err;
}

int mios_bus_take(const struct mios_call_device *call)
{
	struct held *h;

	pci_lock_rescan_remove();
	h = held_find(call->function);
	if (h)
		held_free(h);
	pci_unlock_rescan_remove();
	return h ? 0 : -ENOENT;
}

/* Nothing was given, or instance 0 keeps the module. */
void mios_bus_exit(void)
{
	struct root *r, *next;

	pci_lock_rescan_remove();
	list_for_each_entry_safe(r, next, &roots, entry) {
		pci_stop_root_bus(r->bus);
		pci_remove_root_bus(r->bus);
		kfree(r);
	}
	pci_unlock_rescan_remove();
}
