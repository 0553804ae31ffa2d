// SPDX-License-Identifier: GPL-2.0
/*
 * The locks that are compared.  That of mios/memory/lock/ is the code itself;
 * the others, which the tree has no code of, are what textbooks and the paper
 * have: each word of theirs in one cache line, as Linux had its ticket lock.
 */
#include <stdlib.h>

#include "locks.h"
#include "world.h"

#define fetch_add(p, v)	(world_access((p), true),			\
			 __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))

struct words {
	u64 taken;
	u32 next, owner;
};

static bool takes(struct words *words)
{
	u64 free = 0;

	return try_cmpxchg(&words->taken, &free, 1);
}

static void tas_lock(struct contender *contender)
{
	while (!takes(contender->memory))
		;
}

static void ttas_lock(struct contender *contender)
{
	struct words *words = contender->memory;

	do {
		while (READ_ONCE(words->taken))
			world_until_lost(&words->taken);
	} while (!takes(words));
}

static void word_unlock(struct contender *contender)
{
	struct words *words = contender->memory;

	smp_store_release(&words->taken, 0);
}

static void ticket_lock(struct contender *contender)
{
	struct words *words = contender->memory;
	u32 ticket = fetch_add(&words->next, 1);

	while (smp_load_acquire(&words->owner) != ticket)
		world_until_lost(&words->taken);
}

static void ticket_unlock(struct contender *contender)
{
	struct words *words = contender->memory;

	/* Its own, and in its own cache or not: no need to look. */
	smp_store_release(&words->owner, words->owner + 1);
}

static u32 queue_places(u32 contenders)
{
	/* As the code has it; beyond its seats one for each. */
	return contenders <= MIOS_LOCK_SEATS ? mios_qlock_places(contenders) :
					       MIOS_LOCK_PLACES_MAX;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void queue_make(void *memory, u32 contenders)
{
	must(!mios_qlock_format(memory, queue_places(contenders)));
}

static void queue_pause(void *ctx, u64 *word, u64 value)
{
	world_until_lost(word);
}

static void queue_sleep(void *ctx, u64 *word, u32 value)
{
	world_sleep(word, value);
}

static void queue_wake(void *ctx, u64 *word)
{
	world_wake(word);
}

static bool never_late(void *ctx)
{
	return false;
}

static void queue_attach_with(struct contender *contender, u32 contenders,
			      const struct mios_lock_wait *wait)
{
	u32 seat = contender->number % MIOS_LOCK_SEATS;
	u32 epoch = 1 + contender->number / MIOS_LOCK_SEATS;

	must(!mios_qlock_attach(&contender->queue, contender->memory,
				lock_bytes(contenders), seat, epoch));
	contender->queue.wait = wait;
}

static void queue_attach(struct contender *contender, u32 contenders)
{
	static const struct mios_lock_wait looks_on = {
		.spins = ~0u, .pause = queue_pause, .sleep = queue_sleep,
		.wake = queue_wake, .late = never_late,
	};

	queue_attach_with(contender, contenders, &looks_on);
}

static void sleep_attach(struct contender *contender, u32 contenders)
{
	static const struct mios_lock_wait sleeps = {
		.spins = 0, .pause = queue_pause, .sleep = queue_sleep,
		.wake = queue_wake, .late = never_late,
	};

	queue_attach_with(contender, contenders, &sleeps);
}

static void queue_lock(struct contender *contender)
{
	must(!mios_qlock_lock(&contender->queue, false));
}

static void queue_unlock(struct contender *contender)
{
	must(!mios_qlock_unlock(&contender->queue));
}

/* The paper's, figure 8: first a look, then the read that takes it. */
static void register_lock(struct contender *contender)
{
	while (world_register_read(false) || world_register_read(true))
		;
}

static void register_unlock(struct contender *contender)
{
	world_register_clear();
}

static void reglock_make(void *memory, u32 contenders)
{
	must(!mios_register_format(memory, contenders));
}

static u32 reglock_read(void *ctx)
{
	return world_register_read(true);
}

/* The read waits until the write is there; of another register, in truth. */
static void reglock_clear(void *ctx)
{
	world_register_clear();
	world_register_read(false);
}

/* Somebody has it: until that changes.  Else there is the register to read. */
static void reglock_pause(void *ctx, u64 *word, u64 value)
{
	if ((uint16_t)value)
		world_until_lost(word);
}

static void reglock_attach(struct contender *contender, u32 contenders)
{
	static const struct mios_register_ops ops = {
		.read = reglock_read, .clear = reglock_clear,
	};
	static const struct mios_lock_wait looks_on = {
		.pause = reglock_pause, .late = never_late,
	};

	must(!mios_register_attach(&contender->reg, contender->memory,
				   mios_register_size(contenders),
				   contender->number, 1));
	contender->reg.ops = &ops;
	contender->reg.wait = &looks_on;
}

static void reglock_lock(struct contender *contender)
{
	must(!mios_register_lock(&contender->reg));
}

static void reglock_unlock(struct contender *contender)
{
	must(!mios_register_unlock(&contender->reg));
}

const char *const lock_name[LOCK_KINDS + 1] = {
	[LOCK_TAS] = "tas", [LOCK_TTAS] = "ttas", [LOCK_TICKET] = "ticket",
	[LOCK_QUEUE] = "queue", [LOCK_SLEEP] = "sleep",
	[LOCK_REGISTER] = "register", [LOCK_REGLOCK] = "reglock",
};

const struct lock_ops lock_ops[LOCK_KINDS] = {
	[LOCK_TAS] = { .lock = tas_lock, .unlock = word_unlock },
	[LOCK_TTAS] = { .lock = ttas_lock, .unlock = word_unlock },
	[LOCK_TICKET] = { .lock = ticket_lock, .unlock = ticket_unlock },
	[LOCK_QUEUE] = { .make = queue_make, .attach = queue_attach,
			 .lock = queue_lock, .unlock = queue_unlock },
	[LOCK_SLEEP] = { .make = queue_make, .attach = sleep_attach,
			 .lock = queue_lock, .unlock = queue_unlock },
	[LOCK_REGISTER] = { .lock = register_lock,
			    .unlock = register_unlock },
	[LOCK_REGLOCK] = { .make = reglock_make, .attach = reglock_attach,
			   .lock = reglock_lock, .unlock = reglock_unlock },
};

size_t lock_bytes(u32 contenders)
{
	size_t queue = mios_qlock_size(queue_places(contenders));
	size_t reg = mios_register_size(contenders);

	return queue > reg ? queue : reg;
}
