// SPDX-License-Identifier: GPL-2.0
/*
 * The register lock.  Called by mios/reglock/ and libmios-lock.
 *
 *	seat	IDLE -> BUSY		 taking				BUSY -> IDLE
 *	register		read: 0					write 0
 *	owner				me	the lock is held    nobody
 *
 * Ordering, by name.
 *   ENTER	BUSY into the own word, then the register is read: a full barrier.
 *   OWN	the register, then the owner; no owner, then the register; and each
 *		of them before the own word says IDLE.
 *   PROOF	Who dies leaves BUSY, or the owner.  The owner says for certain who
 *		has it.  Without one, whoever recovers has to find out whether the
 *		dead have the register or somebody living who has not said so yet:
 *		(1) each word that is BUSY has to change: who was giving it back
 *		has done so; (2) the register is taken; (3) each word that is BUSY
 *		has to change: who had taken it by (2) has become the owner.  Who
 *		waits so is idle meanwhile, or two would wait for each other.  If
 *		the owner has not changed all the while, then at (2) none of the
 *		living had it.  A dead one whose death is not known yet is waited
 *		for like the living: too long, and then nothing is concluded.
 *   SHARE	A share is written down while its seat has the register, and who
 *		wants the lock alone looks at all of them with the register: so
 *		each of the two sees the other.
 *   CLAIM	the owner's word is counted on, so of those who recover one wins.
 */
#include "../inject/inject.h"
#include "register.h"

MIOS_INJECT_UNIT(past_shares);
MIOS_INJECT_UNIT(no_first_wait);
MIOS_INJECT_UNIT(no_last_wait);
MIOS_INJECT_UNIT(register_forgets);
MIOS_INJECT_UNIT(any_epoch);

#define EPOCH_SHIFT	MIOS_REGISTER_STATE_BITS
#define EPOCH_MAX	((1u << MIOS_REGISTER_EPOCH_BITS) - 1)
#define ONCE		(1ull << (EPOCH_SHIFT + MIOS_REGISTER_EPOCH_BITS))
#define STATE_MASK	((1ull << MIOS_REGISTER_STATE_BITS) - 1)
#define OWNER_BITS	16
#define OWNER_MASK	((1u << OWNER_BITS) - 1)

static u32 word_state(u64 word)
{
	return word & STATE_MASK;
}

static u32 word_epoch(u64 word)
{
	return word >> EPOCH_SHIFT & EPOCH_MAX;
}

static u64 word_become(u64 word, u32 state)
{
	return (word & ~STATE_MASK) | state;
}

static u64 *word_of(const struct mios_register *reg, u32 seat)
{
	return &reg->header->seat[seat].word;
}

static u64 owner_next(u64 owner, u32 who)
{
	return ((owner >> OWNER_BITS) + 1) << OWNER_BITS | who;
}

size_t mios_register_size(u32 seats)
{
	if (!seats || seats > MIOS_REGISTER_SEATS_MAX)
		return 0;
	return sizeof(struct mios_register_header) +
	       seats * sizeof(struct mios_register_seat);
}

int mios_register_format(void *memory, u32 seats)
{
	struct mios_register_header *header = memory;

	if (!mios_register_size(seats))
		return -EINVAL;
	memset(header, 0, mios_register_size(seats));
	header->version = MIOS_REGISTER_VERSION;
	header->nr_seats = seats;
	/* Last: who sees it sees the rest. */
	smp_store_release(&header->magic, MIOS_REGISTER_MAGIC);
	return 0;
}

int mios_register_attach(struct mios_register *reg, void *memory, size_t size,
			 u32 seat, u32 epoch)
{
	struct mios_register_header *header = memory;
	u64 old, magic = 0;

	if (size >= sizeof(*header))
		/* All of it stands there. */
		magic = smp_load_acquire(&header->magic);
	if (magic != MIOS_REGISTER_MAGIC)
		return -EBADMSG;
	if (READ_ONCE(header->version) != MIOS_REGISTER_VERSION)
		return -EPROTO;
	*reg = (struct mios_register) {
		.header = header, .nr_seats = READ_ONCE(header->nr_seats),
		.seat = seat, .epoch = epoch,
	};
	if (!mios_register_size(reg->nr_seats) ||
	    size < mios_register_size(reg->nr_seats))
		return -EBADMSG;
	if (seat >= reg->nr_seats || epoch > EPOCH_MAX)
		return -EINVAL;
	old = READ_ONCE(*word_of(reg, seat));
	if (word_state(old) != MIOS_REGISTER_IDLE ||
	    READ_ONCE(header->seat[seat].share))
		return -EBUSY;
	WRITE_ONCE(*word_of(reg, seat),
		   (old & ~(ONCE - 1)) | (u64)epoch << EPOCH_SHIFT);
	return 0;
}

/* -EBUSY: another CPU is there with this seat. */
static int enter(struct mios_register *reg)
{
	u64 *word = word_of(reg, reg->seat);
	u64 old = READ_ONCE(*word);

	if (word_epoch(old) != reg->epoch || word_state(old) == MIOS_REGISTER_DEAD)
		return -ESTALE;
	if (word_state(old) == MIOS_REGISTER_BUSY)
		return -EBUSY;
	return try_cmpxchg(word, &old, (old + ONCE) | MIOS_REGISTER_BUSY) ?
		0 : -EBUSY;
}

static void leave(struct mios_register *reg)
{
	u64 *word = word_of(reg, reg->seat);

	/* OWN */
	smp_store_release(word, word_become(READ_ONCE(*word),
					    MIOS_REGISTER_IDLE));
}

/* Only bit 0 is the lock; all ones is a device that is gone. */
static bool is_taken(struct mios_register *reg)
{
	return reg->ops->read(reg->ctx) & 1;
}

static void become_owner(struct mios_register *reg)
{
	u64 *owner = &reg->header->owner;

	/* OWN */
	smp_store_release(owner, owner_next(READ_ONCE(*owner), reg->seat + 1));
	reg->holds = true;
}

static int take(struct mios_register *reg)
{
	int err;

	if (READ_ONCE(reg->header->owner) & OWNER_MASK)
		return -EBUSY;
	err = enter(reg);
	if (err)
		return err;
	if (is_taken(reg)) {
		leave(reg);
		return -EBUSY;
	}
	become_owner(reg);
	reg->told = READ_ONCE(reg->header->died);
	return reg->told ? -EOWNERDEAD : 0;
}

static void give_back(struct mios_register *reg)
{
	u64 *owner = &reg->header->owner;

	reg->holds = false;
	/* OWN */
	smp_store_release(owner, owner_next(READ_ONCE(*owner), 0));
	reg->ops->clear(reg->ctx);
	leave(reg);
}

/* The first share that somebody has, or NULL; the caller has the register. */
static u64 *share_left(struct mios_register *reg, u64 *was)
{
	u64 *share;
	u32 i;

	if (!READ_ONCE(reg->header->shares) ||
	    inject_past_shares)
		return NULL;
	for (i = 0; i < reg->nr_seats; i++) {
		share = &reg->header->seat[i].share;
		/* SHARE */
		*was = smp_load_acquire(share);
		if (*was)
			return share;
	}
	WRITE_ONCE(reg->header->shares, 0);
	return NULL;
}

int mios_register_try(struct mios_register *reg)
{
	int err = take(reg);
	u64 was;

	if (err && err != -EOWNERDEAD)
		return err;
	if (!share_left(reg, &was))
		return err;
	give_back(reg);
	return -EBUSY;
}

static int take_in_time(struct mios_register *reg)
{
	u64 *owner = &reg->header->owner;
	int err;

	for (;;) {
		err = take(reg);
		if (err != -EBUSY)
			return err;
		if (reg->wait->late(reg->ctx))
			return -ETIMEDOUT;
		reg->wait->pause(reg->ctx, owner, READ_ONCE(*owner));
	}
}

int mios_register_lock(struct mios_register *reg)
{
	int err = take_in_time(reg);
	u64 *share, was;

	if (err && err != -EOWNERDEAD)
		return err;
	while ((share = share_left(reg, &was))) {
		if (reg->wait->late(reg->ctx)) {
			give_back(reg);
			return -ETIMEDOUT;
		}
		reg->wait->pause(reg->ctx, share, was);
	}
	return err;
}

/* Nothing is made well under a share: so others are told, too. */
int mios_register_share(struct mios_register *reg)
{
	int err = take_in_time(reg);

	if (err && err != -EOWNERDEAD)
		return err;
	WRITE_ONCE(reg->header->seat[reg->seat].share, reg->epoch + 1ull);
	WRITE_ONCE(reg->header->shares, 1);
	reg->shares = true;
	give_back(reg);
	return err;
}

int mios_register_unlock(struct mios_register *reg)
{
	if (reg->shares) {
		reg->shares = false;
		/* SHARE */
		smp_store_release(&reg->header->seat[reg->seat].share, 0);
		return 0;
	}
	if (!reg->holds)
		return -EPERM;
	if (reg->told)
		WRITE_ONCE(reg->header->died, 0);
	give_back(reg);
	return 0;
}

/* Until each that is at the register has moved on; -EAGAIN: it takes too long. */
static int outwait(struct mios_register *reg)
{
	u32 i, pauses = 0;
	u64 *word, was;

	for (i = 0; i < reg->nr_seats; i++) {
		word = word_of(reg, i);
		/* PROOF: what it did before it moved on is seen. */
		was = smp_load_acquire(word);
		if (word_state(was) != MIOS_REGISTER_BUSY)
			continue;
		/* PROOF */
		while (smp_load_acquire(word) == was) {
			if (pauses++ >= reg->patience)
				return -EAGAIN;
			reg->wait->pause(reg->ctx, word, was);
		}
	}
	return 0;
}

/* 1: it was free, and is the caller's, who is busy now; 0: neither. */
static int look(struct mios_register *reg)
{
	int err = enter(reg);

	if (err)
		return err;
	if (!is_taken(reg))
		return 1;
	leave(reg);
	return 0;
}

/* 0: the register is taken, and by none of the living; 1: it is the caller's. */
static int prove(struct mios_register *reg)
{
	int got = look(reg);

	if (!got && !inject_no_first_wait)
		got = outwait(reg);
	if (!got)
		got = look(reg);
	if (!got && !inject_no_last_wait)
		got = outwait(reg);
	return got;
}

static int claim(struct mios_register *reg, u64 owner)
{
	int err = enter(reg);

	if (err)
		return err;
	reg->holds = try_cmpxchg(&reg->header->owner, &owner,
				 owner_next(owner, reg->seat + 1));
	if (!reg->holds)
		leave(reg);
	return reg->holds ? 0 : -EAGAIN;
}

/* -EBUSY: another CPU has the seat now; 1: none of the dead has the lock. */
static int inherit(struct mios_register *reg)
{
	struct mios_register_header *header = reg->header;
	/* PROOF: before any word is looked at. */
	u64 owner = smp_load_acquire(&header->owner);
	u32 who = owner & OWNER_MASK;
	int err = 0;

	if (who > reg->nr_seats)
		return -EAGAIN;
	if (who && word_state(READ_ONCE(*word_of(reg, who - 1))) !=
		   MIOS_REGISTER_DEAD)
		return 1;
	if (!who)
		err = prove(reg);
	if (err > 0)
		become_owner(reg);
	else if (!err)
		err = claim(reg, owner);
	if (err < 0)
		return err;
	if (who && !inject_register_forgets)
		WRITE_ONCE(header->died, 1);
	return 0;
}

static void forget(struct mios_register *reg, u32 seat)
{
	u64 *word = word_of(reg, seat);
	u64 was = READ_ONCE(*word);

	if (word_state(was) == MIOS_REGISTER_DEAD)
		try_cmpxchg(word, &was, word_become(was, MIOS_REGISTER_IDLE));
}

/* Is there anything to find out?  One that is idle has nothing but a share. */
static bool bury(struct mios_register *reg, u32 seat, u32 epoch)
{
	u64 *word = word_of(reg, seat);
	u64 share = epoch + 1ull, was;

	try_cmpxchg(&reg->header->seat[seat].share, &share, 0);
	/* What the dead did before. */
	was = smp_load_acquire(word);
	while (word_state(was) == MIOS_REGISTER_BUSY &&
	       (word_epoch(was) == epoch ||
		inject_any_epoch))
		if (try_cmpxchg(word, &was,
				word_become(was, MIOS_REGISTER_DEAD)))
			return true;
	return word_state(was) == MIOS_REGISTER_DEAD;
}

int mios_register_recover(struct mios_register *reg, u32 seat, u32 epoch)
{
	u32 i;
	int err;

	if (seat >= reg->nr_seats || seat == reg->seat)
		return -EINVAL;
	if (!bury(reg, seat, epoch))
		return 0;
	err = inherit(reg);
	if (err > 0)
		forget(reg, seat);
	if (err)
		return err > 0 ? 0 : err == -EBUSY ? -EAGAIN : err;
	for (i = 0; i < reg->nr_seats; i++)
		forget(reg, i);
	reg->told = false;
	return mios_register_unlock(reg);
}
