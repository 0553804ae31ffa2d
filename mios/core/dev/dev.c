// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/mios: the ioctls of uapi/linux/mios.h, on every instance.  One open
 * file is one transaction: it claims at most one node at a time, remembers
 * why its last call failed, and gives an unstarted node back when it is
 * closed.  The file's own lock serialises its calls.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/mios_refusal.h>

#include "../end/end.h"
#include "../link/heir.h"
#include "../link/link.h"
#include "../proc/host_log.h"
#include "../proc/log.h"
#include "../start/start.h"
#include "dev.h"

struct session {
	struct mutex lock;		/* serialises the calls */
	u32 claimed;			/* instance, 0: none */
	struct mios_reason why;
};

/* The log of a dead instance stays until its next boot. */
static struct file *node_log_open(u32 instance, u32 flags,
				  struct mios_reason *why)
{
	struct mios_node *node;
	struct file *file;
	int err;

	node = mios_node_find_locked(instance, why, &err);
	if (!node)
		return ERR_PTR(err);
	if (node->log) {
		file = mios_log_open(node->log, flags);
	} else {
		mios_reason_set(why, "instance %u has never been booted",
				instance);
		file = ERR_PTR(-ENODATA);
	}
	mutex_unlock(&node->lock);
	return file;
}

static int may(int cap, const char *name, struct session *s)
{
	if (capable(cap))
		return 0;
	mios_reason_set(&s->why, "not permitted: it needs %s (run it as root)", name);
	return -EPERM;
}

static int may_boot(struct session *s)
{
	int err = may(CAP_SYS_BOOT, "CAP_SYS_BOOT", s);

	/* As kexec: a kernel of one's own choice could undo any lockdown. */
	if (!err && security_locked_down(LOCKDOWN_KEXEC)) {
		mios_reason_set(&s->why,
				MIOS_REFUSAL_LOCKDOWN);
		err = -EPERM;
	}
	if (!err && mios_manifest() && !mios_link_declares()) {
		mios_reason_set(&s->why,
				"instances are started and ended from instance 0, or who is host in its place");
		err = -EOPNOTSUPP;
	}
	return err;
}

static int do_claim(struct session *s, void __user *arg)
{
	struct mios_claim claim;
	int err;

	err = may_boot(s);
	if (err)
		return err;
	if (copy_from_user(&claim, arg, sizeof(claim)))
		return -EFAULT;
	if (s->claimed)
		mios_node_release(s->claimed, s);
	s->claimed = 0;
	err = mios_node_claim(&claim, s, &s->why);
	if (err)
		return err;
	s->claimed = claim.instance;
	return copy_to_user(arg, &claim, sizeof(claim)) ? -EFAULT : 0;
}

static int do_load(struct session *s, void __user *arg)
{
	struct mios_load load;
	int err = may_boot(s);

	if (err)
		return err;
	if (copy_from_user(&load, arg, sizeof(load)))
		return -EFAULT;
	return mios_image_load(s->claimed, &load, s, &s->why);
}

static int do_start(struct session *s, void __user *arg)
{
	struct mios_start start;
	int err = may_boot(s);

	if (err)
		return err;
	if (copy_from_user(&start, arg, sizeof(start)))
		return -EFAULT;
	return mios_node_start(s->claimed, start.timeout_ms, s, &s->why);
}

static int do_end(struct session *s, void __user *arg, bool force)
{
	struct mios_end end;
	int err = may_boot(s);

	if (err)
		return err;
	if (copy_from_user(&end, arg, sizeof(end)))
		return -EFAULT;
	return force ?
		mios_node_kill(end.instance, end.timeout_ms, &s->why) :
		mios_node_stop(end.instance, end.timeout_ms, &s->why);
}

/*
 * Instance 0 has everybody's log, everybody has that of instance 0; its successor
 * those of whom it has booted.
 */
static struct file *log_open(struct session *s, u32 instance, u32 flags)
{
	if (!mios_manifest() || (instance && mios_link_declares()))
		return node_log_open(instance, flags, &s->why);
	if (!instance)
		return mios_hostlog_open(flags);
	mios_reason_set(&s->why,
			"instance 0 keeps the logs; there: mios log %u",
			instance);
	return ERR_PTR(-EOPNOTSUPP);
}

static struct file *session_stream(struct session *s,
				   const struct mios_stream *stream,
				   bool console)
{
	return console ? mios_console_open(stream->instance) :
	       log_open(s, stream->instance,
			stream->flags & MIOS_STREAM_FOLLOW);
}

/* Nobody can close the file before the caller knows its number. */
static int do_stream(struct session *s, void __user *arg, bool console)
{
	struct mios_stream stream;
	struct file *file;
	int err;

	err = console ? may(CAP_SYS_TTY_CONFIG, "CAP_SYS_TTY_CONFIG", s) :
		may(CAP_SYSLOG, "CAP_SYSLOG", s);
	if (err)
		return err;
	if (copy_from_user(&stream, arg, sizeof(stream)))
		return -EFAULT;
	stream.fd = get_unused_fd_flags(O_CLOEXEC);
	if (stream.fd < 0)
		return stream.fd;
	file = session_stream(s, &stream, console);
	err = PTR_ERR_OR_ZERO(file);
	if (!err && copy_to_user(arg, &stream, sizeof(stream))) {
		fput(file);
		err = -EFAULT;
	}
	if (err)
		put_unused_fd(stream.fd);
	else
		fd_install(stream.fd, file);
	return err;
}

/* As /proc/kcore: all that the dead instance knew can be read. */
static int may_dump(struct session *s)
{
	int err = may_boot(s);

	if (!err)
		err = may(CAP_SYS_RAWIO, "CAP_SYS_RAWIO", s);
	if (!err && security_locked_down(LOCKDOWN_KCORE)) {
		mios_reason_set(&s->why,
				"this kernel is locked down: it shows no memory");
		err = -EPERM;
	}
	return err;
}

static int dump_answer(struct mios_dump *dump, u32 room,
		       const struct mios_dump_cpu *cpus, void __user *arg)
{
	u32 nr = min(room, dump->nr_cpus);

	if (dump->cpus && copy_to_user(u64_to_user_ptr(dump->cpus), cpus,
				       nr * sizeof(*cpus)))
		return -EFAULT;
	return copy_to_user(arg, dump, sizeof(*dump)) ? -EFAULT : 0;
}

static int dump_file(struct session *s, struct mios_dump *dump,
		     struct mios_dump_cpu *cpus, void __user *arg)
{
	u32 room = dump->nr_cpus;
	struct file *file;
	int err;

	dump->fd = get_unused_fd_flags(O_CLOEXEC);
	if (dump->fd < 0)
		return dump->fd;
	file = mios_node_dump_open(dump, cpus, &s->why);
	err = PTR_ERR_OR_ZERO(file);
	if (err)
		goto out;
	err = dump_answer(dump, room, cpus, arg);
	if (!err)
		fd_install(dump->fd, file);
	else
		fput(file);
out:
	if (err)
		put_unused_fd(dump->fd);
	return err;
}

static int do_dump(struct session *s, void __user *arg)
{
	struct mios_dump_cpu *cpus;
	struct mios_dump dump;
	int err;

	err = may_dump(s);
	if (err)
		return err;
	if (copy_from_user(&dump, arg, sizeof(dump)))
		return -EFAULT;
	if (dump.flags & ~(MIOS_DUMP_DISCARD | MIOS_DUMP_LAST))
		return -EINVAL;
	if (dump.flags & MIOS_DUMP_DISCARD)
		return mios_node_dump_discard(dump.instance, &s->why);
	cpus = kvcalloc(MIOS_MAX_CPUS, sizeof(*cpus), GFP_KERNEL);
	if (!cpus)
		return -ENOMEM;
	err = dump_file(s, &dump, cpus, arg);
	kvfree(cpus);
	return err;
}

static int do_reason(struct session *s, void __user *arg)
{
	return copy_to_user(arg, &s->why, sizeof(s->why)) ? -EFAULT : 0;
}

static int call(struct session *s, unsigned int cmd, void __user *arg)
{
	if (cmd == MIOS_IOC_REASON)
		return do_reason(s, arg);
	memset(&s->why, 0, sizeof(s->why));
	switch (cmd) {
	case MIOS_IOC_CLAIM:
		return do_claim(s, arg);
	case MIOS_IOC_LOAD:
		return do_load(s, arg);
	case MIOS_IOC_START:
		return do_start(s, arg);
	case MIOS_IOC_STOP:
		return do_end(s, arg, false);
	case MIOS_IOC_KILL:
		return do_end(s, arg, true);
	case MIOS_IOC_LOG:
		return do_stream(s, arg, false);
	case MIOS_IOC_CONSOLE:
		return do_stream(s, arg, true);
	case MIOS_IOC_DUMP:
		return do_dump(s, arg);
	default:
		return -ENOTTY;
	}
}

static long dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct session *s = file->private_data;
	long err;

	if (mutex_lock_interruptible(&s->lock))
		return -EINTR;
	err = call(s, cmd, (void __user *)arg);
	mutex_unlock(&s->lock);
	return err;
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	mutex_init(&s->lock);
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int dev_release(struct inode *inode, struct file *file)
{
	struct session *s = file->private_data;

	if (s->claimed)
		mios_node_release(s->claimed, s);
	kfree(s);
	return 0;
}

static const struct file_operations dev_fops = {
	.owner		= THIS_MODULE,
	.open		= dev_open,
	.release	= dev_release,
	.unlocked_ioctl	= dev_ioctl,
};

/* Open to all: every call checks what its caller may do. */
static struct miscdevice dev = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "mios",
	.fops	= &dev_fops,
	.mode	= 0666,
};

/**
 * mios_dev_init - make /dev/mios
 */
int mios_dev_init(void)
{
	return misc_register(&dev);
}

/**
 * mios_dev_exit - remove /dev/mios; every file of it is closed by now
 */
void mios_dev_exit(void)
{
	misc_deregister(&dev);
}
