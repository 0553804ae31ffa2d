// SPDX-License-Identifier: GPL-2.0
/*
 * What the explorer goes through of the register lock: two or three who want
 * it, each of which may die at any step, and one or two who recover that.  One
 * at a time has it, and nobody gives it back but that one; who died with it is
 * told of, once; and in the end the register is free.
 */
#include "../../../mios/reglock/register.h"
#include "explore.h"

#define SEATS_MAX	5
#define UNDERTAKER	3	/* seats and instances of those who recover */

/**
 * struct registers - who is there
 * @contenders:	how many want it
 * @rounds:	how often
 * @sharers:	those of them that want a share
 * @undertakers: how many recover each death
 * @reborn:	the dead are back, with another epoch, before one of them looks
 */
struct registers {
	u32 contenders, rounds, undertakers, sharers;
	bool reborn;
};

static struct {
	u8 memory[2 * MIOS_LOCK_LINE + SEATS_MAX * MIOS_LOCK_LINE];
	u64 taken;		/* the register */
	u64 dead;		/* contenders */
	u32 inside;		/* who has the lock, + 1 */
	u32 must_tell;
	u32 recovered;
	u32 buried;		/* which contender */
	u32 sharing;		/* contenders that have a share */
	u32 pad;
} w __attribute__((aligned(64)));

static const struct registers *registers;

static u32 read_register(void *ctx)
{
	u64 was;

	(void)ctx;
	test_access();
	was = w.taken;
	w.taken = 1;
	return was;
}

static void clear_register(void *ctx)
{
	(void)ctx;
	test_access();
	CHECK(!w.inside);
	w.taken = 0;
}

/* Not for an owner: for the register to be free, in time or never. */
static void pause_until(void *ctx, u64 *word, u64 value)
{
	const struct mios_register_header *header = (void *)w.memory;

	(void)ctx;
	if (word == &header->owner)
		explore_until_changed(&w.taken, 1);
	else
		explore_until_changed(word, value);
}

static bool never_late(void *ctx)
{
	(void)ctx;
	return false;
}

static const struct mios_register_ops ops = {
	.read = read_register, .clear = clear_register,
};

static const struct mios_lock_wait waits = {
	.pause = pause_until, .late = never_late,
};

static void view(struct mios_register *reg, u32 seat, u32 epoch)
{
	CHECK(!mios_register_attach(reg, w.memory, sizeof(w.memory), seat,
				    epoch));
	reg->ops = &ops;
	reg->wait = &waits;
	reg->patience = ~0u;
}

static void inside(u32 seat, bool shared)
{
	if (shared) {
		w.sharing |= 1u << seat;
		test_access();
		w.sharing &= ~(1u << seat);
		return;
	}
	CHECK(!w.sharing);
	w.must_tell = 0;
	w.inside = seat + 1;
	test_access();
	w.inside = 0;
}

static void want(u32 seat)
{
	struct mios_register reg;
	bool shared;
	u32 round;
	int err;

	view(&reg, seat, 1 + !!(w.dead & 1ull << seat));
	for (round = 0; round < registers->rounds; round++) {
		shared = registers->sharers & 1u << seat;
		err = shared ? mios_register_share(&reg) :
			       mios_register_lock(&reg);
		CHECK(!w.inside);
		CHECK(err == -EOWNERDEAD || (!err && !w.must_tell));
		inside(seat, shared);
		CHECK(!mios_register_unlock(&reg));
	}
}

static void recover(u32 seat)
{
	struct mios_register reg;
	int err;

	view(&reg, seat, 1);
	do
		err = mios_register_recover(&reg, w.buried, 1);
	while (err == -EAGAIN);
	CHECK(!err);
	if (registers->reborn && !w.recovered++)
		explore_task(want, w.buried);
}

static void died(u32 instance)
{
	u32 i;

	if (instance >= UNDERTAKER)
		return;
	w.dead |= 1ull << instance;
	w.buried = instance;
	w.sharing &= ~(1u << instance);
	if (w.inside == instance + 1) {
		w.inside = 0;
		w.must_tell = 1;
	}
	for (i = 0; i < registers->undertakers; i++)
		explore_task(recover, UNDERTAKER + i);
}

static void end(void)
{
	const struct mios_register_header *header = (void *)w.memory;
	u32 i;

	CHECK(!w.taken);
	CHECK(!(header->owner & 0xffff));
	for (i = 0; i < SEATS_MAX; i++)
		CHECK(!(header->seat[i].word & 3) && !header->seat[i].share);
}

static void setup(const struct scenario *scenario)
{
	u32 i;

	registers = scenario->own;
	memset(&w, 0, sizeof(w));
	CHECK(mios_register_size(SEATS_MAX) == sizeof(w.memory));
	CHECK(!mios_register_format(w.memory, SEATS_MAX));
	explore_world(&w, sizeof(w));
	for (i = 0; i < registers->contenders; i++)
		explore_task(want, i);
}

#define OWN(...)	(&(const struct registers){ __VA_ARGS__ })

static const struct entry entries[] = {
	{ "two at a register twice", false, 0,
	  OWN(.contenders = 2, .rounds = 2) },
	{ "three at a register", false, 0, OWN(.contenders = 3, .rounds = 1) },
	{ "two at a register twice, a death", false, 1,
	  OWN(.contenders = 2, .rounds = 2, .undertakers = 1) },
	{ "one at a register, a death, back early", false, 1,
	  OWN(.contenders = 1, .rounds = 1, .undertakers = 2, .reborn = true) },
	{ "three at a register, two share it", false, 0,
	  OWN(.contenders = 3, .rounds = 1, .sharers = 3) },
	{ "two at a register, one shares it, a death", false, 1,
	  OWN(.contenders = 2, .rounds = 2, .undertakers = 1, .sharers = 1) },
	{ "two at a register, a death, one is back early", true, 1,
	  OWN(.contenders = 2, .rounds = 1, .undertakers = 2, .reborn = true) },
	{ "three at a register, two share it, a death", true, 1,
	  OWN(.contenders = 3, .rounds = 1, .undertakers = 1, .sharers = 3) },
	{ "three at a register, a death", true, 1,
	  OWN(.contenders = 3, .rounds = 1, .undertakers = 1) },
};

void test_registers(bool deep)
{
	const struct scenario common = {
		.setup = setup, .died = died, .end = end,
	};

	explore_list(&common, entries, sizeof(entries) / sizeof(*entries),
		     deep);
}
