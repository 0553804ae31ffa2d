/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lock in a device's register that a read takes: whoever reads 0 has it, and
 * whoever reads 1 has not; a write of 0 gives it back.  Beside it in memory
 * (mios/register.h) stands who has it, so that others look there first, and that
 * a death does not leave it taken.  Portable, as lock.h; docs/locks.md explains it.
 */
#ifndef _MIOS_LOCK_REGISTER_H
#define _MIOS_LOCK_REGISTER_H

#include "../memory/lock/lock.h"

#include <mios/register.h>

/**
 * struct mios_register_ops - the register
 * @read:	once; what has been read
 * @clear:	write 0 to it, and be sure that it is there before returning
 */
struct mios_register_ops {
	u32 (*read)(void *ctx);
	void (*clear)(void *ctx);
};

/**
 * struct mios_register - a lock as one seat sees it
 * @header:	where it is mapped here
 * @ops:	the register
 * @wait:	how to wait; nobody sleeps
 * @ctx:	first argument of those in @ops and @wait
 * @seat:	whose it is
 * @epoch:	of that seat
 * @nr_seats:	checked copy
 * @patience:	how often to pause for a word that should change soon
 * @holds:	has the lock
 * @told:	that somebody died with it
 * @shares:	has a share of it
 */
struct mios_register {
	struct mios_register_header *header;
	const struct mios_register_ops *ops;
	const struct mios_lock_wait *wait;
	void *ctx;
	u32 seat;
	u32 epoch;
	u32 nr_seats;
	u32 patience;
	bool holds;
	bool told;
	bool shares;
};

/* Bytes of memory for so many seats, 0: too many. */
size_t mios_register_size(u32 seats);

/* Nobody has it; the caller is alone. */
int mios_register_format(void *memory, u32 seats);

/**
 * mios_register_attach() - take a seat
 * @reg: out; the caller sets the rest
 * @memory: where it is mapped
 * @size: how much is
 * @seat: nobody else has it, under
 * @epoch: an epoch that it has not had before, or has been recovered from
 *
 * 0; -EPROTO: another version; -EBADMSG: damaged; -EINVAL: no such seat or
 * epoch; -EBUSY: whoever had the seat has died and not been recovered.
 */
int mios_register_attach(struct mios_register *reg, void *memory, size_t size,
			 u32 seat, u32 epoch);

/* 0; -EOWNERDEAD: taken, and its holder died; -EBUSY; -ESTALE: taken for dead. */
int mios_register_try(struct mios_register *reg);

/* The same until it is late: -ETIMEDOUT. */
int mios_register_lock(struct mios_register *reg);

/*
 * The same with others who want a share; nobody has it alone meanwhile.  Who waits
 * to have it alone keeps the register, so that no more shares are given.
 */
int mios_register_share(struct mios_register *reg);

/* Also of a share.  -EPERM: not held. */
int mios_register_unlock(struct mios_register *reg);

/**
 * mios_register_recover() - after a death
 * @reg: any view but that of the dead, not held
 * @seat: whose tasks run no more: it has been fenced
 * @epoch: its last one
 *
 * Any number may do it at once, and again.  0; -EAGAIN: not known yet whether it
 * has the register, because others are slow, or too quick: to be called again.
 */
int mios_register_recover(struct mios_register *reg, u32 seat, u32 epoch);

#endif /* _MIOS_LOCK_REGISTER_H */
