// SPDX-License-Identifier: GPL-2.0
/*
 * The other end of a terminal: a file that reads what an instance's console
 * prints and sends what is typed.  One at a time for each instance.  Opened
 * by /dev/mios (MIOS_IOC_CONSOLE); fed by the link in softirq context.
 *
 * table_lock guards the table and every attachment in it; one whose instance
 * is gone stands there no more.  What nobody reads is dropped when the buffer
 * is full, the newest first.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kfifo.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "console.h"

#define BUFFER_SIZE	65536
#define STATUS_TIMEOUT	(HZ * 15)
#define SEND_TIMEOUT_MS	1000
#define SEND_SLICE_MS	100	/* between two looks for a signal */

/**
 * struct attachment - an open file
 * @instance, @incarnation: whose console it is
 * @status:	1: no answer yet, else 0 or -errno; @dead: the instance is gone
 * @sent, @taken: bytes of input, ours and what its terminal has taken of it
 * @output:	what it has printed and nobody has read
 * @wait:	readers, writers, and the opener
 * @read_lock:	one reader at a time
 */
struct attachment {
	u32 instance;
	u32 incarnation;
	int status;
	bool dead;
	u32 sent;
	u32 taken;
	DECLARE_KFIFO_PTR(output, u8);
	wait_queue_head_t wait;
	struct mutex read_lock; /* taking from output */
};

static DEFINE_SPINLOCK(table_lock);
static struct attachment *table[MIOS_MAX_INSTANCES];

static void output_message(void *ctx, u32 instance, u32 incarnation,
			   const void *data, u32 length)
{
	struct attachment *a;

	spin_lock_bh(&table_lock);
	a = table[instance];
	if (a && a->incarnation == incarnation) {
		kfifo_in(&a->output, (const u8 *)data, length);
		wake_up_interruptible(&a->wait);
	}
	spin_unlock_bh(&table_lock);
}

static void status_message(void *ctx, u32 instance, u32 incarnation,
			   const void *data, u32 length)
{
	struct mios_msg_status status;
	struct attachment *a;

	if (length != sizeof(status))
		return;
	memcpy(&status, data, sizeof(status));
	spin_lock_bh(&table_lock);
	a = table[instance];
	if (a && a->incarnation == incarnation) {
		a->status = status.error ? -EBUSY : 0;
		wake_up_interruptible(&a->wait);
	}
	spin_unlock_bh(&table_lock);
}

/* A word to somebody attached before fits nothing that we have sent. */
static void taken_message(void *ctx, u32 instance, u32 incarnation,
			  const void *data, u32 length)
{
	struct mios_msg_taken taken;
	struct attachment *a;

	if (length != sizeof(taken))
		return;
	memcpy(&taken, data, sizeof(taken));
	spin_lock_bh(&table_lock);
	a = table[instance];
	if (a && a->incarnation == incarnation &&
	    a->sent - taken.bytes <= MIOS_CONSOLE_WINDOW) {
		WRITE_ONCE(a->taken, taken.bytes);
		wake_up_interruptible(&a->wait);
	}
	spin_unlock_bh(&table_lock);
}

void mios_attach_left(u32 instance, u32 incarnation)
{
	struct attachment *a;

	spin_lock_bh(&table_lock);
	a = table[instance];
	if (a && a->incarnation == incarnation) {
		/* Its next incarnation may be attached to at once. */
		table[instance] = NULL;
		WRITE_ONCE(a->dead, true);
		wake_up_interruptible(&a->wait);
	}
	spin_unlock_bh(&table_lock);
}

static ssize_t attach_read(struct file *file, char __user *buf, size_t size,
			   loff_t *pos)
{
	struct attachment *a = file->private_data;
	unsigned int copied = 0;
	int err = 0;

	while (size && !copied && !err) {
		mutex_lock(&a->read_lock);
		err = kfifo_to_user(&a->output, buf, size, &copied);
		mutex_unlock(&a->read_lock);
		if (copied || err || READ_ONCE(a->dead))
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(a->wait,
					       !kfifo_is_empty(&a->output) ||
					       READ_ONCE(a->dead));
	}
	return copied ?: err;
}

static int channel_send(struct attachment *a, const u8 *part, size_t length,
			bool wait)
{
	int err;

	do {
		if (READ_ONCE(a->dead))
			return -EIO;
		if (signal_pending(current))
			return -ERESTARTSYS;
		err = wait ? mios_send_wait(a->instance,
					    MIOS_MSG_CONSOLE_INPUT, part,
					    length, SEND_SLICE_MS) :
			     mios_send(a->instance, MIOS_MSG_CONSOLE_INPUT,
				       part, length);
	} while (err == -ETIMEDOUT);
	return err;
}

static bool has_room(const struct attachment *a)
{
	return READ_ONCE(a->sent) - READ_ONCE(a->taken) < MIOS_CONSOLE_WINDOW;
}

/* How many bytes of the window one of several writers gets. */
static size_t take_room(struct attachment *a, size_t length)
{
	spin_lock_bh(&table_lock);
	if (has_room(a))
		length = min_t(size_t, length, MIOS_CONSOLE_WINDOW -
			       (a->sent - a->taken));
	else
		length = 0;
	WRITE_ONCE(a->sent, a->sent + length);
	spin_unlock_bh(&table_lock);
	return length;
}

static void give_room(struct attachment *a, size_t length)
{
	spin_lock_bh(&table_lock);
	WRITE_ONCE(a->sent, a->sent - length);
	spin_unlock_bh(&table_lock);
	wake_up_interruptible(&a->wait);
}

/*
 * Wait for room in the window, and in the channel; not on after a signal.
 * How much of it was sent, or -errno.
 */
static ssize_t part_send(struct attachment *a, const u8 *part, size_t length,
			 bool wait)
{
	size_t room;
	int err;

	while (!(room = take_room(a, length))) {
		if (!wait)
			return -EAGAIN;
		err = wait_event_interruptible(a->wait, has_room(a) ||
					       READ_ONCE(a->dead));
		if (err)
			return err;
		if (READ_ONCE(a->dead))
			return -EIO;
	}
	err = channel_send(a, part, room, wait);
	if (!err)
		return room;
	give_room(a, room);
	return err;
}

/* What was sent before an error counts; the error comes back at once. */
static ssize_t attach_write(struct file *file, const char __user *buf,
			    size_t size, loff_t *pos)
{
	struct attachment *a = file->private_data;
	u8 part[MIOS_CONSOLE_MAX];
	size_t sent = 0, length;
	ssize_t done = 0;

	while (sent < size && done >= 0) {
		length = min_t(size_t, size - sent, sizeof(part));
		if (copy_from_user(part, buf + sent, length))
			done = -EFAULT;
		else
			done = part_send(a, part, length,
					 !(file->f_flags & O_NONBLOCK));
		if (done > 0)
			sent += done;
	}
	return sent ?: done;
}

static __poll_t attach_poll(struct file *file, poll_table *wait)
{
	struct attachment *a = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &a->wait, wait);
	if (has_room(a))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (!kfifo_is_empty(&a->output))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(a->dead))
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	return mask;
}

static void attach_free(struct attachment *a)
{
	spin_lock_bh(&table_lock);
	if (table[a->instance] == a)
		table[a->instance] = NULL;
	spin_unlock_bh(&table_lock);
	kfifo_free(&a->output);
	kfree(a);
}

/* Also after an attachment that failed: the question may have arrived. */
static void attach_end(struct attachment *a)
{
	if (!READ_ONCE(a->dead))
		mios_send_wait(a->instance, MIOS_MSG_CONSOLE_DETACH, NULL, 0,
			       SEND_TIMEOUT_MS);
	attach_free(a);
}

static int attach_release(struct inode *inode, struct file *file)
{
	attach_end(file->private_data);
	return 0;
}

static const struct file_operations attach_fops = {
	.owner = THIS_MODULE,
	.read = attach_read,
	.write = attach_write,
	.poll = attach_poll,
	.release = attach_release,
};

static struct attachment *attach_make(u32 instance, u32 incarnation)
{
	struct attachment *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int err;

	if (!a)
		return ERR_PTR(-ENOMEM);
	a->instance = instance;
	a->incarnation = incarnation;
	a->status = 1;
	init_waitqueue_head(&a->wait);
	mutex_init(&a->read_lock);
	err = kfifo_alloc(&a->output, BUFFER_SIZE, GFP_KERNEL);
	if (err) {
		kfree(a);
		return ERR_PTR(err);
	}
	spin_lock_bh(&table_lock);
	if (table[instance])
		err = -EBUSY;
	else
		table[instance] = a;
	spin_unlock_bh(&table_lock);
	if (!err)
		return a;
	kfifo_free(&a->output);
	kfree(a);
	return ERR_PTR(err);
}

/* Ask the instance; it answers, refuses, or has no terminal. */
static int attach_ask(struct attachment *a)
{
	long left;
	int err;

	err = mios_send_wait(a->instance, MIOS_MSG_CONSOLE_ATTACH, NULL, 0,
			     SEND_TIMEOUT_MS);
	if (err)
		return err;
	left = wait_event_interruptible_timeout(a->wait,
						READ_ONCE(a->status) <= 0 ||
						READ_ONCE(a->dead),
						STATUS_TIMEOUT);
	if (left < 0)
		return left;
	if (READ_ONCE(a->dead))
		return -ENOTCONN;
	return left ? READ_ONCE(a->status) : -ETIMEDOUT;
}

static struct file *attach_open(u32 instance)
{
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	struct file *file;
	struct attachment *a;
	int err;

	if (!info)
		return ERR_PTR(-ENOMEM);
	err = instance == mios_link_self() ? -EINVAL :
	      mios_link_info(instance, info);
	if (!err && info->beat_age_ms < 0)
		err = -ENOTCONN;
	a = err ? ERR_PTR(err) : attach_make(instance, info->incarnation);
	kfree(info);
	if (IS_ERR(a))
		return ERR_CAST(a);
	err = attach_ask(a);
	file = err ? ERR_PTR(err) :
	       anon_inode_getfile("mios-console", &attach_fops, a, O_RDWR);
	if (IS_ERR(file))
		attach_end(a);
	return file;
}

static const struct mios_handler output_handler = { .fn = output_message };
static const struct mios_handler status_handler = { .fn = status_message };
static const struct mios_handler taken_handler = { .fn = taken_message };

int mios_attach_init(void)
{
	int err;

	err = mios_handler_register(MIOS_MSG_CONSOLE_OUTPUT, &output_handler);
	if (err)
		return err;
	err = mios_handler_register(MIOS_MSG_CONSOLE_STATUS, &status_handler);
	if (err)
		goto output;
	err = mios_handler_register(MIOS_MSG_CONSOLE_TAKEN, &taken_handler);
	if (err)
		goto status;
	err = mios_console_register(attach_open, THIS_MODULE);
	if (err)
		goto taken;
	return 0;

taken:
	mios_handler_unregister(MIOS_MSG_CONSOLE_TAKEN);
status:
	mios_handler_unregister(MIOS_MSG_CONSOLE_STATUS);
output:
	mios_handler_unregister(MIOS_MSG_CONSOLE_OUTPUT);
	return err;
}

void mios_attach_exit(void)
{
	mios_console_unregister();
	mios_handler_unregister(MIOS_MSG_CONSOLE_TAKEN);
	mios_handler_unregister(MIOS_MSG_CONSOLE_STATUS);
	mios_handler_unregister(MIOS_MSG_CONSOLE_OUTPUT);
}
