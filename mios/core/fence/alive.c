// SPDX-License-Identifier: GPL-2.0
/*
 * Signs of life of each CPU of an instance, in its notes: a timer interrupt, a
 * task that the interrupt wakes, and for all of them together a page of
 * memory, once a second.  The heartbeat of the ring only shows that one CPU
 * goes on.  What stands still, and what is done about it, is instance 0's to
 * say (mios/core/watch/hang.c).  No locks: each CPU has its own words.
 */
#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smpboot.h>
#include <linux/workqueue.h>

#include "../../inject/inject.h"
#include "fence.h"

#define INTERVAL	(NSEC_PER_SEC)

MIOS_INJECT_SWITCH(lost_tick, "a CPU loses its timer");
MIOS_INJECT_SWITCH(no_memory, "take all memory, and end nobody for it");

static DEFINE_PER_CPU(struct hrtimer, tick_timer);
static DEFINE_PER_CPU(struct task_struct *, alive_task);
static DEFINE_PER_CPU(bool, asked);

static void memory_ask(struct work_struct *work);
static DECLARE_DELAYED_WORK(memory_work, memory_ask);

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct mios_cpu_note *note = mios_cpu_note(smp_processor_id());

	if (note)
		WRITE_ONCE(note->tick, note->tick + 1);
	__this_cpu_write(asked, true);
	wake_up_process(__this_cpu_read(alive_task));
	if (inject_lost_tick)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(INTERVAL));
	return HRTIMER_RESTART;
}

static int alive_asked(unsigned int cpu)
{
	return __this_cpu_read(asked);
}

static void alive_run(unsigned int cpu)
{
	struct mios_cpu_note *note = mios_cpu_note(cpu);

	__this_cpu_write(asked, false);
	if (note)
		WRITE_ONCE(note->task, note->task + 1);
}

static void alive_start(unsigned int cpu)
{
	struct hrtimer *timer = this_cpu_ptr(&tick_timer);

	mios_hrtimer_setup(timer, tick, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(INTERVAL),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void alive_setup(unsigned int cpu)
{
	/* A program that uses all of a CPU is no reason to end an instance. */
	sched_set_fifo(current);
	alive_start(cpu);
}

static void alive_park(unsigned int cpu)
{
	hrtimer_cancel(this_cpu_ptr(&tick_timer));
}

static void alive_cleanup(unsigned int cpu, bool online)
{
	alive_park(cpu);
}

static struct smp_hotplug_thread alive_threads = {
	.store			= &alive_task,
	.thread_should_run	= alive_asked,
	.thread_fn		= alive_run,
	.setup			= alive_setup,
	.cleanup		= alive_cleanup,
	.park			= alive_park,
	.unpark			= alive_start,
	.thread_comm		= "mios-alive/%u",
};

#ifdef MIOS_INJECT
/* The kernel would end a task or panic: it is kept from that. */
static int memory_wait(struct notifier_block *block, unsigned long unused,
		       void *freed)
{
	while (inject_no_memory)
		schedule_timeout_uninterruptible(HZ);
	return NOTIFY_OK;
}

static struct notifier_block memory_notifier = {
	.notifier_call = memory_wait,
};

/* Each time: what others give back in between would be a page for the next. */
static void memory_take(void)
{
	static bool waits;
	int order = MAX_PAGE_ORDER;

	if (!inject_no_memory)
		return;
	if (!waits)
		waits = !register_oom_notifier(&memory_notifier);
	while (order >= 0)
		if (!alloc_pages(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN,
				 order))
			order--;
}
#else
static void memory_take(void) { }
#endif

/* Nobody gets memory where this waits for ever. */
static void memory_ask(struct work_struct *work)
{
	struct mios_notes *notes = mios_notes();
	unsigned long page;

	memory_take();
	page = __get_free_page(GFP_KERNEL);
	if (page)
		WRITE_ONCE(notes->memory, notes->memory + 1);
	free_page(page);
	queue_delayed_work(system_unbound_wq, &memory_work, HZ);
}

/**
 * mios_alive_init - on an instance, begin to show signs of life
 */
int mios_alive_init(void)
{
	int err;

	if (!mios_notes())
		return 0;
	err = smpboot_register_percpu_thread(&alive_threads);
	if (!err)
		queue_delayed_work(system_unbound_wq, &memory_work, 0);
	return err;
}

/**
 * mios_alive_exit - stop showing them
 */
void mios_alive_exit(void)
{
	if (!mios_notes())
		return;
	cancel_delayed_work_sync(&memory_work);
	smpboot_unregister_percpu_thread(&alive_threads);
}
