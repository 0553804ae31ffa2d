// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_reglock: on instance 0 it waits for a device, on the others it
 * asks instance 0 where the register is.  And who is told of a death.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <uapi/linux/mios.h>

#include "../inject/inject.h"
#include "../core/link/link.h"
#include "reglock.h"

MIOS_INJECT_SWITCH(blind, "take the lock whatever the register says");
MIOS_INJECT_SWITCH(any_order, "attach who has detached since");

#define ASK_MS		5000
#define PAUSE_US	100
#define PATIENCE	1000	/* pauses: a tenth of a second */
#define AGAIN_MS	100

static DEFINE_MUTEX(reglock_lock);	/* of these, and of who recovers */
static struct mios_reglock reglock;
static bool begun;
static u32 due[MIOS_REGISTER_SEATS_MAX]; /* not recovered yet: epoch + 1 */

static void try_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(again, try_again);

u32 mios_reglock_first_seat(u32 instance)
{
	return instance * MIOS_REGISTER_EACH;
}

u32 mios_reglock_epoch(void)
{
	return reglock.kernel.epoch;
}

/* --- the register as the kernel has it */

static u32 register_read(void *ctx)
{
	u32 value = ioread32(reglock.page + reglock.place.at);

	return inject_blind ? 0 : value;
}

static void register_clear(void *ctx)
{
	iowrite32(0, reglock.page + reglock.place.at);
	/* A write may be on its way for long, but not beyond this. */
	ioread32(reglock.page + reglock.place.flush);
}

static void pause_a_bit(void *ctx, u64 *word, u64 value)
{
	usleep_range(PAUSE_US, 2 * PAUSE_US);
}

static const struct mios_register_ops ops = {
	.read = register_read, .clear = register_clear,
};

/* Of those who recover; who wants the lock waits as hwspinlocks do. */
static const struct mios_lock_wait wait = { .pause = pause_a_bit };

/* --- death */

static bool recover_due(u32 seat)
{
	u32 epoch = due[seat] - 1;

	if (!due[seat] ||
	    mios_register_recover(&reglock.kernel, seat, epoch) == -EAGAIN)
		return false;
	due[seat] = 0;
	return true;
}

static void try_again(struct work_struct *work)
{
	u32 mine = mios_reglock_first_seat(mios_link_self()), i;
	bool left = false;

	mutex_lock(&reglock_lock);
	for (i = 0; begun && i < reglock.kernel.nr_seats; i++) {
		if (recover_due(i) && i >= mine && i < mine + MIOS_REGISTER_EACH)
			mios_reglock_file_settled(i);
		left |= due[i];
	}
	mutex_unlock(&reglock_lock);
	if (left)
		queue_delayed_work(system_long_wq, &again,
				   msecs_to_jiffies(AGAIN_MS));
}

/**
 * mios_reglock_bury() - after a seat's death, or its end
 * @seat: which
 * @epoch: of its last user, who does nothing more
 *
 * -EAGAIN: it takes longer; mios_reglock_file_settled() tells of the own ones.
 */
int mios_reglock_bury(u32 seat, u32 epoch)
{
	int err = 0;

	mutex_lock(&reglock_lock);
	if (begun && seat < reglock.kernel.nr_seats) {
		due[seat] = epoch + 1;
		err = recover_due(seat) ? 0 : -EAGAIN;
	}
	mutex_unlock(&reglock_lock);
	if (err)
		queue_delayed_work(system_long_wq, &again,
				   msecs_to_jiffies(AGAIN_MS));
	return err;
}

/* --- who is there */

static u64 attached;		/* on instance 0: instances that map its words */
static DEFINE_MUTEX(attached_lock);

/* The last that each has said, in that boot; with attached_lock. */
static struct {
	u32 incarnation;
	u64 ticket;
} said_last[MIOS_AREA_INSTANCES];

/* Not what was said before something that has been done since. */
static bool is_old(u32 instance, u32 incarnation, u64 ticket)
{
	bool old = incarnation == said_last[instance].incarnation &&
		   ticket <= said_last[instance].ticket;

	if (old)
		return true;
	said_last[instance].incarnation = incarnation;
	said_last[instance].ticket = ticket;
	return false;
}

/* The module stays, and so the words, while somebody has them. */
static int attach(u32 instance, u32 incarnation, u64 ticket, bool yes)
{
	int err = 0;

	mutex_lock(&attached_lock);
	if (is_old(instance, incarnation, ticket) && !inject_any_order) {
		mutex_unlock(&attached_lock);
		return -ESTALE;
	}
	if (yes && !attached && !try_module_get(THIS_MODULE))
		err = -ENODEV;
	if (!yes && attached == BIT_ULL(instance))
		module_put(THIS_MODULE);
	if (!err && yes)
		attached |= BIT_ULL(instance);
	else
		attached &= ~BIT_ULL(instance);
	mutex_unlock(&attached_lock);
	return err;
}

static int called(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size)
{
	struct mios_register_place place;
	struct mios_call_register call;
	int err;

	if (length != sizeof(call) || instance >= MIOS_AREA_INSTANCES)
		return -EINVAL;
	memcpy(&call, data, sizeof(call));
	if (call.version != MIOS_REGISTER_VERSION)
		return -EPROTO;
	if (call.op == MIOS_REGISTER_DETACH)
		return attach(instance, incarnation, call.ticket, false);
	if (call.op != MIOS_REGISTER_ATTACH)
		return -EOPNOTSUPP;
	err = mios_reglock_device_place(&place);
	if (!err)
		err = attach(instance, incarnation, call.ticket, true);
	if (err)
		return err;
	memcpy(answer, &place, sizeof(place));
	*size = sizeof(place);
	return 0;
}

static const struct mios_callee callee = { .fn = called };

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct mios_change *change = data;
	u32 first = mios_reglock_first_seat(change->instance), i;

	if (what != MIOS_EVENT_DEAD)
		return NOTIFY_DONE;
	for (i = 0; i < MIOS_REGISTER_EACH; i++)
		mios_reglock_bury(first + i, change->incarnation);
	if (!mios_link_self())
		attach(change->instance, change->incarnation, U64_MAX, false);
	return NOTIFY_DONE;
}

static struct notifier_block event_nb = { .notifier_call = event };

/* --- begin and end */

static int own_incarnation(u32 *incarnation)
{
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	int err;

	if (!info)
		return -ENOMEM;
	err = mios_link_info(mios_link_self(), info);
	*incarnation = info->incarnation;
	kfree(info);
	return err;
}

static int view_begin(void)
{
	u32 incarnation;
	int err = own_incarnation(&incarnation);

	if (err)
		return err;
	err = mios_register_attach(&reglock.kernel, reglock.words,
				   reglock.place.size,
				   mios_reglock_first_seat(mios_link_self()),
				   incarnation);
	reglock.kernel.ops = &ops;
	reglock.kernel.wait = &wait;
	reglock.kernel.patience = PATIENCE;
	return err;
}

static int faces_begin(void)
{
	int err = mios_reglock_bank_begin(&reglock);

	if (err)
		return err;
	err = mios_reglock_file_begin(&reglock);
	if (err)
		mios_reglock_bank_end();
	return err;
}

static void set_begun(bool yes)
{
	mutex_lock(&reglock_lock);
	begun = yes;
	mutex_unlock(&reglock_lock);
}

/**
 * mios_reglock_begin() - the register can be used here from now on
 * @place: where it is, checked
 * @words: what is beside it, mapped
 */
int mios_reglock_begin(const struct mios_register_place *place, void *words)
{
	int err;

	reglock.place = *place;
	reglock.words = words;
	reglock.page = ioremap(place->page, PAGE_SIZE);
	if (!reglock.page)
		return -ENOMEM;
	err = view_begin();
	if (err)
		goto unmap;
	set_begun(true);
	err = faces_begin();
	if (!err)
		return 0;
	set_begun(false);
unmap:
	iounmap(reglock.page);
	return err;
}

void mios_reglock_end(void)
{
	mios_reglock_file_end();
	mios_reglock_bank_end();
	set_begun(false);
	iounmap(reglock.page);
}

/* Neither is RAM of this kernel: what is said of it is not believed. */
static bool no_ram(u64 at, u64 size)
{
	return PAGE_ALIGNED(at) && PAGE_ALIGNED(size) && size && at &&
	       at + size > at &&
	       region_intersects(at, size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_DISJOINT;
}

static bool place_ok(const struct mios_register_place *place)
{
	return no_ram(place->page, PAGE_SIZE) &&
	       no_ram(place->words, place->size) &&
	       place->size <= PAGE_ALIGN(mios_register_size(MIOS_REGISTER_SEATS_MAX)) &&
	       place->at <= PAGE_SIZE - 4 && place->at % 4 == 0 &&
	       place->flush <= PAGE_SIZE - 4 && place->flush % 4 == 0;
}

static int tell(u32 op, struct mios_register_place *place)
{
	const struct mios_call_register call = {
		.op = op, .version = MIOS_REGISTER_VERSION,
		.ticket = ktime_get_boottime_ns(),
	};

	return mios_call(0, MIOS_CALL_REGISTER, &call, sizeof(call), place,
			 place ? sizeof(*place) : 0, ASK_MS);
}

static int member_begin(void)
{
	struct mios_register_place place;
	int err = tell(MIOS_REGISTER_ATTACH, &place);
	void *words;

	if (err >= 0 && (err != sizeof(place) || !place_ok(&place))) {
		pr_err("instance 0 names a register that cannot be one\n");
		err = -EPROTO;
	}
	if (err < 0)
		goto detach;
	words = mios_memory_map(place.words, place.size);
	err = PTR_ERR_OR_ZERO(words);
	if (err)
		goto detach;
	err = mios_reglock_begin(&place, words);
	if (!err)
		return 0;
	memunmap(words);
detach:
	/* An answer that was late is none, but he has counted this one. */
	tell(MIOS_REGISTER_DETACH, NULL);
	return err;
}

static void member_end(void)
{
	mios_reglock_end();
	memunmap(reglock.words);
	tell(MIOS_REGISTER_DETACH, NULL);
}

static int __init reglock_init(void)
{
	bool host = !mios_link_self();
	int err = mios_link_register(&event_nb);

	if (err)
		return err;
	if (host)
		err = mios_callee_register(MIOS_CALL_REGISTER, &callee);
	if (err)
		goto event;
	err = host ? mios_reglock_device_init() : member_begin();
	if (!err)
		return 0;
	if (host)
		mios_callee_unregister(MIOS_CALL_REGISTER);
event:
	mios_link_unregister(&event_nb);
	return err;
}

static void __exit reglock_exit(void)
{
	if (!mios_link_self()) {
		mios_callee_unregister(MIOS_CALL_REGISTER);
		mios_reglock_device_exit();
	} else {
		member_end();
	}
	mios_link_unregister(&event_nb);
	cancel_delayed_work_sync(&again);
}

module_init(reglock_init);
module_exit(reglock_exit);

MODULE_DESCRIPTION("A device's register as a lock for all instances");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
