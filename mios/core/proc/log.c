// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the log of an instance through a file: from its ring while the
 * instance lives, from a saved copy when it is dead.  Called by mios/core/end/
 * (create, retire, drop, open) and by whoever reads the file.
 *
 * source->lock guards the pointer to the ring; the ring itself is written by
 * another kernel at any time, so every word is copied out and bounded by what
 * was mapped.  A follower looks again every 100 ms: no doorbell, since a log
 * must not depend on its writer's health.
 */
#include <linux/anon_inodes.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/mios.h>

#include <asm/mios.h>

#include "log.h"

#define FOLLOW_INTERVAL	(HZ / 10)
/*
 * The writer moves the head when a line is complete: so much of the oldest
 * text may already be overwritten.  A console line has at most 2 KiB.
 */
#define LOG_MARGIN	4096

/**
 * struct mios_log_source - the log of one incarnation
 * @ref:	of mios_log_create() and of every open file
 * @lock:	guards the rest but @wait
 * @log:	ring in the instance's memory, NULL once retired
 * @size:	bytes of its text, a power of two
 * @copy:	the text after the retirement, or NULL
 * @head:	bytes written, as of the last look; extended to 64 bits
 * @wait:	followers that poll
 * @watch:	wakes them, runs while a follower's file is open
 * @followers:	how many
 */
struct mios_log_source {
	struct kref ref;
	struct mutex lock; /* all but wait */
	const struct mios_log *log;
	u32 size;
	u8 *copy;
	u64 head;
	wait_queue_head_t wait;
	struct delayed_work watch;
	u32 followers;
};

/**
 * struct log_file - an open file
 * @source:	what it reads
 * @next:	next byte
 * @end:	where it ends: what had been written when it was opened
 * @follow:	it has no end before the writer's
 */
struct log_file {
	struct mios_log_source *source;
	u64 next;
	u64 end;
	bool follow;
};

/* Look how far the writer is; the lock is held. */
static u64 source_head(struct mios_log_source *s)
{
	if (s->log) {
		/* Pairs with the release in the writer's console. */
		u32 head = smp_load_acquire(&s->log->head);

		s->head += (u32)(head - (u32)s->head);
	}
	return s->head;
}

static void source_watch(struct work_struct *work)
{
	struct mios_log_source *s = container_of(to_delayed_work(work),
						 struct mios_log_source, watch);
	bool again;
	u64 before;

	mutex_lock(&s->lock);
	before = s->head;
	if (source_head(s) != before || !s->log)
		wake_up_all(&s->wait);
	again = s->followers && s->log;
	mutex_unlock(&s->lock);
	if (again)
		schedule_delayed_work(&s->watch, FOLLOW_INTERVAL);
}

struct mios_log_source *mios_log_create(const struct mios_log *log, size_t size)
{
	struct mios_log_source *s = kzalloc(sizeof(*s), GFP_KERNEL);
	size_t text = size > sizeof(*log) ? size - sizeof(*log) : 0;

	if (!s)
		return NULL;
	kref_init(&s->ref);
	mutex_init(&s->lock);
	init_waitqueue_head(&s->wait);
	INIT_DELAYED_WORK(&s->watch, source_watch);
	s->log = log;
	/* Not what the ring says: that the child could overwrite. */
	s->size = text ? rounddown_pow_of_two(min_t(size_t, text, SZ_1G)) : 0;
	if (!s->size)
		s->log = NULL;
	return s;
}

int mios_log_retire(struct mios_log_source *source)
{
	u8 *copy = source->size ? kvmalloc(source->size, GFP_KERNEL) : NULL;

	mutex_lock(&source->lock);
	if (source->log) {
		source_head(source);
		if (copy)
			memcpy(copy, source->log->text, source->size);
		source->log = NULL;
		source->copy = copy;
		copy = NULL;
	}
	mutex_unlock(&source->lock);
	kvfree(copy);
	wake_up_all(&source->wait);
	return source->copy ? 0 : -ENOMEM;
}

static void source_free(struct kref *ref)
{
	struct mios_log_source *s = container_of(ref, struct mios_log_source,
						 ref);

	cancel_delayed_work_sync(&s->watch);
	kvfree(s->copy);
	kfree(s);
}

void mios_log_drop(struct mios_log_source *source)
{
	if (source)
		kref_put(&source->ref, source_free);
}

/* The oldest byte that nobody overwrites, after a look at the writer. */
static u64 source_oldest(struct mios_log_source *s)
{
	u64 head = source_head(s);
	u64 kept = s->log ? s->size - min(s->size / 2, LOG_MARGIN) : s->size;

	return head > kept ? head - kept : 0;
}

/*
 * Copy at most @size bytes from byte @f->next on, in one piece.  0: nothing
 * now, or what there was has just been overwritten, and f->next moved on.
 */
static size_t source_copy(struct mios_log_source *s, struct log_file *f,
			  u8 *to, size_t size)
{
	const u8 *text = s->log ? s->log->text : s->copy;
	u64 end;
	u32 at;

	if (!text)
		return 0;
	f->next = max(f->next, source_oldest(s));
	/* All that there was is gone: what there is now is the end. */
	if (f->next > f->end)
		f->end = s->head;
	end = f->follow ? s->head : f->end;
	if (f->next == end)
		return 0;
	at = f->next & (s->size - 1);
	size = min3(size, (size_t)(end - f->next), (size_t)(s->size - at));
	memcpy(to, text + at, size);
	if (f->next < source_oldest(s))
		return 0;
	f->next += size;
	return size;
}

/* Has everything been read that this file will ever see? */
static bool log_ended(const struct mios_log_source *s, const struct log_file *f)
{
	if (!s->log && !s->copy)
		return true;
	if (f->follow)
		return !s->log && f->next >= s->head;
	return f->next >= f->end;
}

/* > 0: bytes in @page; 0: the end; -EAGAIN: nothing yet. */
static ssize_t log_take(struct log_file *f, u8 *page, size_t size)
{
	struct mios_log_source *s = f->source;
	ssize_t got;

	/* Nothing, but not at the end: a hasty writer has just been by. */
	do {
		mutex_lock(&s->lock);
		got = source_copy(s, f, page, size);
		if (!got && !log_ended(s, f))
			got = -EAGAIN;
		mutex_unlock(&s->lock);
		if (got != -EAGAIN || f->follow)
			return got;
		cond_resched();
	} while (!signal_pending(current));
	return -ERESTARTSYS;
}

static ssize_t log_read(struct file *file, char __user *buf, size_t size,
			loff_t *pos)
{
	struct log_file *f = file->private_data;
	ssize_t got;
	u8 *page;

	if (!size)
		return 0;
	page = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	for (;;) {
		got = log_take(f, page, min_t(size_t, size, PAGE_SIZE));
		if (got != -EAGAIN || (file->f_flags & O_NONBLOCK))
			break;
		if (schedule_timeout_interruptible(FOLLOW_INTERVAL) ||
		    signal_pending(current)) {
			got = -ERESTARTSYS;
			break;
		}
	}
	if (got > 0 && copy_to_user(buf, page, got))
		got = -EFAULT;
	kfree(page);
	return got;
}

static __poll_t log_poll(struct file *file, poll_table *wait)
{
	struct log_file *f = file->private_data;
	struct mios_log_source *s = f->source;
	__poll_t mask = 0;

	poll_wait(file, &s->wait, wait);
	mutex_lock(&s->lock);
	if (source_head(s) != f->next || !f->follow || !s->log)
		mask = EPOLLIN | EPOLLRDNORM;
	if (!s->log)
		mask |= EPOLLHUP;
	mutex_unlock(&s->lock);
	return mask;
}

static int log_release(struct inode *inode, struct file *file)
{
	struct log_file *f = file->private_data;

	if (f->follow) {
		mutex_lock(&f->source->lock);
		f->source->followers--;
		mutex_unlock(&f->source->lock);
	}
	mios_log_drop(f->source);
	kfree(f);
	return 0;
}

static const struct file_operations log_fops = {
	.owner = THIS_MODULE,
	.read = log_read,
	.poll = log_poll,
	.release = log_release,
};

struct file *mios_log_open(struct mios_log_source *source, u32 flags)
{
	struct log_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct file *file;

	if (!f)
		return ERR_PTR(-ENOMEM);
	f->source = source;
	f->follow = flags & MIOS_STREAM_FOLLOW;
	kref_get(&source->ref);
	mutex_lock(&source->lock);
	source->followers += f->follow;
	f->end = source_head(source);
	mutex_unlock(&source->lock);
	file = anon_inode_getfile("mios-log", &log_fops, f, O_RDONLY);
	if (!IS_ERR(file)) {
		if (f->follow)
			schedule_delayed_work(&source->watch, 0);
		return file;
	}
	mutex_lock(&source->lock);
	source->followers -= f->follow;
	mutex_unlock(&source->lock);
	mios_log_drop(source);
	kfree(f);
	return file;
}
