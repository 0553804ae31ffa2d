// SPDX-License-Identifier: GPL-2.0
/*
 * Silence: a member whose heartbeat stands still for too long is suspect, and
 * unharmed when it is heard again (the table in docs/failure.md).  Only said
 * here, to the log and the listeners; whoever does more about it must fence
 * first.
 *
 * Silence is counted in heartbeats of this kernel, not in time: when all of
 * the machine stands still, or only the observer, nobody becomes suspect.
 *
 * The counts are written by the beat's timer alone (softirq context); what
 * changed is told by a work item, alone on what it remembers (@told).
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/math64.h>
#include <linux/moduleparam.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(count_time, "count silence by the clock");

static uint suspect_timeout = 5;
module_param(suspect_timeout, uint, 0644);
MODULE_PARM_DESC(suspect_timeout, "seconds of silence after which an instance is suspect (0: never)");

/* Longer than anybody waits, and far from an overflow in milliseconds. */
#define TIMEOUT_MAX_S	86400U
/* Heartbeats of the slowest possible sender that may be missing. */
#define BEATS_MISSING	3U
#define BEAT_MAX_MS	1000U

static struct work_struct tell_work;

/* How many own heartbeats of silence are too many; U32_MAX: none. */
static u32 silence_limit(const struct mios_peer *peer, u32 beat_ms)
{
	u32 seconds = min(READ_ONCE(suspect_timeout), TIMEOUT_MAX_S);
	u32 theirs = min(READ_ONCE(peer->lines->beat.interval_ms), BEAT_MAX_MS);

	if (!seconds)
		return U32_MAX;
	return max(seconds * 1000U, BEATS_MISSING * theirs) / beat_ms;
}

/* For a test: what a clock says, also while nobody listened. */
static u32 time_silent_ms(const struct mios_peer *peer)
{
	u64 then = READ_ONCE(peer->lines->beat.tsc), now = rdtsc_ordered();

	return now > then ? div_u64(now - then, tsc_khz) : 0;
}

/* Look at one member at an own heartbeat; true: that has changed. */
static bool peer_listen(struct mios_peer *peer, u32 beat_ms)
{
	struct mios_silence *s = &peer->silence;
	u64 count = READ_ONCE(peer->lines->beat.count);
	u32 incarnation = READ_ONCE(peer->incarnation);
	bool joined = READ_ONCE(peer->state) == MIOS_PEER_JOINED;
	bool suspect, changed;

	if (joined && count == s->count && incarnation == s->incarnation)
		s->ticks = min(s->ticks + 1, U32_MAX / beat_ms);
	else
		s->ticks = 0;
	if (joined && mios_inject(count_time))
		s->ticks = time_silent_ms(peer) / beat_ms;
	s->count = count;
	s->incarnation = incarnation;
	suspect = s->ticks >= silence_limit(peer, beat_ms);
	if (suspect)
		WRITE_ONCE(s->ms, s->ticks * beat_ms);
	changed = suspect != s->suspect;
	WRITE_ONCE(s->suspect, suspect);
	return changed;
}

/* Softirq context, at each own heartbeat. */
void mios_suspect_tick(struct mios_ring *ring, u32 beat_ms)
{
	struct mios_peer *peer;
	bool changed = false;

	for_each_mios_peer(peer, ring)
		changed |= peer_listen(peer, beat_ms);
	if (changed)
		queue_work(mios_link.mail, &tell_work);
}

u32 mios_suspect_ms(const struct mios_peer *peer)
{
	const struct mios_silence *s = &peer->silence;

	return READ_ONCE(s->suspect) ? READ_ONCE(s->ms) : 0;
}

/* One row of docs/failure.md, "Suspicion", per branch. */
static void peer_tell(struct mios_peer *peer)
{
	struct mios_silence *s = &peer->silence;
	u32 ms = mios_suspect_ms(peer);
	u32 incarnation = READ_ONCE(peer->incarnation);
	u32 told = s->told;

	if (READ_ONCE(peer->state) != MIOS_PEER_JOINED)
		ms = 0;
	s->told = ms ? incarnation : 0;
	if (s->told == told)
		return;
	if (ms) {
		pr_warn("instance %u is suspect: no heartbeat for %u.%u s\n",
			peer->instance, ms / 1000, ms / 100 % 10);
	} else if (told == incarnation &&
		   READ_ONCE(peer->state) == MIOS_PEER_JOINED) {
		pr_info("instance %u is heard again after %u.%u s: unharmed\n",
			peer->instance, s->ms / 1000, s->ms / 100 % 10);
	} else {
		return;
	}
	mios_event_tell(MIOS_EVENT_SUSPECT, peer->ring->id, peer->instance,
			incarnation);
}

static void tell(struct work_struct *work)
{
	struct mios_ring *ring;
	struct mios_peer *peer;
	u32 i;

	for_each_mios_ring(ring, i)
		for_each_mios_peer(peer, ring)
			peer_tell(peer);
}

void mios_suspect_init(void)
{
	INIT_WORK(&tell_work, tell);
}

/* After the last heartbeat. */
void mios_suspect_exit(void)
{
	cancel_work_sync(&tell_work);
}
