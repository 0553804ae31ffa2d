// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_devices: on instance 0 a PCI driver that keeps functions for
 * others (give.c), on the others who takes them (bus.c).
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../core/link/link.h"
#include "devices.h"

/* On the others. */
static DEFINE_MUTEX(called_lock);	/* of these */
static u64 last_ticket;

static u32 own_incarnation(void)
{
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	u32 incarnation = 0;

	if (info && !mios_link_info(mios_link_self(), info))
		incarnation = info->incarnation;
	kfree(info);
	return incarnation;
}

/* Under called_lock. */
static int do_serve(const struct mios_call_device *call)
{
	int err;

	/* What was said before something that has been done is not done. */
	if (call->ticket <= last_ticket)
		return -ESTALE;
	last_ticket = call->ticket;
	switch (call->op) {
	case MIOS_DEVICE_GIVE:
		if (call->incarnation != own_incarnation())
			return -ESTALE;
		if (!try_module_get(THIS_MODULE))
			return -ENODEV;
		err = mios_bus_give(call);
		if (err)
			module_put(THIS_MODULE);
		return err;
	case MIOS_DEVICE_TAKE:
		err = mios_bus_take(call);
		if (!err)
			module_put(THIS_MODULE);
		return err;
	}
	return -EOPNOTSUPP;
}

/* What is to be done, by whom and when it is. */
struct service {
	struct work_struct work;
	struct completion done;
	const struct mios_call_device *call;
	int err;
};

static void serve_work(struct work_struct *work)
{
	struct service *s = container_of(work, struct service, work);

	mutex_lock(&called_lock);
	s->err = do_serve(s->call);
	mutex_unlock(&called_lock);
	complete(&s->done);
}

/*
 * Not by who serves calls: drivers wait for whatever they like, and he must not,
 * as memory is freed with his help.
 */
static int serve(const struct mios_call_device *call)
{
	struct service s = { .call = call };

	INIT_WORK_ONSTACK(&s.work, serve_work);
	init_completion(&s.done);
	queue_work(system_unbound_wq, &s.work);
	wait_for_completion(&s.done);
	destroy_work_on_stack(&s.work);
	return s.err;
}

static int called(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size)
{
	struct mios_call_device call;

	if (length != sizeof(call))
		return -EINVAL;
	if (instance)
		return -EPERM;
	memcpy(&call, data, sizeof(call));
	return serve(&call);
}

static const struct mios_callee callee = { .fn = called };

static int __init devices_init(void)
{
	if (!mios_link_self())
		return mios_give_init();
	return mios_callee_register(MIOS_CALL_DEVICE, &callee);
}

static void __exit devices_exit(void)
{
	if (!mios_link_self()) {
		mios_give_exit();
		return;
	}
	mios_callee_unregister(MIOS_CALL_DEVICE);
	mios_bus_exit();
}

module_init(devices_init);
module_exit(devices_exit);

MODULE_DESCRIPTION("PCI functions that instance 0 gives to other instances");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
