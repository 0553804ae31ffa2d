// SPDX-License-Identifier: GPL-2.0
/*
 * The module mios_swap: lends memory to other instances, and borrows theirs to
 * swap into.  Its parameters are how it is told to, and how it tells.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/sysfs.h>

#include "../inject/inject.h"
#include "../core/link/link.h"

#include "swap.h"

/* What was wished for on the command line, until there is somebody to ask. */
static bool ready;
static u64 lend_wish, size_wish;
static char backing_wish[128] = "none";

static int lend_set(const char *text, const struct kernel_param *kp)
{
	char *rest;
	u64 bytes = memparse(text, &rest);

	if (rest == text || (*rest && *rest != '\n'))
		return -EINVAL;
	if (ready)
		return mios_lend_set(bytes);
	lend_wish = bytes;
	return 0;
}

static int size_set(const char *text, const struct kernel_param *kp)
{
	char *rest;
	u64 bytes = memparse(text, &rest);

	if (rest == text || (*rest && *rest != '\n'))
		return -EINVAL;
	if (ready)
		return mios_borrow_set(bytes);
	size_wish = bytes;
	return 0;
}

static int backing_set(const char *text, const struct kernel_param *kp)
{
	char path[sizeof(backing_wish)];

	if (strscpy(path, text) < 0)
		return -ENAMETOOLONG;
	if (ready)
		return mios_borrow_backing(strim(path));
	strscpy(backing_wish, path);
	return 0;
}

static int backing_get(char *buf, const struct kernel_param *kp)
{
	return mios_borrow_backing_show(buf);
}

static int loans_get(char *buf, const struct kernel_param *kp)
{
	return mios_loans_show(buf);
}

static int lend_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", mios_lend_get());
}

static int size_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", mios_borrow_get());
}

static int used_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", mios_borrow_used());
}

static int lent_get(char *buf, const struct kernel_param *kp)
{
	return mios_lend_show(buf);
}

static int lenders_get(char *buf, const struct kernel_param *kp)
{
	return mios_borrow_show(buf);
}

static const struct kernel_param_ops lend_ops = {
	.set = lend_set, .get = lend_get,
};

static const struct kernel_param_ops size_ops = {
	.set = size_set, .get = size_get,
};

static const struct kernel_param_ops backing_ops = {
	.set = backing_set, .get = backing_get,
};

static const struct kernel_param_ops loans_ops = { .get = loans_get };
static const struct kernel_param_ops used_ops = { .get = used_get };
static const struct kernel_param_ops lent_ops = { .get = lent_get };
static const struct kernel_param_ops lenders_ops = { .get = lenders_get };

module_param_cb(lend, &lend_ops, NULL, 0644);
MODULE_PARM_DESC(lend, "bytes that this instance lends to others");
module_param_cb(size, &size_ops, NULL, 0644);
MODULE_PARM_DESC(size, "bytes of /dev/mios_swap, borrowed from others");
module_param_cb(backing, &backing_ops, NULL, 0644);
MODULE_PARM_DESC(backing, "block device that takes what no other lender has room for");
module_param_cb(loans, &loans_ops, NULL, 0444);
MODULE_PARM_DESC(loans, "all instances: lender, borrower, bytes, used, lost");
module_param_cb(used, &used_ops, NULL, 0444);
MODULE_PARM_DESC(used, "bytes of it that hold something");
module_param_cb(lent, &lent_ops, NULL, 0444);
MODULE_PARM_DESC(lent, "who has how many bytes of what this instance lends");
module_param_cb(lenders, &lenders_ops, NULL, 0444);
MODULE_PARM_DESC(lenders, "whose how many bytes are, and how many are lost");

MIOS_INJECT_VALUE(slow_give, "serve a GIVE so many milliseconds late");

static int called(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size)
{
	struct mios_call_loan call;
	struct mios_loan loan;
	int err;

	if (length != sizeof(call))
		return -EINVAL;
	memcpy(&call, data, sizeof(call));
	switch (call.op) {
	case MIOS_LOAN_TAKE:
		err = mios_lend_take(instance, incarnation, call.ticket, &loan);
		if (err)
			return err;
		memcpy(answer, &loan, sizeof(loan));
		*size = sizeof(loan);
		return 0;
	case MIOS_LOAN_GIVE:
		if (inject_slow_give)
			msleep(inject_slow_give);
		mios_lend_back(instance, incarnation, call.base, call.ticket);
		return 0;
	case MIOS_LOAN_FORGET:
		mios_lend_forget(instance, incarnation, call.ticket);
		return 0;
	case MIOS_LOAN_STOP:
		if (instance)
			return -EPERM;
		/* -EBUSY would be asked again. */
		return mios_lend_set(0) ? -ENOSPC : 0;
	case MIOS_LOAN_TELL:
		*size = mios_borrow_tell(answer) *
			sizeof(struct mios_loan_line);
		return 0;
	case MIOS_LOAN_RECALL:
		return mios_borrow_recall(instance, call.base, call.ticket);
	}
	return -EOPNOTSUPP;
}

static const struct mios_callee callee = { .fn = called };

static int event(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct mios_change *change = data;

	if (what != MIOS_EVENT_DEAD)
		return NOTIFY_DONE;
	/* What instance 0 has lent stays as it is: nobody else uses it. */
	if (change->instance)
		mios_borrow_dead(change->instance, change->incarnation);
	if (mios_devices_quiet(change->instance))
		mios_lend_dead(change->instance, change->incarnation);
	return NOTIFY_DONE;
}

static struct notifier_block event_nb = { .notifier_call = event };

/* In order: those that have borrowed here put it elsewhere, if they can. */
static int ending(struct notifier_block *nb, unsigned long how, void *data)
{
	mios_lend_set(0);
	return NOTIFY_DONE;
}

static struct notifier_block ending_nb = { .notifier_call = ending };

static int __init swap_init(void)
{
	int err = mios_borrow_init();

	if (err)
		return err;
	err = mios_link_register(&event_nb);
	if (err)
		goto borrow;
	err = mios_callee_register(MIOS_CALL_LOAN, &callee);
	if (err)
		goto event;
	err = register_reboot_notifier(&ending_nb);
	if (err)
		goto callee;
	ready = true;
	err = mios_borrow_backing(backing_wish);
	if (err)
		pr_warn("mios: %s is no place for what nobody lends for: %d\n",
			backing_wish, err);
	/* Without them it is there all the same, to be told again. */
	if (lend_wish && mios_lend_set(lend_wish))
		pr_warn("mios: %llu bytes are not idle here to be lent\n",
			lend_wish);
	if (size_wish && mios_borrow_set(size_wish))
		pr_warn("mios: nobody lends %llu bytes\n", size_wish);
	return 0;

callee:
	mios_callee_unregister(MIOS_CALL_LOAN);
event:
	mios_link_unregister(&event_nb);
borrow:
	mios_borrow_exit();
	return err;
}

/* Nobody has any of what is lent here: he would keep the module. */
static void __exit swap_exit(void)
{
	unregister_reboot_notifier(&ending_nb);
	mios_callee_unregister(MIOS_CALL_LOAN);
	mios_lend_set(0);
	mios_borrow_exit();
	mios_link_unregister(&event_nb);
}

module_init(swap_init);
module_exit(swap_exit);

MODULE_DESCRIPTION("Swap into memory that other instances lend");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(MIOS);
