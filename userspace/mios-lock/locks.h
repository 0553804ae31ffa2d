/* SPDX-License-Identifier: GPL-2.0 */
/* The locks that are compared, each as one contender uses it. */
#ifndef _MIOS_LOCK_LOCKS_H
#define _MIOS_LOCK_LOCKS_H

#include "../../mios/memory/lock/lock.h"
#include "../../mios/reglock/register.h"

enum lock_kind {
	LOCK_TAS,		/* test and set */
	LOCK_TTAS,		/* look, then test and set: a memory lock */
	LOCK_TICKET,
	LOCK_QUEUE,		/* mios/memory/lock/, waiters look on */
	LOCK_SLEEP,		/* the same, waiters sleep at once */
	LOCK_REGISTER,		/* two reads of a register: the paper's */
	LOCK_REGLOCK,		/* mios/memory/lock/, who has it stands in memory */
	LOCK_KINDS
};

/* Each seat has two contenders there: 2,048 of them fit. */
#define CONTENDERS_MAX	2048

/**
 * struct contender - its own side of a lock
 * @memory:	where the lock is
 * @queue:	its view of a queue lock
 * @reg:	of a register lock
 * @number:	which one it is
 */
struct contender {
	void *memory;
	struct mios_qlock queue;
	struct mios_register reg;
	u32 number;
};

/**
 * struct lock_ops - a lock
 * @make:	in memory that is zeroed, for so many contenders; NULL: nothing to do
 * @attach:	before a contender's first lock; NULL: likewise
 * @lock, @unlock: from a contender's own stack
 */
struct lock_ops {
	void (*make)(void *memory, u32 contenders);
	void (*attach)(struct contender *contender, u32 contenders);
	void (*lock)(struct contender *contender);
	void (*unlock)(struct contender *contender);
};

extern const char *const lock_name[LOCK_KINDS + 1];
extern const struct lock_ops lock_ops[LOCK_KINDS];

/* Each contender of LOCK_REGLOCK has a seat of its own. */
static inline u32 lock_contenders_max(enum lock_kind kind)
{
	return kind == LOCK_REGLOCK ? MIOS_REGISTER_SEATS_MAX : CONTENDERS_MAX;
}

/* Bytes that are enough for any of them. */
size_t lock_bytes(u32 contenders);

#endif /* _MIOS_LOCK_LOCKS_H */
