// SPDX-License-Identifier: GPL-2.0
/*
 * Questions to other instances, where pages of their processes are, and the
 * answers.  Messages, not calls (mios_call()): finding pages can take as long as
 * the owner of the process likes, who may have them filled by a program of his
 * (userfaultfd, FUSE).  So nobody else waits for it, and who asks waits until
 * he is killed.
 *
 * A message may get lost when a channel begins anew: a question is sent again
 * every second, with the same number, and served once at a time.
 */
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>

#include "../../core/link/link.h"

#include "vm.h"

#define AGAIN_MS	1000
/* Until somebody who has enough to do is asked again. */
#define BUSY_MS		5

/**
 * struct pending - a question that waits for its answer
 * @node:	in pendings
 * @id:		its number
 * @instance:	who is asked
 * @incarnation: who has answered
 * @answer:	where that goes
 * @done:	it is there
 */
struct pending {
	struct hlist_node node;
	u64 id;
	u32 instance;
	u32 incarnation;
	struct mios_msg_copy_pages *answer;
	struct completion done;
};

static DEFINE_HASHTABLE(pendings, 6);
static DEFINE_SPINLOCK(pendings_lock); /* BH */
static atomic64_t last_id;

static void pending_add(struct pending *p)
{
	p->id = atomic64_inc_return(&last_id);
	init_completion(&p->done);
	spin_lock_bh(&pendings_lock);
	hash_add(pendings, &p->node, p->id);
	spin_unlock_bh(&pendings_lock);
}

/* After this nobody writes to it any more. */
static void pending_remove(struct pending *p)
{
	spin_lock_bh(&pendings_lock);
	hash_del(&p->node);
	spin_unlock_bh(&pendings_lock);
}

/* Softirq context. */
static void answered(void *ctx, u32 instance, u32 incarnation,
		     const void *data, u32 length)
{
	const struct mios_msg_copy_pages *answer = data;
	struct pending *p;

	if (length != sizeof(*answer))
		return;
	spin_lock(&pendings_lock);
	hash_for_each_possible(pendings, p, node, answer->id) {
		if (p->id != answer->id || p->instance != instance ||
		    completion_done(&p->done))
			continue;
		*p->answer = *answer;
		p->incarnation = incarnation;
		complete(&p->done);
	}
	spin_unlock(&pendings_lock);
}

void mios_copy_left(u32 instance)
{
	struct pending *p;
	int i;

	spin_lock_bh(&pendings_lock);
	hash_for_each(pendings, i, p, node)
		if (p->instance == instance && !completion_done(&p->done)) {
			p->answer->result = -ESRCH;
			complete(&p->done);
		}
	spin_unlock_bh(&pendings_lock);
}

/* Where its modules are not loaded nobody would ever answer. */
static bool is_served(u32 instance)
{
	const struct mios_copies *c = mios_link_copies(instance);

	return c && READ_ONCE(c->serves) == MIOS_COPY_VERSION &&
	       mios_link_runs(instance, 0);
}

/* 0: @p->answer says it; -EINTR: killed. */
static int pending_wait(struct pending *p, const struct mios_msg_copy_ask *ask)
{
	long left;
	int err;

	do {
		if (!is_served(p->instance))
			return -ESRCH;
		err = mios_send_wait(p->instance, MIOS_MSG_COPY_ASK, ask,
				     sizeof(*ask), AGAIN_MS);
		if (err && err != -ETIMEDOUT)
			return -ESRCH;
		left = wait_for_completion_killable_timeout(&p->done,
							    msecs_to_jiffies(AGAIN_MS));
	} while (!left);
	return left < 0 ? -EINTR : 0;
}

static int ask_once(struct pending *p, struct mios_msg_copy_ask *ask)
{
	struct mios_msg_copy_stop stop;
	int err;

	pending_add(p);
	ask->id = p->id;
	err = pending_wait(p, ask);
	pending_remove(p);
	if (err != -EINTR)
		return err ?: p->answer->result;
	stop.id = p->id;
	mios_send(p->instance, MIOS_MSG_COPY_STOP, &stop, sizeof(stop));
	return err;
}

int mios_copy_ask(u32 instance, struct mios_msg_copy_ask *ask,
		  struct mios_msg_copy_pages *answer, u32 *incarnation)
{
	struct pending p = { .instance = instance, .answer = answer };
	int ret;

	while ((ret = ask_once(&p, ask)) == -EBUSY)
		if (schedule_timeout_killable(msecs_to_jiffies(BUSY_MS)) &&
		    fatal_signal_pending(current))
			return -EINTR;
	*incarnation = p.incarnation;
	if (ret > 0 && (ret > ask->nr || answer->slot >= MIOS_COPY_SLOTS))
		return -EFAULT;
	if (!ret && ask->nr)
		return -EFAULT;
	/* What else it says means nothing to who has called process_vm_readv(). */
	return ret >= 0 ? 0 : ret == -EPERM || ret == -EINTR || ret == -ESRCH ||
	       ret == -ENOMEM ? ret : -EFAULT;
}

static const struct mios_handler answer_handler = { .fn = answered };

int mios_ask_init(void)
{
	/* An answer to one of an earlier life of this module is for nobody. */
	atomic64_set(&last_id, ktime_get_boottime_ns());
	return mios_handler_register(MIOS_MSG_COPY_PAGES, &answer_handler);
}

void mios_ask_exit(void)
{
	mios_handler_unregister(MIOS_MSG_COPY_PAGES);
}
