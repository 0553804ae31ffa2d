// SPDX-License-Identifier: GPL-2.0
/*
 * Whose turn it is to ask an instance for a process: one of those who may send
 * signals to anybody (CAP_KILL), and beside him one of all others, so no user
 * stands in root's way, and two of four calls are left for other purposes
 * (SERVED_MAX in call.c).  Users take turns, however many of each wait: a user has
 * one place in the queue, that of the first of his, and when he has had his turn
 * the next of his has the last place.
 *
 * Under the lock nothing grows with what a user does: who comes looks for his own
 * user among those who wait, and the rest is moving a list.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include <mios/layout.h>

#include "../../inject/inject.h"

#include "pid.h"

MIOS_INJECT_SWITCH(one_line, "let all who ask for processes wait in one line");

/**
 * struct waiter - one who waits
 * @entry:	in the queue, or in @same of the first of his user
 * @same:	of the first: the others of that user
 * @uid:	the user
 * @come:	it is his turn
 */
struct waiter {
	struct list_head entry;
	struct list_head same;
	u32 uid;
	struct completion come;
};

/**
 * struct lane - those who ask one instance, of one kind
 * @lock:	of the rest
 * @taken:	it is somebody's turn
 * @queue:	the first of each user who waits
 */
struct lane {
	spinlock_t lock; /* taken, queue */
	bool taken;
	struct list_head queue;
};

static struct lane lanes[MIOS_AREA_INSTANCES][2];

/* --- under the lock */

static void enter(struct lane *lane, struct waiter *w)
{
	struct waiter *first;

	list_for_each_entry(first, &lane->queue, entry)
		if (first->uid == w->uid) {
			list_add_tail(&w->entry, &first->same);
			return;
		}
	list_add_tail(&w->entry, &lane->queue);
}

/* The next one of his user has his place; @last: the last one. */
static void leave(struct lane *lane, struct waiter *w, bool last)
{
	struct waiter *next;

	next = list_first_entry_or_null(&w->same, struct waiter, entry);
	if (next) {
		list_del(&next->entry);
		list_splice_init(&w->same, &next->same);
		list_add_tail(&next->entry, last ? &lane->queue : &w->entry);
	}
	list_del(&w->entry);
}

static void hand_on(struct lane *lane)
{
	struct waiter *w;

	w = list_first_entry_or_null(&lane->queue, struct waiter, entry);
	lane->taken = w;
	if (!w)
		return;
	leave(lane, w, true);
	complete(&w->come);
}

/* --- */

static struct lane *lane_of(u32 instance, bool privileged)
{
	return &lanes[instance][privileged && !inject_one_line];
}

/* Its time is over, or he is killed: or has it come just now? */
static int give_up(struct lane *lane, struct waiter *w, bool killed)
{
	int err = killed ? -EINTR : -ETIMEDOUT;

	spin_lock(&lane->lock);
	if (!completion_done(&w->come))
		leave(lane, w, false);
	else if (killed)
		hand_on(lane);
	else
		err = 0;
	spin_unlock(&lane->lock);
	return err;
}

int mios_turn_begin(u32 instance, bool privileged, u32 uid, u32 timeout_ms)
{
	struct lane *lane = lane_of(instance, privileged);
	struct waiter w = { .uid = inject_one_line ? 0 : uid };
	bool wait;
	long left;

	INIT_LIST_HEAD(&w.same);
	init_completion(&w.come);
	spin_lock(&lane->lock);
	wait = lane->taken;
	lane->taken = true;
	if (wait)
		enter(lane, &w);
	spin_unlock(&lane->lock);
	if (!wait)
		return 0;
	left = wait_for_completion_killable_timeout(&w.come,
						    msecs_to_jiffies(timeout_ms));
	return left > 0 ? 0 : give_up(lane, &w, left < 0);
}

void mios_turn_end(u32 instance, bool privileged)
{
	struct lane *lane = lane_of(instance, privileged);

	spin_lock(&lane->lock);
	hand_on(lane);
	spin_unlock(&lane->lock);
}

void mios_turns_init(void)
{
	u32 i;

	for (i = 0; i < 2 * MIOS_AREA_INSTANCES; i++) {
		spin_lock_init(&lanes[i / 2][i % 2].lock);
		INIT_LIST_HEAD(&lanes[i / 2][i % 2].queue);
	}
}
