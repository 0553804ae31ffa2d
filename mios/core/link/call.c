// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: a request to another instance and its answer.  Each has a number, so
 * that an answer finds its caller in softirq context, without a worker; each
 * that is served has a work item of its own, so that one which sleeps, or calls
 * in its turn, stands in nobody's way.
 *
 * Both sides are bounded.  An instance serves SERVED_MAX calls of each other at
 * a time; beyond that the answer is -EBUSY, and the caller asks again: so deep
 * may calls inside calls be.  SERVED_MAX of all others are fewer than the queue's
 * workers.  A caller waits until its time is over, or the other one is gone.
 *
 * LATE: what its caller has given up is not begun: a request says until when.  What
 * has been begun may end late: who serves it compares a ticket (docs/channels.md).
 *
 * GONE: the death of a caller is told when nothing is being done for it any
 * more.  So what it has called is not begun, and who serves it waits for nobody
 * else: what he calls ends with -ECANCELED.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "../../inject/inject.h"
#include "link_trace.h"
#include "ring.h"

MIOS_INJECT_TIMES(lose_answer, "drop the answer to a call");
MIOS_INJECT_VALUE(slow_serve, "begin to serve a call so many milliseconds late");
MIOS_INJECT_SWITCH(serve_late, "serve what its caller has given up");
MIOS_INJECT_SWITCH(serve_dead, "serve on for one that is gone");

#define SERVED_MAX	4
static_assert(SERVED_MAX * (MIOS_AREA_INSTANCES - 1) < WQ_DFL_ACTIVE);

/* For the answer, when the channel is full. */
#define ANSWER_MS	5000
/* For one that comes soon, before the caller sleeps. */
#define SOON_NS		(50 * NSEC_PER_USEC)
/* Until a callee that had enough to do is asked again. */
#define BUSY_MS		5

/**
 * struct pending - a call that waits for its answer
 * @node:	in pendings
 * @id:		of the call
 * @ask:	whom, and where the answer goes
 * @behalf:	the call that is being served by it, or NULL
 * @sent:	is there one to be waited for?
 * @done:	it has come
 */
struct pending {
	struct hlist_node node;
	u64 id;
	struct mios_ask *ask;
	const struct served *behalf;
	bool sent;
	struct completion done;
};

/**
 * struct served - a call from another instance, until it has been served
 * @work:	serves it
 * @entry:	in serveds
 * @task:	who does, NULL: not begun
 * @gone:	its caller is: GONE
 * @instance, @incarnation: the caller
 * @call, @data: what it has sent
 * @length:	bytes of @data
 */
struct served {
	struct work_struct work;
	struct list_head entry;
	struct task_struct *task;
	bool gone;
	u32 instance;
	u32 incarnation;
	struct mios_msg_call call;
	u32 length;
	u8 data[];
};

static DEFINE_HASHTABLE(pendings, 6);
static LIST_HEAD(serveds);
static DEFINE_SPINLOCK(pendings_lock); /* pendings, serveds; BH */
static atomic64_t last_id;

static const struct mios_callee __rcu *callees[MIOS_CALLS];
static DEFINE_MUTEX(callees_lock);
static atomic_t serving[MIOS_AREA_INSTANCES];

int mios_callee_register(u32 what, const struct mios_callee *callee)
{
	int err = -EBUSY;

	if (!what || what >= MIOS_CALLS)
		return -EINVAL;
	mutex_lock(&callees_lock);
	if (!rcu_access_pointer(callees[what])) {
		rcu_assign_pointer(callees[what], callee);
		err = 0;
	}
	mutex_unlock(&callees_lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_callee_register, MIOS);

void mios_callee_unregister(u32 what)
{
	mutex_lock(&callees_lock);
	RCU_INIT_POINTER(callees[what], NULL);
	mutex_unlock(&callees_lock);
	synchronize_rcu();
	flush_workqueue(mios_link.mail);
}
EXPORT_SYMBOL_NS_GPL(mios_callee_unregister, MIOS);

/* --- the caller */

/* -ECANCELED: for whom this is done is gone. */
static int pending_add(struct pending *p)
{
	struct served *s;
	int err = 0;

	p->behalf = NULL;
	spin_lock_bh(&pendings_lock);
	list_for_each_entry(s, &serveds, entry)
		if (s->task == current)
			p->behalf = s;
	if (p->behalf && p->behalf->gone)
		err = -ECANCELED;
	else
		hash_add(pendings, &p->node, p->id);
	spin_unlock_bh(&pendings_lock);
	return err;
}

/* After this nobody writes to it any more. */
static void pending_remove(struct pending *p)
{
	spin_lock_bh(&pendings_lock);
	hash_del(&p->node);
	spin_unlock_bh(&pendings_lock);
}

/* What the caller gets of an answer. */
static int answer_take(struct mios_ask *ask, const struct mios_msg_answer *head,
		       const void *data, u32 length)
{
	if (head->result < 0)
		return head->result;
	if (head->result || length > ask->size)
		return -EPROTO;
	memcpy(ask->answer, data, length);
	return length;
}

/* Softirq context.  An answer that nobody waits for any more is dropped. */
static void answered(void *ctx, u32 instance, u32 incarnation,
		     const void *data, u32 length)
{
	struct mios_msg_answer answer;
	struct pending *p;

	if (length < sizeof(answer) || mios_inject(lose_answer))
		return;
	memcpy(&answer, data, sizeof(answer));
	spin_lock(&pendings_lock);
	hash_for_each_possible(pendings, p, node, answer.id) {
		if (p->id != answer.id || p->ask->instance != instance ||
		    completion_done(&p->done))
			continue;
		p->ask->result = answer_take(p->ask, &answer,
					     data + sizeof(answer),
					     length - sizeof(answer));
		complete(&p->done);
	}
	spin_unlock(&pendings_lock);
}

static void pending_abort(struct pending *p, u32 instance)
{
	if (completion_done(&p->done))
		return;
	if (p->ask->instance == instance)
		p->ask->result = -ENOTCONN;
	else if (p->behalf && p->behalf->gone)
		p->ask->result = -ECANCELED;
	else
		return;
	complete(&p->done);
}

/* An instance is gone: it answers nobody, and waits for no answer. */
void mios_call_abort(u32 instance)
{
	struct pending *p;
	struct served *s;
	int i;

	spin_lock_bh(&pendings_lock);
	list_for_each_entry(s, &serveds, entry)
		if (s->instance == instance && !inject_serve_dead)
			s->gone = true;
	hash_for_each(pendings, i, p, node)
		pending_abort(p, instance);
	spin_unlock_bh(&pendings_lock);
}

static void call_begin(struct pending *p, struct mios_msg_call *call,
		       u32 length, unsigned long end)
{
	long left = end - jiffies;
	int err;

	p->ask->result = -ETIMEDOUT;
	if (left <= 0)
		return;
	p->id = atomic64_inc_return(&last_id);
	call->id = p->id;
	/* LATE: no later than the caller's own clock says so. */
	call->deadline = rdtsc_ordered() +
			 (u64)jiffies_to_msecs(max(left - 1, 1L)) * tsc_khz;
	init_completion(&p->done);
	trace_mios_call(p->ask->instance, call->what, call->id);
	mios_count(MIOS_COUNT_CALLS);
	err = pending_add(p);
	if (err)
		goto out;
	err = mios_send_wait(p->ask->instance, MIOS_MSG_CALL, call,
			     sizeof(*call) + length, jiffies_to_msecs(left));
	p->sent = !err;
	if (p->sent)
		return;
	pending_remove(p);
out:
	p->ask->result = err;
	trace_mios_call_end(p->ask->instance, p->id, err);
}

/* Falling asleep and waking up takes longer than the callee may. */
static void wait_awake(struct pending *p)
{
	u64 end = local_clock() + SOON_NS;

	while (!completion_done(&p->done) && !need_resched() &&
	       local_clock() < end)
		cpu_relax();
}

static void call_end(struct pending *p, unsigned long end)
{
	long left = end - jiffies;

	if (!p->sent)
		return;
	p->sent = false;
	if (p->ask->soon)
		wait_awake(p);
	wait_for_completion_timeout(&p->done, max(left, 0L));
	pending_remove(p);
	trace_mios_call_end(p->ask->instance, p->id, p->ask->result);
}

/* Ask all that have not been asked, or had enough to do.  Is that so again? */
static bool call_round(struct pending *p, u32 nr, struct mios_msg_call *call,
		       u32 length, unsigned long end)
{
	bool busy = false;
	u32 i;

	for (i = 0; i < nr; i++)
		if (p[i].ask->result == -EBUSY)
			call_begin(&p[i], call, length, end);
	for (i = 0; i < nr; i++) {
		call_end(&p[i], end);
		busy |= p[i].ask->result == -EBUSY;
	}
	return busy;
}

void mios_call_all(struct mios_ask *ask, u32 nr, u32 what, const void *data,
		   u32 length, u32 timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	struct mios_msg_call *call = NULL;
	struct pending *p = NULL;
	int err = -EMSGSIZE;
	u32 i;

	if (length <= MIOS_CALL_MAX) {
		err = -ENOMEM;
		call = kmalloc(sizeof(*call) + length, GFP_KERNEL);
		p = kcalloc(nr, sizeof(*p), GFP_KERNEL);
	}
	for (i = 0; i < nr; i++)
		ask[i].result = call && p ? -EBUSY : err;
	if (call && p) {
		for (i = 0; i < nr; i++)
			p[i].ask = &ask[i];
		call->what = what;
		call->reserved = 0;
		memcpy(call + 1, data, length);
		while (call_round(p, nr, call, length, end))
			msleep(BUSY_MS);
	}
	kfree(p);
	kfree(call);
}
EXPORT_SYMBOL_NS_GPL(mios_call_all, MIOS);

int mios_call(u32 instance, u32 what, const void *data, u32 length,
	      void *answer, u32 size, u32 timeout_ms)
{
	struct mios_ask ask = {
		.instance = instance, .answer = answer, .size = size,
	};

	mios_call_all(&ask, 1, what, data, length, timeout_ms);
	return ask.result;
}
EXPORT_SYMBOL_NS_GPL(mios_call, MIOS);

/* --- the callee */

static void answer_send(const struct served *s, int result,
			struct mios_msg_answer *answer, u32 length)
{
	answer->id = s->call.id;
	answer->result = result;
	answer->reserved = 0;
	mios_send_wait(s->instance, MIOS_MSG_ANSWER, answer,
		       sizeof(*answer) + length, ANSWER_MS);
}

/* Does nobody wait for it any more? */
static int is_over(const struct served *s)
{
	if (READ_ONCE(s->gone))
		return -ECANCELED;	/* GONE */
	if (rdtsc_ordered() > s->call.deadline && !inject_serve_late)
		return -ETIMEDOUT;	/* LATE */
	return 0;
}

int mios_call_wanted(void)
{
	struct served *s;
	int err = 0;

	spin_lock_bh(&pendings_lock);
	list_for_each_entry(s, &serveds, entry)
		if (s->task == current)
			err = is_over(s);
	spin_unlock_bh(&pendings_lock);
	return err;
}

static int serve_one(const struct served *s, void *answer, u32 *length)
{
	const struct mios_callee *callee;
	int err;

	if (inject_slow_serve)
		msleep(inject_slow_serve);
	err = is_over(s);
	if (err)
		return err;
	scoped_guard(rcu)
		callee = rcu_dereference(callees[s->call.what]);
	/* mios_callee_unregister() waits for this work item. */
	return !callee ? -EOPNOTSUPP :
	       callee->fn(callee->ctx, s->instance, s->incarnation, s->data,
			  s->length, answer, length);
}

static void served_by(struct served *s, struct task_struct *task)
{
	spin_lock_bh(&pendings_lock);
	s->task = task;
	if (!task)
		list_del(&s->entry);
	spin_unlock_bh(&pendings_lock);
}

static void serve(struct work_struct *work)
{
	struct served *s = container_of(work, struct served, work);
	u32 length = 0, instance = s->instance;
	struct mios_msg_answer *answer;
	int result;

	answer = kmalloc(sizeof(*answer) + MIOS_CALL_MAX,
			 GFP_KERNEL | __GFP_NOFAIL);
	served_by(s, current);
	trace_mios_serve(instance, s->call.what, s->call.id);
	mios_count(MIOS_COUNT_CALLS_SERVED);
	result = serve_one(s, answer + 1, &length);
	trace_mios_serve_end(instance, s->call.id, result);
	served_by(s, NULL);
	if (WARN_ON_ONCE(length > MIOS_CALL_MAX))
		length = 0;
	/* Nothing is done for the caller any more once it has its answer. */
	atomic_dec(&serving[instance]);
	answer_send(s, min(result, 0), answer, result ? 0 : length);
	kfree(answer);
	kfree(s);
	if (!mios_peer_get(instance))
		mios_ring_scan_all();	/* its death may be told now */
}

/* One that cannot be served now.  Softirq context. */
static void refuse(u32 instance, u64 id, int err)
{
	struct mios_msg_answer answer = { .id = id, .result = err };

	mios_send(instance, MIOS_MSG_ANSWER, &answer, sizeof(answer));
}

/* Softirq context. */
static void called(void *ctx, u32 instance, u32 incarnation,
		   const void *data, u32 length)
{
	struct mios_msg_call call;
	struct served *s;

	if (length < sizeof(call))
		return;
	memcpy(&call, data, sizeof(call));
	length -= sizeof(call);
	if (!call.what || call.what >= MIOS_CALLS || length > MIOS_CALL_MAX) {
		refuse(instance, call.id, -EOPNOTSUPP);
		return;
	}
	if (atomic_inc_return(&serving[instance]) > SERVED_MAX)
		goto busy;
	s = kmalloc(struct_size(s, data, length), GFP_ATOMIC);
	if (!s)
		goto busy;
	INIT_WORK(&s->work, serve);
	s->instance = instance;
	s->incarnation = incarnation;
	s->call = call;
	s->length = length;
	memcpy(s->data, data + sizeof(call), length);
	s->task = NULL;
	s->gone = false;
	spin_lock(&pendings_lock);
	list_add(&s->entry, &serveds);
	spin_unlock(&pendings_lock);
	queue_work(mios_link.mail, &s->work);
	return;

busy:
	atomic_dec(&serving[instance]);
	refuse(instance, call.id, -EBUSY);
}

/* Is anything still being done for one that calls no more? */
bool mios_call_serves(u32 instance)
{
	return atomic_read(&serving[instance]);
}

static const struct mios_handler call_handler = { .fn = called };
static const struct mios_handler answer_handler = { .fn = answered };

int mios_call_init(void)
{
	int err;

	err = mios_handler_register(MIOS_MSG_CALL, &call_handler);
	if (err)
		return err;
	err = mios_handler_register(MIOS_MSG_ANSWER, &answer_handler);
	if (err)
		mios_handler_unregister(MIOS_MSG_CALL);
	return err;
}

void mios_call_exit(void)
{
	mios_handler_unregister(MIOS_MSG_ANSWER);
	mios_handler_unregister(MIOS_MSG_CALL);
	flush_workqueue(mios_link.mail);
}
