// SPDX-License-Identifier: GPL-2.0
/*
 * The heartbeat: a sign of life, load figures and, on instance 0, the clock's
 * anchor, written into the own block of every ring; and the tick at which
 * doorbells that got lost are found and silent members counted (suspect.c).
 * A timer, in softirq context, alone on what it writes.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>
#include <linux/sched/loadavg.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/vmstat.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(odd_beat, "leave the heartbeat as if it were being written");
MIOS_INJECT_TIMES(stop_beat, "do not show the heartbeat");
MIOS_INJECT_VALUE(late_log, "ms that the log's clock is told ahead");

static uint heartbeat_ms = 100;
module_param(heartbeat_ms, uint, 0400);
MODULE_PARM_DESC(heartbeat_ms, "time between heartbeats (10-1000)");

/* Distance of two anchors that a rate is computed from. */
#define RATE_NS		(2 * NSEC_PER_SEC)
#define RATE_MAX_NS	(8 * RATE_NS)
#define INSTANT_TRIES	5

static struct timer_list beat_timer;
static struct delayed_work count_work;
static u64 beats;
static u32 running;

/* For people; once a second, since it walks the task list. */
static void count_running(struct work_struct *work)
{
	struct task_struct *p, *t;
	u32 count = 0;

	rcu_read_lock();
	for_each_process_thread(p, t)
		if (t != current && task_is_running(t))
			count++;
	rcu_read_unlock();
	WRITE_ONCE(running, count);
	queue_delayed_work(system_unbound_wq, &count_work, HZ);
}

/**
 * mios_instant() - one instant on two clocks: the closest of a few tries
 * @clock: the other one, in nanoseconds
 * @tsc: out, the TSC
 * @ns: out, what @clock said then
 */
void mios_instant(u64 (*clock)(void), u64 *tsc, u64 *ns)
{
	u64 before, then, after, best = U64_MAX;
	int tries;

	for (tries = 0; tries < INSTANT_TRIES; tries++) {
		before = rdtsc_ordered();
		then = clock();
		after = rdtsc_ordered();
		if (after - before >= best)
			continue;
		best = after - before;
		*tsc = before + best / 2;
		*ns = then;
	}
}

static void beat_write(struct mios_ring *ring)
{
	struct mios_beat beat = {
		.nr_running = READ_ONCE(running),
		.count = beats,
		.uptime_ns = ktime_get_boottime_ns(),
		.memory_free = (u64)global_zone_page_state(NR_FREE_PAGES) <<
			       PAGE_SHIFT,
		.interval_ms = heartbeat_ms,
	};
	u32 i;

	/* printk() stamps lines by this clock. */
	mios_instant(local_clock, &beat.tsc, &beat.log_ns);
	beat.log_ns += inject_late_log * NSEC_PER_MSEC;
	for (i = 0; i < 3; i++)
		beat.load[i] = (avenrun[i] * 100) >> FSHIFT;
	mios_seq_write((u32 *)&ring->lines->beat, (const u32 *)&beat,
		       sizeof(beat));
	if (mios_inject(odd_beat))
		WRITE_ONCE(ring->lines->beat.sequence,
			   ring->lines->beat.sequence | 1);
}

/*
 * Nanoseconds per tick, times 2^32: as measured over the last seconds, which
 * includes what NTP does to the clock, unless the clock has been set since.
 */
static u64 anchor_rate(const struct mios_anchor *now)
{
	static struct mios_anchor from;
	static u64 rate;
	u64 nominal = div_u64((u64)NSEC_PER_MSEC << 32, tsc_khz);
	u64 ns = now->real_ns - from.real_ns;
	u64 measured;

	if (!rate)
		rate = nominal;
	if (from.tsc && ns < RATE_NS)
		return rate;
	/*
	 * Also a clock that was set back, which is a difference of nearly
	 * 2^64: a quotient of more than 64 bits traps.
	 */
	if (from.tsc && ns > RATE_MAX_NS) {
		from = *now;
		return rate;
	}
	if (from.tsc && now->tsc > from.tsc) {
		measured = mul_u64_u64_div_u64(ns, 1ULL << 32,
					       now->tsc - from.tsc);
		rate = abs_diff(measured, nominal) < nominal / 20 ? measured :
								   nominal;
	}
	from = *now;
	return rate;
}

static void anchor_write(void)
{
	struct mios_anchor anchor = {};
	struct mios_ring *ring;
	u32 i;

	mios_instant(ktime_get_real_ns, &anchor.tsc, &anchor.real_ns);
	anchor.mult = anchor_rate(&anchor);
	for_each_mios_ring(ring, i)
		mios_seq_write((u32 *)&ring->lines->anchor,
			       (const u32 *)&anchor, sizeof(anchor));
}

static void beat(struct timer_list *timer)
{
	bool mute = mios_inject(stop_beat);
	struct mios_counted counted;
	struct mios_ring *ring;
	u32 i;

	mod_timer(timer, jiffies + msecs_to_jiffies(heartbeat_ms));
	beats++;
	mios_counted_sum(&counted);
	mios_depose_beat();
	if (mios_link.host) {
		anchor_write();
		mios_hostlog_tick();
	}
	for_each_mios_ring(ring, i) {
		if (!mute)
			beat_write(ring);
		mios_counted_write(ring, &counted);
		mios_suspect_tick(ring, heartbeat_ms);
		mios_bell_tick(ring);
		mios_message_stuck(ring);
		if (beats % 10 == 0) {
			queue_work(mios_link.wq, &ring->scan);
			mios_message_poll_all(ring);
		}
	}
	if (beats % 10 == 0)
		mios_bulk_receive(~0ULL);
}

const struct mios_anchor *mios_link_anchor(void)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		return &mios_area_lines(ring->area, &ring->g, 0)->anchor;
	return NULL;
}

int mios_beat_init(void)
{
	int err = mios_depose_init();

	if (err)
		return err;
	heartbeat_ms = clamp(heartbeat_ms, 10U, 1000U);
	mios_suspect_init();
	INIT_DELAYED_WORK(&count_work, count_running);
	timer_setup(&beat_timer, beat, 0);
	queue_delayed_work(system_unbound_wq, &count_work, 0);
	mod_timer(&beat_timer, jiffies + 1);
	return 0;
}

void mios_beat_exit(void)
{
	mios_depose_exit();
	timer_shutdown_sync(&beat_timer);
	mios_suspect_exit();
	cancel_delayed_work_sync(&count_work);
}
