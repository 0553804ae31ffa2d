/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mios/memory/ipc/futex.c wants of Linux and of the rest of MIOS, in user
 * space: included first (-include), with the guards of the headers it stands
 * for. SELF is the instance that it is compiled for.
 */
#ifndef _KERNEL_H
#define _KERNEL_H
#define _MIOS_FS_VFS_H
#define _MIOS_FS_TRACE_H
#define _MIOS_LINK_H
#define _MIOS_COUNT_H

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>

#include "model.h"
#include <mios/fs.h>

#define trace_mios_futex_wake(...)	((void)0)
#define mios_count(...)		((void)0)
#define GFP_KERNEL		0
#define THIS_MODULE		NULL
#define PAGE_MASK		(~4095ul)
#define FUT_OFF_INODE		1
#define FUTEX_KEY_INIT		((union futex_key) { { 0, 0, 0 } })
#define BIT_ULL(n)		(1ull << (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define guard(what)		guard_##what
static inline void guard_rcu(void) { }

/* Atomics that return nothing order nothing; a task's stores may come late. */
typedef struct { u64 counter; } atomic64_t;

static inline u32 atomic_read(const atomic_t *v)
{
	model_access();
	return v->counter;
}

static inline void atomic_inc(atomic_t *v)
{
	model_hold(&v->counter, 1);
}

static inline void smp_mb__after_atomic(void)
{
	if (!model_broken[NO_ENTER_BARRIER])
		model_barrier();
}

static inline void smp_mb(void)
{
	if (!model_broken[NO_WAKE_BARRIER])
		model_barrier();
}

/* Only that each time another instance may come first. */
u32 model_turn(void);
#define atomic_inc_return(v)	((void)(v), model_turn())

static inline u64 atomic64_read(const atomic64_t *v)
{
	model_access_debts();
	return v->counter;
}

static inline void atomic64_or(u64 bits, atomic64_t *v)
{
	model_access_debts();
	v->counter |= bits;
}

static inline void atomic64_andnot(u64 bits, atomic64_t *v)
{
	model_access_debts();
	v->counter &= ~bits;
}

static inline u64 atomic64_xchg(atomic64_t *v, u64 bits)
{
	u64 old;

	model_barrier();
	model_access_debts();
	old = v->counter;
	v->counter = bits;
	return old;
}

/* A list of one; nobody mounts or unmounts while others run. */
struct list_head { void *first; };
#define LIST_HEAD(name)			struct list_head name
static inline void list_add_rcu(struct list_head *entry, struct list_head *head)
{
	head->first = entry;
}

static inline void list_del_rcu(struct list_head *entry) { }
#define list_for_each_entry(t, head, member)				\
	for (t = (head)->first; t;					\
	     t = *(void **)((char *)(t) + offsetof(typeof(*(t)), member)))
#define list_for_each_entry_rcu		list_for_each_entry

/* All are in the first PID namespace. */
static const u32 init_pid_ns;
#define current				NULL
static inline const u32 *task_active_pid_ns(const void *task)
{
	return &init_pid_ns;
}

struct mutex { u32 nothing; };
#define DEFINE_MUTEX(name)		struct mutex name
static inline void mutex_lock(struct mutex *mutex) { }
static inline void mutex_unlock(struct mutex *mutex) { }

static u64 heap[4];
static inline void *kzalloc(size_t size, int flags)
{
	return size <= sizeof(heap) ? heap : NULL;
}

static inline void kfree(void *p) { }
static inline void synchronize_rcu(void) { }
static inline void usleep_range(u32 from, u32 to) { }
static inline void *memchr_inv(void *p, int byte, size_t size)
{
	return NULL;
}

struct work_struct { u32 nothing; };
struct delayed_work { void (*fn)(struct work_struct *work); };
#define DECLARE_DELAYED_WORK(name, function)				\
	const struct delayed_work name = { .fn = function }
#define msecs_to_jiffies(ms)		(ms)
static inline void schedule_delayed_work(const struct delayed_work *work, u32 ms)
{
	model_schedule(SELF);
}

static inline void cancel_delayed_work_sync(const struct delayed_work *work) { }

static inline int futex_wake_key(union futex_key *key, int nr, u32 bitset)
{
	return model_wake_key(SELF, key, nr);
}

static inline void
futex_wake_remote_keys(bool (*match)(const union futex_key *key, const void *arg),
		       const void *arg)
{
	model_wake_all(SELF);
}

static inline int futex_remote_register(const struct futex_remote_ops *ops)
{
	return 0;
}

static inline void futex_remote_unregister(const struct futex_remote_ops *ops) { }

struct mios_mount {
	struct { u32 self; } pool;
	struct { void *super; } fs;
};

static inline u64 mios_sequence_of(const struct mios_mount *m, u64 id)
{
	return MIOS_FS_SEQUENCE_SHARED | id;
}

struct mios_callee {
	int (*fn)(void *ctx, u32 instance, u32 incarnation, const void *data,
		  u32 length, void *answer, u32 *size);
};

static inline int mios_callee_register(u32 what, const struct mios_callee *callee)
{
	return 0;
}

static inline void mios_callee_unregister(u32 what) { }

struct mios_ask {
	u32 instance;
	void *answer;
	u32 size;
	bool soon;
	int result;
};

static inline void mios_call_all(struct mios_ask *ask, u32 nr, u32 what,
				 const void *data, u32 length, u32 ms)
{
	ask->result = model_call(SELF, ask->instance, data, ask->answer);
}

static inline u32 mios_link_nr(void)
{
	return NR;
}

static inline u32 mios_link_self(void)
{
	return SELF;
}

static inline bool mios_link_pid_is_over(u32 tid)
{
	return model_over(tid >> 16);
}

#endif
