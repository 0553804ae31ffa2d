// SPDX-License-Identifier: GPL-2.0
/*
 * Instance 0's side: a PCI driver that takes what somebody tells it to
 * (driver_override), has the function reset, and keeps it.  An attribute of the
 * device, mios_instance, says whose it is, 0: nobody's, and gives it away.
 *
 * Whoever had it, no page is used again before it is quiet: bus mastering off,
 * read back, nothing on its way, and reset.  That is part of the fence of an
 * instance, as its CPUs are.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/acpi.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <uapi/linux/mios.h>

#include "../core/end/given.h"
#include "../core/link/link.h"
#include "../inject/inject.h"
#include "devices.h"

/* A driver may take its time to find a device, and to let go of it. */
#define GIVE_MS		30000
#define ECAM_SHIFT	20	/* of a bus, in its segment's configuration space */

MIOS_INJECT_SWITCH(leave_on, "leave what a dead instance was given as it is");

/**
 * struct given - a function that this driver has
 * @entry:	in given_list
 * @dev:	the function
 * @clean:	its configuration as it is given
 * @config:	physical address of its configuration space
 * @window:	what it reaches by the IOMMU; under given_lock
 * @instance:	whose it is, or may be; 0: nobody's
 */
struct given {
	struct list_head entry;
	struct pci_dev *dev;
	struct pci_saved_state *clean;
	u64 config;
	struct iommu_domain *window;
	u32 instance;
};

/* Not held while another instance is asked: the fence takes it. */
static DEFINE_MUTEX(given_lock);
static LIST_HEAD(given_list);	/* under given_lock, and so each one's instance */
static DEFINE_MUTEX(ask_lock);	/* tickets arrive in their order */

/* --- what can be given */

/* Where the firmware says (MCFG) that a bus of segment 0 has its pages; or 0. */
static u64 config_page(const struct pci_dev *dev)
{
	const struct acpi_mcfg_allocation *area;
	struct acpi_table_header *table;
	u32 nr = dev->bus->number;
	u64 page = 0;
	size_t at;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_MCFG, 0, &table)))
		return 0;
	for (at = sizeof(struct acpi_table_mcfg);
	     at + sizeof(*area) <= table->length; at += sizeof(*area)) {
		area = (const void *)table + at;
		if (!area->pci_segment && nr >= area->start_bus_number &&
		    nr <= area->end_bus_number)
			page = area->address + ((u64)nr << ECAM_SHIFT) +
			       dev->devfn * PAGE_SIZE;
	}
	acpi_put_table(table);
	return page;
}

static bool has_flr(struct pci_dev *dev)
{
	u32 cap = 0;

	pcie_capability_read_dword(dev, PCI_EXP_DEVCAP, &cap);
	return cap & PCI_EXP_DEVCAP_FLR;
}

/* Behind a port of its own, which can reset it. */
static bool is_alone(const struct pci_dev *dev)
{
	return dev->bus->self && list_is_singular(&dev->bus->devices);
}

/* NULL: it can be given; else why not. */
static const char *refusal(struct pci_dev *dev)
{
	if (dev->hdr_type != PCI_HEADER_TYPE_NORMAL)
		return "it is a bridge";
	if (pci_domain_nr(dev->bus))
		return "it is not in segment 0";
	if (dev->is_virtfn)
		return "virtual functions cannot be given yet";
	if (!dev->msix_cap)
		return "it has no MSI-X, and an instance no other interrupts";
	if (!has_flr(dev) && !is_alone(dev))
		return "it has no reset of its own (FLR), nor a slot of its own";
	if (!config_page(dev))
		return "the firmware says nothing about its configuration space (MCFG)";
	return mios_iommu_refusal(dev);
}

/* An address is written there, and what stands in the way is read: or nothing. */
static char checked[128];
static DEFINE_MUTEX(checked_lock);

static ssize_t check_store(struct device_driver *driver, const char *buf,
			   size_t count)
{
	unsigned int segment, bus, slot, function;
	struct pci_dev *dev;
	const char *why;

	if (sscanf(buf, "%x:%x:%x.%x", &segment, &bus, &slot, &function) != 4)
		return -EINVAL;
	dev = pci_get_domain_bus_and_slot(segment, bus,
					  PCI_DEVFN(slot, function));
	if (!dev)
		return -ENODEV;
	why = refusal(dev);
	mutex_lock(&checked_lock);
	snprintf(checked, sizeof(checked), "%s %s", pci_name(dev), why ?: "");
	mutex_unlock(&checked_lock);
	pci_dev_put(dev);
	return why ? -EOPNOTSUPP : count;
}

static ssize_t check_show(struct device_driver *driver, char *buf)
{
	ssize_t len;

	mutex_lock(&checked_lock);
	len = sysfs_emit(buf, "%s\n", checked);
	mutex_unlock(&checked_lock);
	return len;
}

static DRIVER_ATTR_RW(check);

static struct attribute *driver_attrs[] = {
	&driver_attr_check.attr,
	NULL
};
ATTRIBUTE_GROUPS(driver);

/* --- making it quiet */

/* Instance 0's reading of it: what is written to memory is before the answer. */
static bool is_off(struct pci_dev *dev)
{
	u16 command;

	pci_read_config_word(dev, PCI_COMMAND, &command);
	return command != 0xffff && !(command & PCI_COMMAND_MASTER);
}

/*
 * Other ways than these two (power states) leave some devices as they are, and
 * say nothing.  Under the device's lock.
 */
static int reset_locked(struct pci_dev *dev)
{
	int err;

	pci_cfg_access_lock(dev);
	pci_save_state(dev);
	err = has_flr(dev) ? pcie_reset_flr(dev, PCI_RESET_DO_RESET) :
	      pci_bridge_secondary_bus_reset(dev->bus->self);
	pci_restore_state(dev);
	pci_cfg_access_unlock(dev);
	return err;
}

/* @locked: the PCI core holds the device's lock. */
static int reset(struct pci_dev *dev, bool locked)
{
	int err;

	if (!locked && !device_trylock(&dev->dev))
		return -EAGAIN;
	err = reset_locked(dev);
	if (!locked)
		device_unlock(&dev->dev);
	return err;
}

/*
 * Whatever a dead kernel has left there.  -EAGAIN: somebody else is at the
 * device; -EIO: it may still write.
 */
static int quieten(struct given *g, bool locked)
{
	struct pci_dev *dev = g->dev;
	int err;

	mios_iommu_close(dev, &g->window);
	pci_clear_master(dev);
	if (!is_off(dev))
		return -EIO;
	if (!pci_wait_for_pending_transaction(dev))
		pci_warn(dev, "mios: it waits for answers of the memory\n");
	err = reset(dev, locked);
	if (!err)
		err = pci_load_saved_state(dev, g->clean);
	if (err)
		return err;
	pci_restore_state(dev);
	return is_off(dev) ? 0 : -EIO;
}

/* Part of the fence: 0 when none of what the instance had writes any more. */
static int quiet_all(u32 instance)
{
	struct given *g;
	int err = 0, ret;

	if (inject_leave_on)
		return 0;
	mutex_lock(&given_lock);
	list_for_each_entry(g, &given_list, entry) {
		if (g->instance != instance)
			continue;
		ret = quieten(g, false);
		if (ret) {
			dev_err_ratelimited(&g->dev->dev,
					    "mios: it may still write to memory of instance %u, which stays as it is: %d\n",
					    instance, ret);
			err = -EIO;
			continue;
		}
		g->instance = 0;
		pci_info(g->dev, "mios: quiet, and instance 0's again\n");
	}
	mutex_unlock(&given_lock);
	return err;
}

/* --- giving and taking */

/* @incarnation: out, if it is not NULL */
static enum mios_state state_of(u32 instance, u32 *incarnation)
{
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	enum mios_state state = MIOS_STATE_STOPPING;

	if (info && !mios_link_info(instance, info)) {
		state = info->state;
		if (incarnation)
			*incarnation = info->incarnation;
	}
	kfree(info);
	return state;
}

/* Its CPUs have been stopped: what it was told it does not do any more. */
static bool is_fenced(u32 instance)
{
	switch (state_of(instance, NULL)) {
	case MIOS_STATE_DOWN:
	case MIOS_STATE_DEAD:
	case MIOS_STATE_HELD:
		return true;
	default:
		return false;
	}
}

/* @incarnation: to whom it is given; what is taken is anybody's */
static int ask(struct given *g, u32 instance, u32 incarnation, u32 op)
{
	struct mios_call_device call = {
		.config = g->config,
		.op = op,
		.function = pci_dev_id(g->dev),
		.id = g->dev->vendor | g->dev->device << 16,
		.incarnation = incarnation,
	};
	unsigned int i;
	int ret;

	for (i = 0; i < MIOS_DEVICE_BARS; i++) {
		call.bar[i].start = pci_resource_start(g->dev, i);
		call.bar[i].size = pci_resource_len(g->dev, i);
	}
	mutex_lock(&ask_lock);
	call.ticket = ktime_get_boottime_ns();
	ret = mios_call(instance, MIOS_CALL_DEVICE, &call, sizeof(call), NULL,
			0, GIVE_MS);
	mutex_unlock(&ask_lock);
	return min(ret, 0);
}

/* If it is nobody else's. */
static int pass(struct given *g, u32 to)
{
	struct iommu_domain *window = mios_iommu_window(g->dev, to);
	int err = -EBUSY;

	if (IS_ERR(window))
		return PTR_ERR(window);
	mutex_lock(&given_lock);
	if (!g->instance)
		err = mios_iommu_open(g->dev, window);
	if (!err) {
		g->instance = to;
		g->window = window;
	}
	mutex_unlock(&given_lock);
	if (err)
		mios_iommu_free(window);
	return err;
}

static int take(struct given *g, u32 instance)
{
	int err = ask(g, instance, 0, MIOS_DEVICE_TAKE);

	/* Never there, or not any more. */
	if (err && err != -ENOENT && !is_fenced(instance))
		return err;
	err = 0;
	mutex_lock(&given_lock);
	if (g->instance == instance) {
		err = quieten(g, false);
		if (!err)
			g->instance = 0;
	}
	mutex_unlock(&given_lock);
	return err;
}

/*
 * It is his before he knows: if he dies meanwhile it is made quiet.  The one who
 * comes after him does not take it: the fence has been there already.
 */
static int give(struct given *g, u32 instance)
{
	u32 incarnation;
	int err;

	if (state_of(instance, &incarnation) != MIOS_STATE_UP)
		return -ENOTCONN;
	err = pass(g, instance);
	if (err)
		return err;
	err = ask(g, instance, incarnation, MIOS_DEVICE_GIVE);
	if (err)
		/* He may have it all the same: then it stays his. */
		take(g, instance);
	return err;
}

static ssize_t mios_instance_show(struct device *dev,
				  struct device_attribute *attr, char *buf)
{
	struct given *g = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", READ_ONCE(g->instance));
}

static ssize_t mios_instance_store(struct device *dev,
				   struct device_attribute *attr,
				   const char *buf, size_t count)
{
	struct given *g = dev_get_drvdata(dev);
	u32 instance, now = READ_ONCE(g->instance);
	int err = kstrtou32(buf, 0, &instance);

	if (err || instance >= mios_link_nr())
		return err ?: -EINVAL;
	if (instance)
		err = give(g, instance);
	else if (now)
		err = take(g, now);
	return err ?: count;
}

static DEVICE_ATTR_RW(mios_instance);

static struct attribute *given_attrs[] = {
	&dev_attr_mios_instance.attr,
	NULL
};
ATTRIBUTE_GROUPS(given);

/* --- the driver */

static int probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	struct given *g;
	int err;

	if (refusal(dev))
		return -EOPNOTSUPP;
	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->dev = dev;
	g->config = config_page(dev);
	err = mios_iommu_claim(dev);
	if (err)
		goto free;
	pci_clear_master(dev);
	err = reset(dev, true);
	if (err)
		goto release;
	pci_save_state(dev);
	g->clean = pci_store_saved_state(dev);
	err = -ENOMEM;
	if (!g->clean)
		goto release;
	pci_set_drvdata(dev, g);
	mutex_lock(&given_lock);
	list_add(&g->entry, &given_list);
	mutex_unlock(&given_lock);
	return 0;
release:
	mios_iommu_release(dev);
free:
	kfree(g);
	return err;
}

/* Who unbinds it by hand has it taken away from whose it is, ready or not. */
static void remove(struct pci_dev *dev)
{
	struct given *g = pci_get_drvdata(dev);
	u32 instance = READ_ONCE(g->instance);

	if (instance && ask(g, instance, 0, MIOS_DEVICE_TAKE))
		pci_warn(dev, "mios: taken from instance %u, which has not let go of it\n",
			 instance);
	mutex_lock(&given_lock);
	list_del(&g->entry);
	mutex_unlock(&given_lock);
	if (quieten(g, true))
		pci_err(dev, "mios: it cannot be made quiet: leave it alone until the machine is reset\n");
	mios_iommu_release(dev);
	kfree(g->clean);
	kfree(g);
}

static struct pci_driver give_driver = {
	.name = "mios_devices",
	.probe = probe,
	.remove = remove,
	.groups = driver_groups,
	.dev_groups = given_groups,
	.driver_managed_dma = true,
};

int mios_give_init(void)
{
	int err;

	/* Nothing is anybody's before the fence knows. */
	mios_fence_register(quiet_all);
	err = pci_register_driver(&give_driver);
	if (err)
		mios_fence_register(NULL);
	return err;
}

void mios_give_exit(void)
{
	pci_unregister_driver(&give_driver);
	mios_fence_register(NULL);
}
