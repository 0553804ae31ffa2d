// SPDX-License-Identifier: GPL-2.0
/*
 * Serves who wants to copy from or to a process of this instance: may he, and
 * where are the pages?  Asked in this kernel, with the caller's identity, as
 * process_vm_readv() of a process here would.
 *
 * Nearly always the pages are there and the process is watched already.  Such a
 * question is answered at once by a real-time thread, which waits for nobody:
 * else, where all CPUs spin, as ranks of MPI do, each would wait for the end of a
 * time slice.  It answers a few for each tick, so no user can keep a CPU by it.
 * What a process can hold up, and what may wait for memory, is not done there: it
 * waits for no exec(), and is never the last who lets go of a process' memory.
 *
 * All others have a work item of their own, and finding pages may take as long
 * as a user likes (ask.c).  So a user has only a few at a time, and who gives up
 * ends his: for this the worker can be killed while it is at it.
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/process_vm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <mios/msg.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"
#include "../../core/pid/pid.h"

#include "vm.h"

MIOS_INJECT_SWITCH(no_credentials, "ask for the memory of a process as root");
MIOS_INJECT_SWITCH(wait_at_once, "let the thread wait until a process has begun its program");
MIOS_INJECT_VALUE(hold_exec,
		  "hold who has been asked about the slow way as exec() does, so many milliseconds");

/* At a time, for one user; and for one instance. */
#define EACH_USER	32
#define EACH_INSTANCE	512
#define ANSWER_MS	1000
/* Tries to see a process twice with the same memory. */
#define LOOKS		4
/* That the thread answers in one tick. */
#define AT_ONCE		64

/**
 * struct asked - a question, until it is answered
 * @fast:	the thread looks at it first
 * @work:	serves it
 * @entry:	in askeds
 * @task:	who does; NULL: nobody is at it
 * @stop:	nobody waits for it any more
 * @answered:	the thread has done that
 * @nr_left:	entries of @left
 * @left:	memory that the thread may have been the last to have
 * @instance:	whose it is
 * @ask:	what it is
 */
struct asked {
	struct kthread_work fast;
	struct work_struct work;
	struct list_head entry;
	struct task_struct *task;
	bool stop;
	bool answered;
	u32 nr_left;
	struct mm_struct *left[2];
	u32 instance;
	struct mios_msg_copy_ask ask;
};

static LIST_HEAD(askeds);
static DEFINE_SPINLOCK(askeds_lock); /* BH */
static struct workqueue_struct *queue;
static struct kthread_worker *thread;
static struct cred *thread_cred;
/* Under askeds_lock: from the module's beginning to its end. */
static bool serving;
/* How many it has been given in this tick; under askeds_lock. */
static unsigned long tick;
static u32 in_tick;

/* --- in the name of who asks */

/*
 * For the thread it is always the same one, so none is allocated: it has a
 * question at a time, and nobody else looks at whose name it works in.
 */
static struct cred *cred_of(const struct mios_who *who, bool fast)
{
	static const struct mios_who root = { .permitted = ~0, .effective = ~0 };

	if (inject_no_credentials)
		who = &root;
	if (!fast)
		return mios_who_cred(who);
	mios_who_fill(thread_cred, who);
	get_cred(thread_cred);
	return thread_cred;
}

/* Until memory_leave(); @fast: -EAGAIN: it takes more. */
static struct mm_struct *memory_get(pid_t pid, pid_t *tgid, bool fast)
{
	return fast && !inject_wait_at_once ? process_vm_mm_now(pid, tgid) :
					      process_vm_mm(pid, tgid);
}

/*
 * Who is the last to leave waits for all that is under way in it, for ever if a
 * FUSE daemon of the user's does not answer (AIO).  So the thread is not: its
 * worker is, which counts as one of the user's all that time.
 */
static void memory_leave(struct asked *a, struct mm_struct *mm, bool fast)
{
	if (!fast)
		mmput(mm);
	else if (!atomic_add_unless(&mm->mm_users, -1, 1))
		a->left[a->nr_left++] = mm;
}

/* @fast: those that are there; -EAGAIN: it takes more. */
static long pages_hold(struct mm_struct *mm, const struct mios_msg_copy_ask *ask,
		       bool fast, struct page **pages)
{
	unsigned int flags = ask->write ? FOLL_WRITE : 0;
	int locked = 1;
	long nr;

	if (fast ? !mmap_read_trylock(mm) : mmap_read_lock_killable(mm))
		return fast ? -EAGAIN : -EINTR;
	nr = get_user_pages_remote(mm, ask->address, ask->nr,
				   flags | (fast ? FOLL_NOFAULT : 0), pages,
				   &locked);
	if (locked)
		mmap_read_unlock(mm);
	return nr > 0 || !fast ? nr : -EAGAIN;
}

/* Pages of it, looked up now; their references are given back at once. */
static int pages_look(struct mm_struct *mm, const struct mios_msg_copy_ask *ask,
		      bool fast, struct mios_msg_copy_pages *answer)
{
	struct page **pages;
	long nr, i;

	pages = kmalloc_array(ask->nr, sizeof(*pages),
			      fast ? GFP_NOWAIT | __GFP_NOWARN : GFP_KERNEL);
	if (!pages)
		return fast ? -EAGAIN : -ENOMEM;
	nr = pages_hold(mm, ask, fast, pages);
	for (i = 0; i < nr; i++) {
		answer->pfn[i] = page_to_pfn(pages[i]);
		put_page(pages[i]);
	}
	kfree(pages);
	return nr ?: -EFAULT;
}

/* Is the process still what it was, and may he still, now that it is watched? */
static int pages_watched(struct mios_watch *w, struct mm_struct *mm,
			 struct asked *a, bool fast,
			 struct mios_msg_copy_pages *answer)
{
	const struct mios_msg_copy_ask *ask = &a->ask;
	struct mm_struct *same;
	pid_t tgid;
	int err;

	if (ask->address > TASK_SIZE_MAX - ask->nr * PAGE_SIZE)
		return -EFAULT;
	err = mios_watch_begin(w, a->instance, ask->address,
			       ask->address + ask->nr * PAGE_SIZE, !fast, answer);
	if (err)
		return err;
	same = memory_get(ask->pid, &tgid, fast);
	if (IS_ERR(same))
		return PTR_ERR(same);
	memory_leave(a, same, fast);
	return same == mm ? pages_look(mm, ask, fast, answer) : -EAGAIN;
}

static int look_once(struct asked *a, bool fast,
		     struct mios_msg_copy_pages *answer)
{
	struct mios_watch *w;
	struct mm_struct *mm;
	pid_t tgid;
	int ret;

	mm = memory_get(a->ask.pid, &tgid, fast);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	ret = 0;
	if (a->ask.nr) {
		w = fast ? mios_watch_find(tgid, mm) : mios_watch_get(tgid, mm);
		ret = PTR_ERR_OR_ZERO(w);
		if (!ret) {
			ret = pages_watched(w, mm, a, fast, answer);
			mios_watch_put(w);
		}
	}
	memory_leave(a, mm, fast);
	return ret;
}

static int look(struct asked *a, bool fast, struct mios_msg_copy_pages *answer)
{
	struct cred *cred = cred_of(&a->ask.who, fast);
	int ret, tries = fast ? 1 : LOOKS;
	const struct cred *own;

	if (!cred)
		return -ENOMEM;
	own = override_creds(cred);
	do {
		ret = look_once(a, fast, answer);
	} while (ret == -EAGAIN && --tries);
	revert_creds(own);
	put_cred(cred);
	return ret == -EAGAIN && !fast ? -EBUSY : ret;
}

/* --- threads */

/* Is it still wanted?  From now on, until NULL, it can be killed. */
static bool served_by(struct asked *a, struct task_struct *task)
{
	bool wanted;

	spin_lock_bh(&askeds_lock);
	a->task = task;
	wanted = !a->stop;
	spin_unlock_bh(&askeds_lock);
	return wanted;
}

static void asked_end(struct asked *a)
{
	spin_lock_bh(&askeds_lock);
	list_del(&a->entry);
	spin_unlock_bh(&askeds_lock);
	kfree(a);
}

/* For a test: as if it began another program, and its memory did not end. */
static void hold_exec(u32 nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);

	put_pid(pid);
	if (!task)
		return;
	down_write(&task->signal->exec_update_lock);
	msleep(inject_hold_exec);
	up_write(&task->signal->exec_update_lock);
	put_task_struct(task);
}

static void answer_slowly(struct asked *a)
{
	struct mios_msg_copy_pages *answer;

	answer = kzalloc(sizeof(*answer), GFP_KERNEL | __GFP_NOFAIL);
	answer->id = a->ask.id;
	allow_kernel_signal(SIGKILL);
	if (served_by(a, current))
		answer->result = look(a, false, answer);
	if (served_by(a, NULL))
		mios_send_wait(a->instance, MIOS_MSG_COPY_PAGES, answer,
			       sizeof(*answer), ANSWER_MS);
	disallow_signal(SIGKILL);
	flush_signals(current);
	kfree(answer);
}

static void serve(struct work_struct *work)
{
	struct asked *a = container_of(work, struct asked, work);

	if (!a->answered)
		answer_slowly(a);
	while (a->nr_left)
		mmput(a->left[--a->nr_left]);
	if (inject_hold_exec)
		hold_exec(a->ask.pid);
	asked_end(a);
}

/* Its answer; what takes longer waits for that elsewhere. */
static void serve_at_once(struct kthread_work *work)
{
	struct asked *a = container_of(work, struct asked, fast);
	struct mios_msg_copy_pages answer = { .id = a->ask.id };

	answer.result = look(a, true, &answer);
	a->answered = answer.result != -EAGAIN &&
		      mios_send(a->instance, MIOS_MSG_COPY_PAGES, &answer,
				sizeof(answer)) != -EAGAIN;
	if (a->answered && !a->nr_left)
		asked_end(a);
	else
		queue_work(queue, &a->work);
}

static void stop(struct asked *a)
{
	a->stop = true;
	if (a->task)
		send_sig(SIGKILL, a->task, 1);
}

/* --- messages; softirq context */

static void refuse(u32 instance, u64 id, int err)
{
	struct mios_msg_copy_pages answer = { .id = id, .result = err };

	mios_send(instance, MIOS_MSG_COPY_PAGES, &answer, sizeof(answer));
}

static bool is_sound(const struct mios_msg_copy_ask *ask)
{
	return ask->nr <= MIOS_COPY_PAGES && ask->write <= 1 &&
	       !ask->reserved && !ask->who.reserved &&
	       IS_ALIGNED(ask->address, PAGE_SIZE) &&
	       ask->pid / MIOS_PIDS_EACH == mios_link_self();
}

/* Under askeds_lock.  1: it is being served; -EBUSY: enough is. */
static int has_enough(u32 instance, const struct mios_msg_copy_ask *ask)
{
	u32 of_user = 0, of_instance = 0;
	struct asked *a;

	list_for_each_entry(a, &askeds, entry) {
		if (a->instance == instance && a->ask.id == ask->id)
			return 1;
		of_instance += a->instance == instance;
		of_user += a->ask.who.uid == ask->who.uid;
	}
	return of_user >= EACH_USER || of_instance >= EACH_INSTANCE ? -EBUSY : 0;
}

/* Under askeds_lock. */
static bool is_for_thread(void)
{
	if (time_after(jiffies, tick)) {
		tick = jiffies;
		in_tick = 0;
	}
	return in_tick++ < AT_ONCE;
}

static void asked(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length)
{
	struct asked *a;
	bool fast;
	int err;

	if (length != sizeof(a->ask))
		return;
	a = kzalloc(sizeof(*a), GFP_ATOMIC);
	if (!a)
		return;		/* he asks again */
	memcpy(&a->ask, data, sizeof(a->ask));
	a->instance = instance;
	INIT_WORK(&a->work, serve);
	kthread_init_work(&a->fast, serve_at_once);
	spin_lock(&askeds_lock);
	err = is_sound(&a->ask) ? has_enough(instance, &a->ask) : -EFAULT;
	if (!err)
		list_add(&a->entry, &askeds);
	fast = is_for_thread();
	spin_unlock(&askeds_lock);
	if (!err && fast)
		kthread_queue_work(thread, &a->fast);
	else if (!err)
		queue_work(queue, &a->work);
	if (!err)
		return;
	if (err < 0)
		refuse(instance, a->ask.id, err);
	kfree(a);
}

static void stopped(void *ctx, u32 instance, u32 incarnation, const void *data,
		    u32 length)
{
	const struct mios_msg_copy_stop *which = data;
	struct asked *a;

	if (length != sizeof(*which))
		return;
	spin_lock(&askeds_lock);
	list_for_each_entry(a, &askeds, entry)
		if (a->instance == instance && a->ask.id == which->id)
			stop(a);
	spin_unlock(&askeds_lock);
}

static const struct mios_handler asked_handler = { .fn = asked };
static const struct mios_handler stopped_handler = { .fn = stopped };

/* In the area of the ring, if this instance is in it: do we answer? */
static void serves_say(void)
{
	struct mios_copies *c = mios_link_copies(mios_link_self());

	if (c)
		WRITE_ONCE(c->serves, serving ? MIOS_COPY_VERSION : 0);
}

static void serving_set(bool on)
{
	spin_lock_bh(&askeds_lock);
	serving = on;
	serves_say();
	spin_unlock_bh(&askeds_lock);
}

/* Also while the module ends. */
void mios_serve_joined(void)
{
	spin_lock_bh(&askeds_lock);
	serves_say();
	spin_unlock_bh(&askeds_lock);
}

int mios_serve_init(void)
{
	int err;

	thread_cred = prepare_kernel_cred(&init_task);
	if (!thread_cred)
		return -ENOMEM;
	err = -ENOMEM;
	queue = alloc_workqueue("mios-copy", WQ_UNBOUND | WQ_HIGHPRI,
				WQ_MAX_ACTIVE);
	if (!queue)
		goto put;
	thread = kthread_create_worker(0, "mios-copy");
	err = PTR_ERR_OR_ZERO(thread);
	if (err)
		goto destroy;
	sched_set_fifo_low(thread->task);
	err = mios_handler_register(MIOS_MSG_COPY_ASK, &asked_handler);
	if (err)
		goto end;
	err = mios_handler_register(MIOS_MSG_COPY_STOP, &stopped_handler);
	if (err)
		goto unregister;
	serving_set(true);
	return 0;

unregister:
	mios_handler_unregister(MIOS_MSG_COPY_ASK);
end:
	kthread_destroy_worker(thread);
destroy:
	destroy_workqueue(queue);
put:
	put_cred(thread_cred);
	return err;
}

void mios_serve_exit(void)
{
	struct asked *a;

	serving_set(false);
	mios_handler_unregister(MIOS_MSG_COPY_ASK);
	spin_lock_bh(&askeds_lock);
	list_for_each_entry(a, &askeds, entry)
		stop(a);
	spin_unlock_bh(&askeds_lock);
	mios_handler_unregister(MIOS_MSG_COPY_STOP);
	kthread_destroy_worker(thread);
	destroy_workqueue(queue);
	put_cred(thread_cred);
}
