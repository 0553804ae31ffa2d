// SPDX-License-Identifier: GPL-2.0
/*
 * The terminal of a child: /dev/hvc0, whose other end is whichever instance
 * has attached.  Called by the hvc driver, with its lock held and interrupts
 * off, also for a kernel message; and by the link when something arrives.
 *
 * Output never waits: without an attached instance it is dropped; with a full
 * channel the terminal keeps it (and a kernel message is cut).  Nothing here
 * prints, so nothing recurses.  Input has a window: whoever types is told how
 * much has been taken, and waits with more.
 */
#include <linux/err.h>
#include <linux/kfifo.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

#include <hvc_console.h>

#include "console.h"

#define TERMINAL_ID	0x4d494f53	/* "MIOS" */
#define OUTPUT_BUFFER	1024
#define TELL_EVERY	(MIOS_CONSOLE_WINDOW / 4)

/*
 * All are guarded by terminal_lock.  @who: 0xffffffff: nobody; @taken: bytes
 * of their input that the hvc driver has, @told: what they know of that.
 */
static DEFINE_SPINLOCK(terminal_lock);
static u32 who = MIOS_NO_INSTANCE;
static u32 who_incarnation;
static u32 taken, told;
static DEFINE_KFIFO(input, u8, MIOS_CONSOLE_WINDOW);

static struct hvc_struct *terminal;

/*
 * Tell whoever types; with a full channel the driver's next look does.  The
 * channel's lock is not taken within ours, which those who receive take.
 */
static void tell_taken(u32 instance, u32 bytes)
{
	struct mios_msg_taken message = { .bytes = bytes };
	unsigned long flags;

	if (mios_send(instance, MIOS_MSG_CONSOLE_TAKEN, &message,
		      sizeof(message)))
		return;
	spin_lock_irqsave(&terminal_lock, flags);
	told = bytes;
	spin_unlock_irqrestore(&terminal_lock, flags);
}

static ssize_t terminal_get(u32 id, u8 *to, size_t count)
{
	u32 instance, bytes;
	unsigned long flags;
	bool owed;

	spin_lock_irqsave(&terminal_lock, flags);
	count = kfifo_out(&input, to, count);
	taken += count;
	bytes = taken;
	instance = who;
	owed = who != MIOS_NO_INSTANCE && taken != told &&
	       (taken - told >= TELL_EVERY || kfifo_is_empty(&input));
	spin_unlock_irqrestore(&terminal_lock, flags);
	if (owed)
		tell_taken(instance, bytes);
	return count;
}

static void detach(u32 instance)
{
	unsigned long flags;

	spin_lock_irqsave(&terminal_lock, flags);
	if (who == instance)
		who = MIOS_NO_INSTANCE;
	spin_unlock_irqrestore(&terminal_lock, flags);
}

/* Bytes taken; 0: come again, there is no room in the channel. */
static ssize_t terminal_put(u32 id, const u8 *from, size_t count)
{
	u32 to = READ_ONCE(who);
	size_t part, sent = 0;
	int err;

	/* A CPU that a panic has stopped may hold the channel's lock. */
	if (to == MIOS_NO_INSTANCE || oops_in_progress)
		return count;
	while (sent < count) {
		part = min_t(size_t, count - sent, MIOS_CONSOLE_MAX);
		err = mios_send(to, MIOS_MSG_CONSOLE_OUTPUT, from + sent, part);
		if (err == -EAGAIN)
			break;
		if (err) {
			detach(to);
			return count;
		}
		sent += part;
	}
	return sent;
}

static const struct hv_ops terminal_ops = {
	.get_chars = terminal_get,
	.put_chars = terminal_put,
};

/* The same instance may attach again: its last goodbye may have been lost. */
static void attach_message(void *ctx, u32 instance, u32 incarnation,
			   const void *data, u32 length)
{
	struct mios_msg_status status = {};
	unsigned long flags;

	spin_lock_irqsave(&terminal_lock, flags);
	if (who == MIOS_NO_INSTANCE || who == instance) {
		WRITE_ONCE(who, instance);
		who_incarnation = incarnation;
		/* What somebody else has typed is not theirs. */
		kfifo_reset(&input);
		taken = 0;
		told = 0;
	} else {
		status.error = -EBUSY;
	}
	spin_unlock_irqrestore(&terminal_lock, flags);
	mios_send(instance, MIOS_MSG_CONSOLE_STATUS, &status, sizeof(status));
	hvc_kick();
}

static void detach_message(void *ctx, u32 instance, u32 incarnation,
			   const void *data, u32 length)
{
	detach(instance);
	hvc_kick();
}

static void input_message(void *ctx, u32 instance, u32 incarnation,
			  const void *data, u32 length)
{
	unsigned long flags;

	spin_lock_irqsave(&terminal_lock, flags);
	/* One who does not heed the window loses what is beyond it. */
	if (who == instance)
		kfifo_in(&input, (const u8 *)data, length);
	spin_unlock_irqrestore(&terminal_lock, flags);
	hvc_kick();
}

void mios_terminal_left(u32 instance, u32 incarnation)
{
	unsigned long flags;

	spin_lock_irqsave(&terminal_lock, flags);
	if (who == instance && who_incarnation == incarnation)
		who = MIOS_NO_INSTANCE;
	spin_unlock_irqrestore(&terminal_lock, flags);
}

static const struct mios_handler attach_handler = { .fn = attach_message };
static const struct mios_handler detach_handler = { .fn = detach_message };
static const struct mios_handler input_handler = { .fn = input_message };

int mios_terminal_init(void)
{
	int err;

	terminal = hvc_alloc(TERMINAL_ID, 0, &terminal_ops, OUTPUT_BUFFER);
	if (IS_ERR(terminal))
		return PTR_ERR(terminal);
	err = mios_handler_register(MIOS_MSG_CONSOLE_INPUT, &input_handler);
	if (err)
		goto hvc;
	err = mios_handler_register(MIOS_MSG_CONSOLE_DETACH, &detach_handler);
	if (err)
		goto input;
	err = mios_handler_register(MIOS_MSG_CONSOLE_ATTACH, &attach_handler);
	if (err)
		goto detach;
	return 0;

detach:
	mios_handler_unregister(MIOS_MSG_CONSOLE_DETACH);
input:
	mios_handler_unregister(MIOS_MSG_CONSOLE_INPUT);
hvc:
	hvc_remove(terminal);
	return err;
}

void mios_terminal_exit(void)
{
	mios_handler_unregister(MIOS_MSG_CONSOLE_ATTACH);
	mios_handler_unregister(MIOS_MSG_CONSOLE_DETACH);
	mios_handler_unregister(MIOS_MSG_CONSOLE_INPUT);
	hvc_remove(terminal);
}
