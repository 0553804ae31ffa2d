// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer goes through of the barrier: two or three members that meet
 * in a tree of two levels, each of which may die at any step, and one or two
 * who say so.  Nobody leaves before all have come, all get the sum, and of each
 * round all that live learn the same.
 */
#include "../../../mios/memory/lock/barrier.h"
#include "explore.h"

#define MEMBERS_MAX	3
#define NODES_MAX	3
#define ROUNDS_MAX	2
#define FAN		2
#define UNDERTAKER	5

/**
 * struct meeting - who meets
 * @members:	how many
 * @rounds:	how often
 * @leaves:	members that may find it late, once
 * @breaks:	how many say that one has died
 * @spins:	looks before they sleep
 */
struct meeting {
	u32 members, rounds, leaves, breaks, spins;
};

enum outcome { UNKNOWN, OVER, BROKEN };

static struct {
	u8 memory[128 + (NODES_MAX + MEMBERS_MAX) * MIOS_LOCK_LINE];
	u64 dead;		/* members */
	u32 arrived[ROUNDS_MAX];
	u32 outcome[ROUNDS_MAX];
	u32 was_late;		/* members */
	u32 pad;
} w __attribute__((aligned(64)));

static const struct meeting *meeting;

static bool late_perhaps(void *ctx)
{
	return explore_late((unsigned long)ctx, meeting->leaves, &w.was_late);
}

static const struct mios_lock_wait sleeps = {
	.spins = 0, .pause = explore_pause, .sleep = explore_sleep,
	.wake = explore_wake, .late = late_perhaps,
};

static const struct mios_lock_wait spins = {
	.spins = 1, .pause = explore_pause, .sleep = explore_sleep,
	.wake = explore_wake, .late = late_perhaps,
};

static void view(struct mios_barrier *barrier, u32 member)
{
	CHECK(!mios_barrier_view(barrier, w.memory, sizeof(w.memory), member));
	barrier->wait = meeting->spins ? &spins : &sleeps;
	barrier->ctx = (void *)(unsigned long)member;
}

static u64 sum(u64 a, u64 b)
{
	return a + b;
}

static u64 value_of(u32 member, u32 round)
{
	return 1ull << (8 * member + round);
}

static u64 sum_of(u32 round)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < meeting->members; i++)
		value += value_of(i, round);
	return value;
}

static void meet(u32 member)
{
	struct mios_barrier barrier;
	u64 value;
	u32 round;
	int err;

	view(&barrier, member);
	for (round = 0; round < meeting->rounds; round++) {
		value = value_of(member, round);
		w.arrived[round]++;
		err = mios_barrier_meet(&barrier, &value, sum);
		if (err == -ETIMEDOUT)
			err = mios_barrier_meet(&barrier, &value, sum);
		CHECK(!err || (err == -EHOSTDOWN && w.dead));
		CHECK(w.outcome[round] != (err ? OVER : BROKEN));
		w.outcome[round] = err ? BROKEN : OVER;
		if (err)
			return;
		CHECK(w.arrived[round] == meeting->members);
		CHECK(value == sum_of(round));
	}
}

static void say_so(u32 instance)
{
	struct mios_barrier barrier;

	(void)instance;
	view(&barrier, 0);
	mios_barrier_break(&barrier);
}

static void died(u32 instance)
{
	u32 i;

	if (instance < UNDERTAKER)
		w.dead |= 1ull << instance;
	for (i = 0; i < meeting->breaks; i++)
		explore_task(say_so, UNDERTAKER + i);
}

static void end(void)
{
	u32 i;

	for (i = 0; i < meeting->rounds && !w.dead; i++)
		CHECK(w.outcome[i] == OVER);
}

static void setup(const struct scenario *scenario)
{
	u32 i;

	meeting = scenario->own;
	memset(&w, 0, sizeof(w));
	CHECK(mios_barrier_bytes(meeting->members, FAN) <= sizeof(w.memory));
	CHECK(!mios_barrier_format(w.memory, meeting->members, FAN));
	explore_world(&w, sizeof(w));
	for (i = 0; i < meeting->members; i++)
		explore_task(meet, i);
}

#define OWN(...)	(&(const struct meeting){ __VA_ARGS__ })

static const struct entry entries[] = {
	{ "two meet twice", false, 0, OWN(.members = 2, .rounds = 2) },
	{ "two meet twice, one is late", false, 0,
	  OWN(.members = 2, .rounds = 2, .leaves = 1) },
	{ "two meet twice, a death", false, 1,
	  OWN(.members = 2, .rounds = 2, .breaks = 1) },
	{ "two that spin first meet twice", false, 0,
	  OWN(.members = 2, .rounds = 2, .spins = 1) },
	{ "two that spin first meet, a death", false, 1,
	  OWN(.members = 2, .rounds = 1, .breaks = 1, .spins = 1) },
	{ "two meet, two deaths", false, 2,
	  OWN(.members = 2, .rounds = 1, .breaks = 1) },
	{ "three meet", false, 0, OWN(.members = 3, .rounds = 1) },
	{ "three meet, a death", false, 1,
	  OWN(.members = 3, .rounds = 1, .breaks = 1) },
	{ "two meet twice, one is late, a death", true, 1,
	  OWN(.members = 2, .rounds = 2, .leaves = 1, .breaks = 1) },
	{ "three that spin first meet, a death", true, 1,
	  OWN(.members = 3, .rounds = 1, .breaks = 1, .spins = 1) },
	{ "two meet twice, a death, two say so", true, 1,
	  OWN(.members = 2, .rounds = 2, .breaks = 2) },
	{ "three meet twice", true, 0, OWN(.members = 3, .rounds = 2) },
	{ "three meet twice, a death", true, 1,
	  OWN(.members = 3, .rounds = 2, .breaks = 1) },
	{ "three meet, two deaths", true, 2,
	  OWN(.members = 3, .rounds = 1, .breaks = 1) },
};

void test_meet(bool deep)
{
	const struct scenario common = {
		.setup = setup, .died = died, .end = end,
	};

	explore_list(&common, entries, sizeof(entries) / sizeof(*entries),
		     deep);
}
