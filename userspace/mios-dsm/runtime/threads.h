/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program's threads as the engine's CPUs: which thread waits where, and
 * whether it has got on since its page arrived.  Called by dsm_node.c, on the
 * service thread.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "../../../mios/dsm/dsm.h"

#define THREADS_MAX	128
#define THREAD_PAGES	8	/* remembered of a program's instruction */

struct thread {
	pid_t tid;		/* 0: a free place; places change hands */
	int syscall;		/* its file in /proc, -1: not open */
	u32 page;		/* where it has stopped, or did last */
	bool write, stopped;
	u64 stopped_at, woken_at;	/* ns */
	u64 ran;		/* ns of a CPU that it had had by then */
	u64 patience;		/* ns that it has a page at least */
	/*
	 * It runs a guest's CPU: ns of a CPU in which the instruction that has
	 * waited is over, 0: an ordinary thread.  got_on: it was when it stopped.
	 */
	u64 quantum;
	bool got_on;
	atomic_bool rests;	/* it has said so, since it was woken */
	/*
	 * The instruction that it stopped at when somebody looked last, and the
	 * pages at which it has stopped since; watched: all at that one; looked:
	 * the last one, too.
	 */
	u64 pc, sp;
	bool in_kernel, watched, looked;
	u32 wanted[THREAD_PAGES], count;
	/* A store that is emulated; stores.c. */
	u8 stage;		/* enum thread_stage */
	bool deaf;		/* it does not hear the signal */
	u64 asked_at;		/* ns */
	atomic_uint go;		/* enum thread_go; the thread waits for it, */
	atomic_uint *own;	/* or, in THREAD_AWAITS, for one on its own stack */
};

/* Where a thread is with the store that it has stopped at. */
enum thread_stage {
	THREAD_OUT,		/* userfaultfd holds it, or nobody does */
	THREAD_ASKED,		/* a signal is on its way to it */
	THREAD_INSIDE,		/* it is in the signal's handler */
	THREAD_AWAITS,		/* its own fault, without the lock; own.c */
};

/* What the engine says to a thread inside. */
enum thread_go { GO_WAIT, GO_RETRY, GO_DONE, GO_LOST };

struct threads {
	struct thread thread[THREADS_MAX];
};

/*
 * The CPU that stands for a thread; -1 if all places are taken by others that have
 * stopped, or hold pages.
 */
int threads_find(struct threads *ts, pid_t tid, const struct dsm *d);
/* The thread has stopped at a page. */
void thread_stop(struct thread *t, u32 page, bool write, u64 now);
/*
 * False: at an instruction that has stopped at this page before, so that it is
 * still the same one which needs several at once.  look: the caller wants
 * to know pc, sp and in_kernel whatever it takes.
 */
bool thread_place(struct thread *t, bool look);
/* The same for a thread that is known to be there: it says so itself. */
bool thread_at(struct thread *t, u64 pc, u64 sp);
void thread_wake(struct thread *t, u64 now);
/* It has been told what the engine says, if it is inside; else false. */
bool thread_tell(struct thread *t, enum thread_go go);
/* It goes on if it awaits that; what it does until then. */
void thread_release(struct thread *t, enum thread_go go);
enum thread_go thread_await(atomic_uint *own);
/* It keeps its place from now on; see quantum. */
void thread_mark(struct thread *t, u64 quantum);
/* Has it completed an instruction since it was woken? */
bool thread_moved(const struct thread *t, u64 now);

#endif /* THREADS_H */
