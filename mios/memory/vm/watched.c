// SPDX-License-Identifier: GPL-2.0
/*
 * Processes of this instance whose memory others copy from or to.  They have
 * been told where its pages are, and keep that; nothing is pinned for them.  So
 * each such process is watched (mmu_notifier) and has a generation in the area,
 * which is raised before a page of it becomes something else's.
 *
 * COPY: no page is used by a copier once it is no longer the process's:
 *
 *	copies (copy.c)				changes (invalidate_range_start)
 *	own hazard word = process		generation++
 *	full barrier				full barrier
 *	generation as told?  no: hazard = 0	hazard words of those who were told:
 *	copies 16 pages at most			that name it: waits
 *	hazard = 0 (release)			goes on: unmaps, frees
 *
 * Not both read what was before the other's store: either the copier sees the
 * new generation and does nothing, or the change sees his hazard and waits.
 *
 * LOOK: what is told is never older than its generation.  Who looks pages up
 * first says whom he tells (who) and which addresses (low, high), then reads the
 * generation while no change is under way (active), and only then the page
 * tables.  A change that he has not seen counts itself in afterwards, so it
 * finds both, raises the generation that was read, and waits for that copier.
 *
 * A right may end, too: exec(), setuid() and the like raise the generation of
 * the process, after which it is asked for anew (mios_watch_changed()).
 *
 * Deaths: a hazard word of a dead instance stays until it boots again; nobody
 * waits for one whose CPUs have stopped.  What a copier finds of a process whose
 * instance is dead is not copied any more once that can be known by anybody
 * (mios_link_runs(), looked at behind the barrier, like the generation); before
 * any survivor recovers what it had he waits for copiers in the same way
 * (mios_copiers_leave()).
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mmu_notifier.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../../inject/inject.h"
#include "../../core/link/link.h"

#include "vm.h"

MIOS_INJECT_SWITCH(no_generation, "let copies go on from pages that have changed hands");
MIOS_INJECT_SWITCH(keep_over_exec, "forget no right to copy when a process changes");

/* A copier has been inside for so long: said once in a while. */
#define INSIDE_MS	1000

enum watch_state {
	WATCH_MAKING,		/* not registered yet */
	WATCH_READY,
	WATCH_OVER,		/* to be ended */
	WATCH_ENDING,
};

/**
 * struct mios_watch - a watched process
 * @mn:		tells of changes
 * @mm:		its memory
 * @tgid:	its number
 * @slot:	of the area's generations
 * @state:	enum watch_state; under watches_lock, as the next two
 * @users:	who are serving for it
 * @used:	when it was asked for last (jiffies)
 * @lock:	of the next three
 * @generation:	as in the area
 * @low, @high:	addresses that anybody has been told of
 * @active:	changes under way
 * @who:	instances that have been told of any
 * @quiet:	waits for @active to be 0
 */
struct mios_watch {
	struct mmu_notifier mn;
	struct mm_struct *mm;
	pid_t tgid;
	u32 slot;
	enum watch_state state;
	u32 users;
	unsigned long used;
	spinlock_t lock; /* generation, low, high */
	u64 generation;
	unsigned long low;
	unsigned long high;
	atomic_t active;
	atomic64_t who;
	wait_queue_head_t quiet;
};

static struct mios_watch *watches[MIOS_COPY_SLOTS];
static u32 watches_top;		/* none from there on */
static DEFINE_SPINLOCK(watches_lock);

static void watches_end(struct work_struct *work);
static DECLARE_WORK(end_work, watches_end);

/* --- copiers */

/* Is a CPU of that instance at it?  All words: how many count is not believed. */
static bool is_inside(u32 instance, u32 mask, u32 value)
{
	const struct mios_copies *c = mios_link_copies(instance);
	u32 i;

	for (i = 0; c && i < MIOS_AREA_CPUS; i++)
		if ((READ_ONCE(c->hazard[i]) & mask) == value)
			return true;
	return false;
}

/* A copy takes microseconds, unless its CPU does not run. */
static void wait_outside(u32 instance, u32 mask, u32 value, bool sleep)
{
	unsigned long told = jiffies + msecs_to_jiffies(INSIDE_MS);

	while (is_inside(instance, mask, value) && mios_link_runs(instance, 0)) {
		if (sleep)
			usleep_range(10, 50);
		else
			udelay(1);
		if (time_after(jiffies, told)) {
			pr_warn_ratelimited("instance %u is in the middle of a copy, and does not go on\n",
					    instance);
			told = jiffies + msecs_to_jiffies(INSIDE_MS);
		}
	}
}

void mios_copiers_leave(u32 instance)
{
	u32 i;

	smp_mb(); /* COPY: that it is fenced has been read before */
	for (i = 0; i < mios_link_nr(); i++)
		wait_outside(i, 0xffff0000, MIOS_COPY_HAZARD(instance, 0), true);
}

static void wait_for_copiers(struct mios_watch *w, bool sleep)
{
	u32 value = MIOS_COPY_HAZARD(mios_link_self(), w->slot);
	u64 who;

	smp_mb(); /* COPY */
	for (who = atomic64_read(&w->who); who; who &= who - 1)
		wait_outside(__ffs64(who), ~0, value, sleep);
}

/* --- changes */

static void generation_raise(struct mios_watch *w)
{
	struct mios_copies *c = mios_link_copies(mios_link_self());

	if (!inject_no_generation)
		WRITE_ONCE(c->generation[w->slot], ++w->generation);
}

static int change_begins(struct mmu_notifier *mn,
			 const struct mmu_notifier_range *range)
{
	struct mios_watch *w = container_of(mn, struct mios_watch, mn);
	bool told;

	atomic_inc(&w->active);
	smp_mb__after_atomic(); /* LOOK */
	spin_lock(&w->lock);
	told = range->start < w->high && range->end > w->low;
	if (told)
		generation_raise(w);
	spin_unlock(&w->lock);
	if (told && !inject_no_generation)
		wait_for_copiers(w, mmu_notifier_range_blockable(range));
	return 0;
}

static void change_ends(struct mmu_notifier *mn,
			const struct mmu_notifier_range *range)
{
	struct mios_watch *w = container_of(mn, struct mios_watch, mn);

	if (atomic_dec_and_test(&w->active))
		wake_up_all(&w->quiet);
}

static void watch_over(struct mios_watch *w)
{
	spin_lock(&w->lock);
	generation_raise(w);
	spin_unlock(&w->lock);
}

/* All of the memory goes; or nobody watches it any more. */
static void memory_ends(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct mios_watch *w = container_of(mn, struct mios_watch, mn);

	watch_over(w);
	wait_for_copiers(w, true);
	spin_lock(&watches_lock);
	if (w->state == WATCH_READY)
		w->state = WATCH_OVER;
	spin_unlock(&watches_lock);
	schedule_work(&end_work);
}

static const struct mmu_notifier_ops watch_ops = {
	.invalidate_range_start = change_begins,
	.invalidate_range_end = change_ends,
	.release = memory_ends,
};

void mios_watch_changed(struct mm_struct *mm)
{
	u32 i;

	if (!READ_ONCE(watches_top) || inject_keep_over_exec)
		return;
	spin_lock(&watches_lock);
	for (i = 0; i < watches_top; i++)
		if (watches[i] && (watches[i]->mm == mm ||
				   watches[i]->tgid == task_tgid_nr(current)))
			watch_over(watches[i]);
	spin_unlock(&watches_lock);
}

/* --- the watched */

/* Under watches_lock. */
static struct mios_watch *find(pid_t tgid, const struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < watches_top; i++)
		if (watches[i] && watches[i]->mm == mm &&
		    watches[i]->tgid == tgid)
			return watches[i];
	return NULL;
}

/* Under watches_lock: an empty slot, or none; then the oldest one goes. */
static u32 slot_find(void)
{
	struct mios_watch *oldest = NULL;
	u32 i;

	for (i = 0; i < MIOS_COPY_SLOTS; i++) {
		struct mios_watch *w = watches[i];

		if (!w)
			return i;
		if (w->state == WATCH_READY && !w->users &&
		    (!oldest || time_before(w->used, oldest->used)))
			oldest = w;
	}
	if (oldest) {
		oldest->state = WATCH_OVER;
		schedule_work(&end_work);
	}
	return MIOS_COPY_SLOTS;
}

static void watch_remove(struct mios_watch *w)
{
	spin_lock(&watches_lock);
	watches[w->slot] = NULL;
	while (watches_top && !watches[watches_top - 1])
		watches_top--;
	spin_unlock(&watches_lock);
	kfree(w);
}

/* One that is over and that nobody uses; it is ours then. */
static struct mios_watch *over_take(void)
{
	struct mios_watch *w = NULL;
	u32 i;

	spin_lock(&watches_lock);
	for (i = 0; i < watches_top && !w; i++)
		if (watches[i] && watches[i]->state == WATCH_OVER &&
		    !watches[i]->users)
			w = watches[i];
	if (w)
		w->state = WATCH_ENDING;
	spin_unlock(&watches_lock);
	return w;
}

static void watches_end(struct work_struct *work)
{
	struct mios_watch *w;

	while ((w = over_take())) {
		mmu_notifier_unregister(&w->mn, w->mm);
		watch_remove(w);
	}
}

/* -EBUSY: somebody makes or ends it, or all slots are taken for now. */
static struct mios_watch *watch_take(struct mios_watch *new)
{
	struct mios_copies *c = mios_link_copies(mios_link_self());
	struct mios_watch *w;

	spin_lock(&watches_lock);
	w = find(new->tgid, new->mm);
	if (w && w->state != WATCH_READY)
		w = ERR_PTR(-EBUSY);
	if (!w) {
		new->slot = slot_find();
		w = new->slot < MIOS_COPY_SLOTS ? new : ERR_PTR(-EBUSY);
	}
	if (w == new) {
		/* No generation of a slot comes twice in a boot. */
		new->generation = READ_ONCE(c->generation[new->slot]) + 1;
		WRITE_ONCE(c->generation[new->slot], new->generation);
		watches[new->slot] = new;
		watches_top = max(watches_top, new->slot + 1);
	}
	if (!IS_ERR(w)) {
		w->users++;
		w->used = jiffies;
	}
	spin_unlock(&watches_lock);
	return w;
}

static struct mios_watch *watch_make(pid_t tgid, struct mm_struct *mm)
{
	struct mios_watch *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return NULL;
	w->mn.ops = &watch_ops;
	w->mm = mm;
	w->tgid = tgid;
	w->state = WATCH_MAKING;
	spin_lock_init(&w->lock);
	w->low = ULONG_MAX;
	init_waitqueue_head(&w->quiet);
	return w;
}

struct mios_watch *mios_watch_find(pid_t tgid, struct mm_struct *mm)
{
	struct mios_watch *w;

	spin_lock(&watches_lock);
	w = find(tgid, mm);
	if (w && w->state == WATCH_READY) {
		w->users++;
		w->used = jiffies;
	} else {
		w = ERR_PTR(-EAGAIN);
	}
	spin_unlock(&watches_lock);
	return w;
}

struct mios_watch *mios_watch_get(pid_t tgid, struct mm_struct *mm)
{
	struct mios_watch *new, *w = mios_watch_find(tgid, mm);
	int err;

	if (!IS_ERR(w))
		return w;
	new = watch_make(tgid, mm);
	if (!new)
		return ERR_PTR(-ENOMEM);
	w = watch_take(new);
	if (w != new) {
		kfree(new);
		return w;
	}
	/* May wait for whoever has the memory's lock: without ours. */
	err = mmu_notifier_register(&w->mn, mm);
	if (err) {
		watch_remove(w);
		return ERR_PTR(err);
	}
	spin_lock(&watches_lock);
	w->state = WATCH_READY;
	spin_unlock(&watches_lock);
	return w;
}

void mios_watch_put(struct mios_watch *w)
{
	spin_lock(&watches_lock);
	w->users--;
	if (w->state == WATCH_OVER && !w->users)
		schedule_work(&end_work);
	spin_unlock(&watches_lock);
}

int mios_watch_begin(struct mios_watch *w, u32 instance, unsigned long start,
		     unsigned long end, bool wait,
		     struct mios_msg_copy_pages *answer)
{
	bool changes = true;

	atomic64_or(BIT_ULL(instance), &w->who);
	spin_lock(&w->lock);
	w->low = min(w->low, start);
	w->high = max(w->high, end);
	spin_unlock(&w->lock);
	answer->slot = w->slot;
	while (changes) {
		if (wait && wait_event_killable(w->quiet,
						!atomic_read(&w->active)))
			return -EINTR;
		spin_lock(&w->lock); /* LOOK */
		changes = atomic_read(&w->active);
		answer->generation = w->generation;
		spin_unlock(&w->lock);
		if (changes && !wait)
			return -EAGAIN;
	}
	return 0;
}

/* Of an earlier life of this module somebody may know pages yet. */
int mios_watch_init(void)
{
	struct mios_copies *c = mios_link_copies(mios_link_self());
	u32 i;

	for (i = 0; c && i < MIOS_COPY_SLOTS; i++)
		WRITE_ONCE(c->generation[i], READ_ONCE(c->generation[i]) + 1);
	return 0;
}

/* Nobody is served any more. */
void mios_watch_exit(void)
{
	u32 i;

	spin_lock(&watches_lock);
	for (i = 0; i < watches_top; i++)
		if (watches[i] && watches[i]->state == WATCH_READY)
			watches[i]->state = WATCH_OVER;
	spin_unlock(&watches_lock);
	schedule_work(&end_work);
	flush_work(&end_work);
}
