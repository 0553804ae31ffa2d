// SPDX-License-Identifier: GPL-2.0
/*
 * Futexes in files of miosfs: a task that waits on one instance is woken by a
 * task of another.  A key is the same in all of them, and each keeps its own
 * waiters in its own queues, as ever.  So that nobody is asked in vain, an
 * instance says in its column of the image that some of its tasks wait, or are
 * about to; who wakes looks at the columns and calls those whose entry is not 0.
 *
 * ENTER: none is lost, by the same order that protects one kernel's queues
 * (kernel/futex/waitwake.c), with columns instead of its count of waiters:
 *
 *	waits, in futex_q_lock()		wakes
 *	own column++				futex's value = new
 *	full barrier (enter)			full barrier (wake)
 *	lock queue; read futex's value		read others' columns
 *	old: queue, unlock, sleep		not 0: call, there lock queue,
 *	new: unlock, own column--		and wake who is in it
 *
 * Not both read what was before the other's store.  Who reads the old value has
 * been counted before the waker looked, and so there is a call; it takes the
 * queue's lock after the waiter, who is in the queue by then, or before: then
 * the waiter's lock follows the waker's store, and he reads the new value.
 *
 * Deaths: a count in a dead column, like one that has gone by the time of the
 * call, costs a call.  A waker that dies between store and call, or whose call
 * is not answered, leaves waiters that nobody wakes: all who wait on such
 * futexes are woken then, and look again, which any futex's waiter must expect.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/futex.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <mios/msg.h>

#include "../../inject/inject.h"
#include "../fs/vfs.h"
#include "../../core/link/count.h"
#include "../../core/link/link.h"

#include "../fs/fs_trace.h"
#include "ipc.h"

MIOS_INJECT_SWITCH(no_enter, "wait on a futex without saying so");
MIOS_INJECT_SWITCH(no_owner_death, "wait for locks of the dead");
MIOS_INJECT_SWITCH(no_remote_wake, "wake nobody who waits on another instance");
MIOS_INJECT_SWITCH(no_death_wake, "wake nobody when an instance dies");

/* Who does not answer for so long is told to look, later. */
#define WAKE_MS		2000
#define OWED_MS		100
/* Waiters whose file nobody maps any more are gone by then. */
#define LEAVE_MS	10000

typedef atomic_t column[MIOS_FS_WAITERS];
static_assert(sizeof(column) == MIOS_FS_WAITERS * 4);

/**
 * struct table - the columns of a mounted image
 * @entry:	in tables
 * @image:	upper part of its keys' sequences
 * @self:	this instance
 * @columns:	one for each instance
 */
struct table {
	struct list_head entry;
	u64 image;
	u32 self;
	column *columns;
};

static LIST_HEAD(tables);		/* by RCU, and changed under: */
static DEFINE_MUTEX(tables_lock);

/* Instances that may have missed a wake of ours; that have not answered one. */
static atomic64_t owed;
static atomic64_t silent;
static void owed_pay(struct work_struct *work);
static DECLARE_DELAYED_WORK(owed_work, owed_pay);

static atomic_t turns;

static u64 image_of(u64 sequence)
{
	return sequence >> MIOS_FS_SEQUENCE_IMAGE;
}

static u32 entry_of(const union futex_key *key)
{
	u64 place = (u64)key->shared.pgoff << 10 |
		    (key->shared.offset & ~PAGE_MASK) >> 2;

	return ((key->shared.i_seq ^ place * MIOS_FS_WAITERS_MIX) *
		MIOS_FS_WAITERS_MIX) >> 56;
}

/* Under rcu_read_lock(). */
static struct table *table_of(const union futex_key *key)
{
	struct table *t;

	list_for_each_entry_rcu(t, &tables, entry)
		if (t->image == image_of(key->shared.i_seq))
			return t;
	return NULL;
}

static atomic_t *enter(const union futex_key *key)
{
	struct table *t = table_of(key);
	atomic_t *count;

	if (!t || inject_no_enter)
		return NULL;
	count = &t->columns[t->self][entry_of(key)];
	atomic_inc(count);
	smp_mb__after_atomic(); /* ENTER */
	return count;
}

/*
 * Who waits in a PID namespace of its own takes locks with tasks of that one,
 * whose TIDs there say nothing of instances: it may live.
 */
static bool dead(pid_t tid)
{
	return !inject_no_owner_death &&
	       task_active_pid_ns(current) == &init_pid_ns &&
	       mios_link_pid_is_over(tid);
}

/* --- waking elsewhere */

/* Who may have waiters on it? */
static u64 waiting(const union futex_key *key)
{
	struct table *t;
	u64 who = 0;
	u32 i;

	guard(rcu)();
	t = table_of(key);
	for (i = 0; t && i < mios_link_nr(); i++)
		if (atomic_read(&t->columns[i][entry_of(key)]))
			who |= BIT_ULL(i);
	return who;
}

static void owe(u32 instance)
{
	atomic64_or(BIT_ULL(instance), &owed);
	schedule_delayed_work(&owed_work, msecs_to_jiffies(OWED_MS));
}

/*
 * How many were woken there; 0 where nobody is, or nobody has a miosfs.  One
 * that has not answered may wake them yet.
 */
static int wake_there(u32 instance, const struct mios_call_wake *ask)
{
	u32 woken = 0;
	struct mios_ask call = {
		.instance = instance, .answer = &woken, .size = sizeof(woken),
		.soon = true,
	};
	int err;

	mios_call_all(&call, 1, MIOS_CALL_WAKE, ask, sizeof(*ask), WAKE_MS);
	err = call.result;
	if (err == sizeof(woken) || err == -ENOTCONN || err == -EOPNOTSUPP) {
		atomic64_andnot(BIT_ULL(instance), &silent);
		return err > 0 ? min(woken, ask->nr) : 0;
	}
	atomic64_or(BIT_ULL(instance), &silent);
	owe(instance);
	return 0;
}

static int wake_at(u32 instance, union futex_key *key, u32 nr, u32 bitset)
{
	const struct mios_call_wake ask = {
		.sequence = key->shared.i_seq,
		.page = key->shared.pgoff,
		.offset = key->shared.offset,
		.nr = nr,
		.bitset = bitset,
	};

	if (instance == mios_link_self())
		return futex_wake_key(key, nr, bitset);
	if (inject_no_remote_wake)
		return 0;
	if (!(atomic64_read(&silent) & BIT_ULL(instance)))
		return wake_there(instance, &ask);
	/* One waits for it; what the others have stored comes before the debt. */
	owe(instance);
	return 0;
}

/*
 * Each time another instance comes first, so that those who wait far from who
 * wakes get on, too.
 */
static int wake(union futex_key *key, int nr, u32 bitset)
{
	u32 count = mios_link_nr(), first, i;
	int woken = 0, done;
	u64 who;

	nr = max(nr, 1);
	smp_mb(); /* ENTER */
	who = waiting(key) | BIT_ULL(mios_link_self());
	first = (u32)atomic_inc_return(&turns) % count;
	for (i = 0; i < count && woken < nr; i++) {
		u32 at = (first + i) % count;

		if (!(who & BIT_ULL(at)))
			continue;
		done = wake_at(at, key, nr - woken, bitset);
		if (done < 0) {
			woken = woken ?: done;
			break;
		}
		woken += done;
	}
	mios_count(MIOS_COUNT_FUTEX_WAKES);
	trace_mios_futex_wake(key->shared.i_seq, key->shared.pgoff,
			      key->shared.offset & ~PAGE_MASK, who, woken);
	return woken;
}

static const struct futex_remote_ops ops = {
	.owner = THIS_MODULE,
	.enter = enter,
	.wake = wake,
	.dead = dead,
};

/* --- waking for others */

static bool any(const union futex_key *key, const void *arg)
{
	return true;
}

static void wake_all(void)
{
	futex_wake_remote_keys(any, NULL);
}

static int asked(void *ctx, u32 instance, u32 incarnation, const void *data,
		 u32 length, void *answer, u32 *size)
{
	struct mios_call_wake ask;
	union futex_key key = FUTEX_KEY_INIT;
	int woken = 0;

	if (length != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, data, sizeof(ask));
	key.shared.i_seq = ask.sequence;
	key.shared.pgoff = ask.page;
	key.shared.offset = ask.offset;
	if (!ask.nr)
		wake_all();
	else if (ask.sequence & MIOS_FS_SEQUENCE_SHARED &&
		 ask.offset & FUT_OFF_INODE && ask.nr <= INT_MAX)
		woken = futex_wake_key(&key, ask.nr, ask.bitset);
	else
		woken = -EINVAL;
	if (woken < 0)
		return woken;
	memcpy(answer, &woken, sizeof(woken));
	*size = sizeof(woken);
	return 0;
}

static const struct mios_callee callee = { .fn = asked };

/* To those that have not answered: wake whoever waits. */
static void owed_pay(struct work_struct *work)
{
	const struct mios_call_wake ask = { .nr = 0 };
	u64 who = atomic64_xchg(&owed, 0);
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (who & BIT_ULL(i))
			wake_there(i, &ask);
}

void mios_futex_joined(u32 instance)
{
	owe(instance);
	/* Whose node was being claimed had an owner that looked alive. */
	wake_all();
}

void mios_futex_dead(u32 instance)
{
	struct table *t;

	mutex_lock(&tables_lock);
	list_for_each_entry(t, &tables, entry)
		memset(t->columns[instance], 0, sizeof(column));
	mutex_unlock(&tables_lock);
	if (!inject_no_death_wake)
		wake_all();
}

/* --- mounts */

int mios_futex_begin(struct mios_mount *m)
{
	struct table *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->image = image_of(mios_sequence_of(m, MIOS_FS_ROOT));
	t->self = m->pool.self;
	t->columns = (void *)m->fs.super + MIOS_FS_WAITERS_AT;
	/* Of an earlier boot. */
	memset(t->columns[t->self], 0, sizeof(column));
	mutex_lock(&tables_lock);
	list_add_rcu(&t->entry, &tables);
	mutex_unlock(&tables_lock);
	return 0;
}

static struct table *table_remove(const struct mios_mount *m)
{
	void *columns = (void *)m->fs.super + MIOS_FS_WAITERS_AT;
	struct table *t, *found = NULL;

	mutex_lock(&tables_lock);
	list_for_each_entry(t, &tables, entry)
		if (t->columns == columns)
			found = t;
	if (found)
		list_del_rcu(&found->entry);
	mutex_unlock(&tables_lock);
	return found;
}

static bool of_image(const union futex_key *key, const void *image)
{
	return image_of(key->shared.i_seq) == *(const u64 *)image;
}

/* Tasks that wait where nothing is mapped any more are counted still. */
int mios_futex_end(struct mios_mount *m)
{
	struct table *t = table_remove(m);
	unsigned int tries;
	int err = 0;

	if (!t)
		return 0;
	synchronize_rcu();
	for (tries = 0; memchr_inv(t->columns[t->self], 0, sizeof(column));
	     tries++) {
		if (tries == LEAVE_MS) {
			err = -EBUSY;
			break;
		}
		futex_wake_remote_keys(of_image, &t->image);
		usleep_range(500, 1000);
	}
	kfree(t);
	return err;
}

int mios_futex_init(void)
{
	int err = mios_callee_register(MIOS_CALL_WAKE, &callee);

	if (err)
		return err;
	err = futex_remote_register(&ops);
	if (err)
		mios_callee_unregister(MIOS_CALL_WAKE);
	return err;
}

void mios_futex_exit(void)
{
	futex_remote_unregister(&ops);
	mios_callee_unregister(MIOS_CALL_WAKE);
	cancel_delayed_work_sync(&owed_work);
}
