// SPDX-License-Identifier: GPL-2.0
/*
 * kill() and /proc/PID/stat of processes of other instances.
 *
 * Users take turns (turn.c).  A turn lasts as long as its call, also where who has
 * asked is killed meanwhile: else a user who lets himself be killed all the time
 * had as many calls under way as the other side serves.  So a work item asks.
 *
 * LATE: whose caller has given it up is not sent any more, for the number may be
 * another process' by then.  So who serves it looks at the time right before he
 * looks the number up, and is not interrupted by other tasks in between.
 *
 * MEMORY: pid_stat() has the memory of the process for a moment.  Who is the last
 * to have it ends it, and that may wait for ever for what is on its way to a file
 * system of the user's (AIO, FUSE).  A call that does not end keeps one of the four
 * places, and the death of its caller from being told.  So whoever serves one has
 * the memory, too, from before until after, and leaves its end to a queue where
 * nobody waits for it.
 */
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_remote.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../../inject/inject.h"
#include "../link/link.h"

#include "pid.h"

MIOS_INJECT_SWITCH(kill_as_root, "send signals of others as root");
MIOS_INJECT_SWITCH(pids_unknown, "know no process of other instances");
MIOS_INJECT_VALUE(slow_kill,
		  "wait so many milliseconds before a signal of another instance is sent");
MIOS_INJECT_VALUE(slow_stat,
		  "wait so many milliseconds before a process is looked at, and before its memory ends");
MIOS_INJECT_SWITCH(end_memory, "end the memory of a process before the answer about it");
MIOS_INJECT_SWITCH(late_kill, "send a signal though nobody waits for that any more");

/* In all; and for one's turn before that. */
#define ASK_MS		2000
/* Until one that begins another program is looked at again. */
#define BUSY_MS		2

/**
 * struct request - what an instance is asked, until its call has ended
 * @work:	asks
 * @users:	that, and who waits for it
 * @done:	it has
 * @instance:	whom
 * @privileged:	whose turn it is: mios_turn_begin()
 * @call:	what
 * @size:	that the answer has to have
 * @answer:	where it goes
 * @result:	of mios_call()
 */
struct request {
	struct work_struct work;
	refcount_t users;
	struct completion done;
	u32 instance;
	bool privileged;
	struct mios_call_pid call;
	u32 size;
	struct mios_pid_stat answer;
	int result;
};

/**
 * struct looked - a process whose /proc/PID/stat is read: MEMORY
 * @work:	ends its memory
 * @mm:		that; NULL: it has none
 * @stat:	what it says
 */
struct looked {
	struct work_struct work;
	struct mm_struct *mm;
	struct pid_remote_stat stat;
};

static struct workqueue_struct *memory_queue;

/* Two for each other instance: fewer than it may have workers. */
static struct workqueue_struct *queue;
static_assert(2 * MIOS_AREA_INSTANCES < WQ_DFL_ACTIVE);

/* --- who asks */

static void request_put(struct request *r)
{
	if (refcount_dec_and_test(&r->users))
		kfree(r);
}

static void request_do(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);

	r->result = mios_call(r->instance, MIOS_CALL_PID, &r->call,
			      sizeof(r->call), &r->answer, r->size, ASK_MS);
	mios_turn_end(r->instance, r->privileged);
	complete(&r->done);
	request_put(r);
}

/* Whose it is; -ESRCH: nobody's, as far as anybody here may know. */
static int instance_of(pid_t pid)
{
	u32 instance = pid / MIOS_PIDS_EACH;

	if (pid <= 0 || instance >= mios_link_nr() || inject_pids_unknown ||
	    instance == mios_link_self() || mios_link_pid_is_over(pid))
		return -ESRCH;
	return instance;
}

static struct request *request_make(u32 instance,
				    const struct mios_call_pid *call, u32 size)
{
	struct request *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	INIT_WORK(&r->work, request_do);
	refcount_set(&r->users, 1);
	init_completion(&r->done);
	r->instance = instance;
	r->privileged = current_user_ns() == &init_user_ns &&
			cap_raised(current_real_cred()->cap_effective, CAP_KILL);
	r->call = *call;
	r->size = size;
	return r;
}

/* Its time is over when that of its call is. */
static int request_wait(struct request *r)
{
	int err;

	err = mios_who_get(&r->call.who) ?:
	      mios_turn_begin(r->instance, r->privileged, r->call.who.uid,
			      ASK_MS);
	if (err)
		return err;
	refcount_inc(&r->users);
	queue_work(queue, &r->work);
	return wait_for_completion_killable(&r->done) ? -EINTR : r->result;
}

static int ask(struct mios_call_pid *call, struct mios_pid_stat *answer)
{
	int instance = instance_of(call->pid), err;
	u32 size = answer ? sizeof(*answer) : 0;
	struct request *r;

	if (instance < 0)
		return instance;
	r = request_make(instance, call, size);
	if (!r)
		return -ENOMEM;
	err = request_wait(r);
	if (answer && err == size)
		*answer = r->answer;
	request_put(r);
	/* Nobody in our ring; or it is being fenced, and may run for a moment. */
	if (err == -ENOTCONN)
		return mios_link_runs(instance, 0) ? -ETIMEDOUT : -ESRCH;
	if (err >= 0 && err != size)
		return -EPROTO;
	return min(err, 0);
}

static int remote_kill(pid_t pid, int sig)
{
	struct mios_call_pid call = {
		.op = MIOS_PID_KILL, .pid = pid, .signal = sig,
		.from = task_tgid_nr(current),
	};

	return valid_signal(sig) ? ask(&call, NULL) : -EINVAL;
}

static int remote_stat(pid_t pid, struct pid_remote_stat *stat)
{
	struct mios_call_pid call = { .op = MIOS_PID_STAT, .pid = pid };
	struct mios_pid_stat *answer = kmalloc(sizeof(*answer), GFP_KERNEL);
	unsigned long end = jiffies + msecs_to_jiffies(ASK_MS);
	int err;

	if (!answer)
		return -ENOMEM;
	while ((err = ask(&call, answer)) == -EAGAIN &&
	       time_before(jiffies, end) && !fatal_signal_pending(current))
		msleep(BUSY_MS);
	if (!err && answer->length > sizeof(answer->text))
		err = -EPROTO;
	if (!err) {
		stat->uid = make_kuid(&init_user_ns, answer->uid);
		stat->gid = make_kgid(&init_user_ns, answer->gid);
		stat->length = answer->length;
		memcpy(stat->text, answer->text, answer->length);
		err = uid_valid(stat->uid) && gid_valid(stat->gid) ? 0 : -EPROTO;
	}
	kfree(answer);
	return err;
}

static const struct pid_remote_ops ops = {
	.kill = remote_kill,
	.stat = remote_stat,
};

/* --- who answers */

/* In a queue where nobody waits for it, however long it takes. */
static void memory_put(struct work_struct *work)
{
	struct looked *l = container_of(work, struct looked, work);

	if (inject_slow_stat)
		msleep(inject_slow_stat);
	mmput(l->mm);
	kfree(l);
}

static struct mm_struct *memory_get(u32 nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;

	put_pid(pid);
	if (task)
		put_task_struct(task);
	return mm;
}

static struct looked *look_begin(u32 pid)
{
	struct looked *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	INIT_WORK(&l->work, memory_put);
	l->mm = memory_get(pid);
	return l;
}

/* Who is the last to have the memory ends it. */
static void look_end(struct looked *l)
{
	if (!l->mm || atomic_add_unless(&l->mm->mm_users, -1, 1))
		kfree(l);
	else if (inject_end_memory)
		memory_put(&l->work);
	else
		queue_work(memory_queue, &l->work);
}

static int serve_stat(const struct mios_call_pid *call,
		      struct mios_pid_stat *answer)
{
	struct looked *l = look_begin(call->pid);
	int err;

	if (!l)
		return -ENOMEM;
	if (inject_slow_stat)
		msleep(inject_slow_stat);
	err = pid_stat(call->pid, &l->stat);
	if (!err) {
		memset(answer, 0, sizeof(*answer));
		answer->uid = from_kuid(&init_user_ns, l->stat.uid);
		answer->gid = from_kgid(&init_user_ns, l->stat.gid);
		answer->length = l->stat.length;
		memcpy(answer->text, l->stat.text, l->stat.length);
	}
	look_end(l);
	return err;
}

static int serve_kill(const struct mios_call_pid *call)
{
	int err;

	if (inject_slow_kill)
		msleep(inject_slow_kill);
	preempt_disable(); /* LATE; to send one does not sleep */
	err = mios_call_wanted();
	if (!err || inject_late_kill)
		err = pid_kill_from(call->pid, call->signal, call->from);
	preempt_enable();
	return err;
}

static int serve_as(u32 instance, const struct mios_call_pid *call, void *answer,
		    u32 *size)
{
	if (call->op == MIOS_PID_KILL) {
		/* In the name of a process of its own only. */
		if (call->from / MIOS_PIDS_EACH != instance)
			return -EPERM;
		return serve_kill(call);
	}
	*size = sizeof(struct mios_pid_stat);
	return serve_stat(call, answer);
}

static int called(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size)
{
	struct mios_call_pid call;
	const struct cred *own;
	struct cred *cred;
	int err;

	if (length != sizeof(call))
		return -EINVAL;
	memcpy(&call, data, sizeof(call));
	if (call.op != MIOS_PID_KILL && call.op != MIOS_PID_STAT)
		return -EOPNOTSUPP;
	if (call.pid / MIOS_PIDS_EACH != mios_link_self())
		return -ESRCH;
	cred = inject_kill_as_root ? prepare_kernel_cred(&init_task) :
	       mios_who_cred(&call.who);
	if (!cred)
		return -ENOMEM;
	own = override_creds(cred);
	err = serve_as(instance, &call, answer, size);
	revert_creds(own);
	put_cred(cred);
	return err;
}

static const struct mios_callee callee = { .fn = called };

int mios_pid_init(void)
{
	int err;

	mios_turns_init();
	memory_queue = alloc_workqueue("mios-memory", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!memory_queue)
		return -ENOMEM;
	err = -ENOMEM;
	queue = alloc_workqueue("mios-pid", WQ_UNBOUND | WQ_HIGHPRI |
				WQ_MEM_RECLAIM, 0);
	if (!queue)
		goto destroy_memory;
	err = mios_who_init() ?: mios_callee_register(MIOS_CALL_PID, &callee);
	if (err)
		goto destroy;
	err = pid_remote_set(&ops);
	if (!err)
		return 0;
	mios_callee_unregister(MIOS_CALL_PID);
destroy:
	destroy_workqueue(queue);
destroy_memory:
	destroy_workqueue(memory_queue);
	return err;
}

void mios_pid_exit(void)
{
	pid_remote_set(NULL);
	mios_callee_unregister(MIOS_CALL_PID);
	destroy_workqueue(queue);
	destroy_workqueue(memory_queue);
}
