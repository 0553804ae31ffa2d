// SPDX-License-Identifier: GPL-2.0
/*
 * kill() and /proc/PID/stat of processes of other instances.
 *
 * LATE: whose caller has given it up is not sent any more, for the number may be
 * another process' by then.  So who serves it looks at the time right before he
 * looks the number up, and is not interrupted by other tasks in between.
 *
 * Between two instances one of these is asked at a time, so that users who send
 * signals as fast as they can leave room for other calls.
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_remote.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../../inject/inject.h"
#include "../link/link.h"

#include "pid.h"

MIOS_INJECT_SWITCH(kill_as_root, "send signals of others as root");
MIOS_INJECT_SWITCH(pids_unknown, "know no process of other instances");
MIOS_INJECT_VALUE(slow_kill,
		  "wait so many milliseconds before a signal of another instance is sent");
MIOS_INJECT_SWITCH(late_kill, "send a signal though nobody waits for that any more");

/* In all; and for one's turn before that. */
#define ASK_MS		2000
/* Until one that begins another program is looked at again. */
#define BUSY_MS		2

static unsigned long asking[BITS_TO_LONGS(MIOS_AREA_INSTANCES)];
static DECLARE_WAIT_QUEUE_HEAD(asked);

/* --- who asks */

/* 0: the one who asks that instance, until turn_end(). */
static int turn_begin(u32 instance)
{
	long left;

	left = wait_event_killable_timeout(asked, !test_and_set_bit(instance, asking),
					   msecs_to_jiffies(ASK_MS));
	return left < 0 ? -EINTR : left ? 0 : -ETIMEDOUT;
}

static void turn_end(u32 instance)
{
	clear_bit_unlock(instance, asking);
	wake_up(&asked);
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

static int ask(struct mios_call_pid *call, void *answer, u32 size)
{
	int instance = instance_of(call->pid), err;

	if (instance < 0)
		return instance;
	err = mios_who_get(&call->who) ?: turn_begin(instance);
	if (err)
		return err;
	err = mios_call(instance, MIOS_CALL_PID, call, sizeof(*call), answer,
			size, ASK_MS);
	turn_end(instance);
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

	return valid_signal(sig) ? ask(&call, NULL, 0) : -EINVAL;
}

static int remote_stat(pid_t pid, struct pid_remote_stat *stat)
{
	struct mios_call_pid call = { .op = MIOS_PID_STAT, .pid = pid };
	struct mios_pid_stat *answer = kmalloc(sizeof(*answer), GFP_KERNEL);
	unsigned long end = jiffies + msecs_to_jiffies(ASK_MS);
	int err;

	if (!answer)
		return -ENOMEM;
	while ((err = ask(&call, answer, sizeof(*answer))) == -EAGAIN &&
	       time_before(jiffies, end))
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

static int serve_stat(const struct mios_call_pid *call,
		      struct mios_pid_stat *answer)
{
	struct pid_remote_stat *stat = kzalloc(sizeof(*stat), GFP_KERNEL);
	int err;

	if (!stat)
		return -ENOMEM;
	err = pid_stat(call->pid, stat);
	if (!err) {
		memset(answer, 0, sizeof(*answer));
		answer->uid = from_kuid(&init_user_ns, stat->uid);
		answer->gid = from_kgid(&init_user_ns, stat->gid);
		answer->length = stat->length;
		memcpy(answer->text, stat->text, stat->length);
	}
	kfree(stat);
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

	err = mios_who_init() ?: mios_callee_register(MIOS_CALL_PID, &callee);
	if (err)
		return err;
	err = pid_remote_set(&ops);
	if (err)
		mios_callee_unregister(MIOS_CALL_PID);
	return err;
}

void mios_pid_exit(void)
{
	pid_remote_set(NULL);
	mios_callee_unregister(MIOS_CALL_PID);
}
