/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few kernels that share futexes: mios/memory/ipc/futex.c itself, once for
 * each, on models of what it stands on: kernel/futex/ with the series
 * linux/ipc/, and mios_call() of mios/core/link/.
 */
#ifndef _MODEL_H
#define _MODEL_H

#include <linux/futex.h>

#define NR		3	/* instances */
#define WAITERS		(2 * NR)	/* the first of each instance, the second of each */
#define FUTEXES		2	/* each of which has a bucket of its own */
#define SLOTS		4	/* calls that have not been answered */
#define TASKS		12

typedef struct { u32 counter; } atomic_t;

union futex_key {
	struct {
		u64 i_seq;
		unsigned long pgoff;
		unsigned int offset;
	} shared;
};

/* As linux/ipc/ has it. */
struct futex_remote_ops {
	void *owner;
	atomic_t *(*enter)(const union futex_key *key);
	int (*wake)(union futex_key *key, int nr, u32 bitset);
	bool (*dead)(int tid);
};

/**
 * struct instance - what mios/memory/ipc/futex.c is, compiled for one instance
 * @begin:	at boot: it has these columns
 * @ops:	what it registers
 * @asked:	serves a call
 * @pay:	its delayed work
 * @dead:	is told of a death
 */
struct instance {
	void (*begin)(void *columns);
	const struct futex_remote_ops *ops;
	int (*asked)(void *ctx, u32 instance, u32 incarnation, const void *data,
		     u32 length, void *answer, u32 *size);
	void (*pay)(void);
	void (*dead)(u32 instance);
};

extern const struct instance *const instances[NR];

/* What is broken on purpose besides the knobs of futex.c. */
enum model_break {
	LATE_ENTER,			/* is counted after it has looked */
	NO_ENTER_BARRIER,
	NO_WAKE_BARRIER,
	NO_MOVE,			/* is moved, and not counted there */
	NO_DEBT,			/* who has not answered is owed nothing */
	TWICE,				/* a call is served twice */
	EARLY_DEATH,			/* its owners are let go before the fence */
	EARLY_BURIAL,			/* and its waiters */
	NO_OP_REST,			/* FUTEX_WAKE_OP stays at home */
	NO_OP_SECOND,			/* for its second futex */
	LATE_OP,			/* it wakes before it changes that */
	LEAVE_WOKEN,			/* who has been woken may give up still */
	BREAKS
};

extern bool model_broken[BREAKS];

/**
 * struct waiter - struct futex_q, of one task
 * @queued:	1 until somebody takes it out of the queue
 * @place:	the futex that it waits on
 * @instance:	of the task
 * @remote:	where it is counted
 */
struct waiter {
	u64 queued;
	u32 place, instance;
	atomic_t *remote;
};

enum slot_state { FREE, ASKED, ANSWERED, ABANDONED };

/**
 * struct slot - a call of mios_call()
 * @state:	enum slot_state; who calls waits for it to be ANSWERED
 * @ask:	what is sent, struct mios_call_wake; @served: somebody has begun
 */
struct slot {
	u64 state;
	u64 ask[4];
	u32 from, to, served;
	int result;
	u32 answer, pad;
};

/* A store that its CPU holds back from the others. */
struct held {
	u32 *where;
	u64 add;
};

/**
 * struct world - all that is shared, and what checks remember
 * @word:	futexes, which programs change
 * @lock:	of each bucket; @hb: its count of waiters
 * @rung:	there are calls for it; @work: its delayed work is to run
 * @over:	the instance is no more, and others may know it; @silent: it is
 *		taken for dead, and has not been fenced
 * @late:	so many calls may be answered too late
 * @debts:	and so what is owed is a step, and more than one task's
 * @turns:	any instance may be the first that is woken
 * @taken:	waiters that a wake has taken out of a queue
 * @shifted:	and that a requeue has moved
 * @counted:	waiters that callers of futex_wake() were told of
 * @left:	tasks of each instance that have something to do
 * @moved:	the requeue is over
 * @inside:	who has the lock; @must_tell: who had it is dead
 */
struct world {
	u32 word[FUTEXES];
	u64 lock[NR][FUTEXES];
	u32 hb[NR][FUTEXES];
	u64 rung[NR], work[NR], over[NR], silent[NR];
	struct slot slot[SLOTS];
	struct held held[TASKS];
	struct waiter waiter[WAITERS];
	u32 late, debts, turns, taken, shifted, counted;
	u32 left[NR];
	/* scenarios.c */
	u64 moved;
	bool inside[WAITERS], must_tell;
};

extern struct world w;

/* Of a task: how its loads, stores and barriers meet those of others. */
void model_access(void);
void model_access_debts(void);
void model_hold(u32 *where, u32 add);
void model_barrier(void);

/* Below mios/memory/ipc/futex.c, on this instance. */
int model_wake_key(u32 self, const union futex_key *key, int nr);
void model_wake_all(u32 self);
int model_call(u32 self, u32 to, const void *ask, void *answer);
void model_schedule(u32 self);
bool model_over(u32 instance);

/* The system calls. */
int futex_wait(struct waiter *q, u32 place, u32 value, bool leaves);
int futex_wake(u32 self, u32 place, int nr);
int futex_requeue(u32 self, int nr_wake, int nr_requeue);
int futex_wake_op(u32 self);

/* Daemons: tasks of a kernel. */
void kernel_serve(u32 self);
void kernel_pay(u32 self);

void kernel_boot(void);
void kernel_died(u32 instance);

#endif
