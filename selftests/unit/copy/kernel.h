/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What watched.c and copy.c want of Linux and of the rest of MIOS, in user space:
 * included first (-include).  SELF is the instance that they are compiled for.
 */
#ifndef _KERNEL_H
#define _KERNEL_H
#define _MIOS_LINK_H

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/types.h>

#include "model.h"

#define GFP_KERNEL		0
#define PAGE_SIZE		4096ul
#define PAGE_SHIFT		12
#define BIT_ULL(n)		(1ull << (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define container_of(p, type, member)	\
	((type *)((char *)(p) - offsetof(type, member)))
#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) > -4096ul)
#define EXPORT_SYMBOL_NS_GPL(...)
#define pr_warn_ratelimited(...) do { } while (0)

/* Words of the area: a store may come late, a load passes it. */
#undef WRITE_ONCE
#undef READ_ONCE
#define WRITE_ONCE(x, v)	model_hold(&(x), (v), sizeof(x))
#define READ_ONCE(x)		({ model_access(); (x); })
#undef smp_mb
#define smp_mb()		do {						\
	if (!model_broken[SELF ? NO_COPY_BARRIER : NO_CHANGE_BARRIER])		\
		model_barrier(SELF);						\
} while (0)
#define smp_mb__after_atomic()	do { } while (0)
#undef smp_store_release
#define smp_store_release(p, v)	do { model_barrier(SELF); model_access(); *(p) = (v); } while (0)

/* Within a kernel atomics and locks are in order. */
typedef struct { u32 counter; } atomic_t;
typedef struct { u64 counter; } atomic64_t;
typedef struct { u64 taken; } spinlock_t;
#define DEFINE_SPINLOCK(name)	spinlock_t name

static inline int atomic_read(const atomic_t *v)
{
	test_access();
	return v->counter;
}

static inline void atomic_inc(atomic_t *v)
{
	test_access();
	v->counter++;
}

static inline bool atomic_dec_and_test(atomic_t *v)
{
	test_access();
	return !--v->counter;
}

static inline u64 atomic64_read(const atomic64_t *v)
{
	model_access();
	return v->counter;
}

static inline void atomic64_or(u64 bits, atomic64_t *v)
{
	test_access();
	if (!model_broken[NO_TOLD])
		v->counter |= bits;
}

static inline void spin_lock_init(spinlock_t *lock) { }

/* Its holder does nothing that others see in between, but what is held back. */
static inline void spin_lock(spinlock_t *lock)
{
	test_access();
	while (lock->taken)
		explore_until_changed(&lock->taken, 1);
	lock->taken = 1;
}

static inline void spin_unlock(spinlock_t *lock)
{
	lock->taken = 0;
}

typedef struct { u32 nothing; } wait_queue_head_t;
static inline void init_waitqueue_head(wait_queue_head_t *q) { }
static inline void wake_up_all(wait_queue_head_t *q) { }
#define wait_event_killable(q, condition) ({				\
	(void)&(q);							\
	while (!(condition))						\
		;							\
	0;								\
})

struct work_struct { u32 nothing; };
#define DECLARE_WORK(name, function)	\
	void (*const name)(struct work_struct *) = function
static inline void schedule_work(void (*const *work)(struct work_struct *)) { }
static inline void flush_work(void (*const *work)(struct work_struct *)) { }

static const unsigned long jiffies;
#define msecs_to_jiffies(ms)	(ms)
#define time_after(a, b)	((a) > (b))
#define time_before(a, b)	((a) < (b))
static inline void usleep_range(u32 from, u32 to) { test_access(); }
static inline void udelay(u32 us) { test_access(); }
static inline int __ffs64(u64 word) { return __builtin_ctzll(word); }

static u64 heap[32];
static inline void *kzalloc(size_t size, int flags)
{
	CHECK(size <= sizeof(heap));
	return heap;
}

static inline void kfree(void *p) { }

/* Memory of processes. */
struct mm_struct { u32 nothing; };
struct mmu_notifier { const struct mmu_notifier_ops *ops; };
struct mmu_notifier_range { unsigned long start, end; };
struct mmu_notifier_ops {
	int (*invalidate_range_start)(struct mmu_notifier *mn,
				      const struct mmu_notifier_range *range);
	void (*invalidate_range_end)(struct mmu_notifier *mn,
				     const struct mmu_notifier_range *range);
	void (*release)(struct mmu_notifier *mn, struct mm_struct *mm);
};

static struct mmu_notifier *notified;
static inline int mmu_notifier_register(struct mmu_notifier *mn, struct mm_struct *mm)
{
	notified = mn;
	return 0;
}

static inline void mmu_notifier_unregister(struct mmu_notifier *mn,
					   struct mm_struct *mm) { }
static inline bool mmu_notifier_range_blockable(const struct mmu_notifier_range *r)
{
	return true;
}

#define current			NULL
static inline pid_t task_tgid_nr(const void *task) { return 1; }

static inline void preempt_disable(void) { }
static inline void preempt_enable(void) { }
static inline void pagefault_disable(void) { }
static inline void pagefault_enable(void) { }
/* Each copier has a CPU of its own. */
static inline u32 smp_processor_id(void) { return explore_self(); }

static inline u32 mios_link_self(void) { return SELF; }
static inline u32 mios_link_nr(void) { return NR; }
static inline struct mios_copies *mios_link_copies(u32 instance)
{
	return &w.copies[instance];
}

static inline bool mios_link_runs(u32 instance, u32 incarnation)
{
	model_access();
	return !w.over[instance];
}

#endif
