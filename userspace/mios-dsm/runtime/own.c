// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that serve their own faults (mios-dsm run --own-faults).  userfaultfd
 * raises SIGBUS in the thread instead of telling the service of it; the handler
 * takes the node's lock, asks the engine, waits for the answer and goes back to
 * the instruction.  So nobody is woken on the way out, and where the thread is and
 * whether it has got on need no guess: its registers are in the signal's frame.
 *
 * The kernel's own accesses have no handler to go to: system calls get EFAULT for
 * a page that is not here.  A thread that blocks SIGBUS ends the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "window_layout.h"
#include "registers.h"
#include "start.h"
#include "stores.h"

/* Bit of a page fault's error code. */
#define FAULT_WRITE	2
/* ns, for who finds no place among the threads; then it stops again. */
#define LATE		1000000

/* The program's, from before. */
static struct sigaction program;

/* Not a fault of the window's: as if we were not there. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	if (program.sa_flags & SA_SIGINFO) {
		program.sa_sigaction(signal, info, context);
	} else if (program.sa_handler != SIG_DFL &&
		   program.sa_handler != SIG_IGN) {
		program.sa_handler(signal);
	} else if (info->si_code > 0 || program.sa_handler == SIG_DFL) {
		/* The instruction raises it again, and nobody does for one sent. */
		sigaction(signal, &program, NULL);
		if (info->si_code <= 0)
			raise(signal);
	}
}

/* A store that many may do, if the instruction is one that is known. */
static bool shared(const struct node *n, const struct thread *t)
{
	return t->write && n->causal &&
		!(n->adapt && adapt_alone(n->adapt, t->page)) &&
		dsm_page_mode(n->dsm, t->page) != DSM_MODE_WI;
}

/*
 * go: GO_WAIT if the page is asked for, and who gets it lets the thread go on;
 * GO_LOST: it died with its holder.
 */
static void stopped(struct trap *x, ucontext_t *u, u32 page, atomic_uint *go)
{
	struct dsm_event ev = { .type = DSM_EV_RETIRED, .cpu = x->cpu };
	const greg_t *g = u->uc_mcontext.gregs;
	struct node *n = x->n;
	struct thread *t = x->t;
	bool fresh;

	thread_stop(t, page, g[REG_ERR] & FAULT_WRITE, n->now);
	fresh = thread_at(t, g[REG_RIP], g[REG_RSP]);
	if (dsm_page_access(n->dsm, page) >= (t->write ? DSM_RW : DSM_RO)) {
		node_resume(n, x->cpu);
		return;
	}
	if (fresh && dsm_cpu_holds(n->dsm, x->cpu))
		node_step(n, &ev);
	n->stats->reads += !t->write;
	n->stats->writes += t->write;
	if (shared(n, t)) {
		t->stage = THREAD_INSIDE;
		t->stopped = false;
		inside_store(x, u);
		stats_stall(n, t, STATS_STORE);
		t->stage = THREAD_OUT;
		thread_wake(t, n->now);
		if (x->lost && !layout_own(page))
			atomic_store(go, GO_LOST);
		return;
	}
	t->stage = THREAD_AWAITS;
	t->own = go;
	atomic_store(go, GO_WAIT);
	ev.page = page;
	ev.touch = t->write ? DSM_EXCLUSIVE : DSM_READ;
	inside_fault(x, &ev);
}

/*
 * It never happens while this thread has the lock: who has it touches no page of
 * the window by the program's address.
 */
static void faulted(int signal, siginfo_t *info, void *context)
{
	const struct timespec late = { .tv_nsec = LATE };
	struct trap x = { .n = &node_self };
	u64 at = (uintptr_t)info->si_addr;
	int before = errno, cpu;
	atomic_uint go = GO_RETRY;

	if (info->si_code != BUS_ADRERR ||
	    !window_has(&x.n->window, at, 1)) {
		pass_on(signal, info, context);
		return;
	}
	pthread_mutex_lock(&x.n->lock);
	x.n->now = node_clock();
	cpu = threads_find(&x.n->threads, gettid(), x.n->dsm);
	if (cpu >= 0) {
		x.cpu = cpu;
		x.t = &x.n->threads.thread[cpu];
		stopped(&x, context, (at - (u64)(uintptr_t)x.n->window.base) /
			DSM_PAGE_SIZE, &go);
	}
	pthread_mutex_unlock(&x.n->lock);
	if (cpu < 0)
		nanosleep(&late, NULL);
	/* Kernels differ in what they say of a page that they are told is lost. */
	if (thread_await(&go) == GO_LOST)
		pass_on(signal, info, context);
	errno = before;
}

int own_start(void)
{
	struct sigaction act = {
		.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (sigismember(&blocked, SIGBUS)) {
		fprintf(stderr, "mios-dsm: this thread blocks SIGBUS, which --own-faults needs: run it without\n");
		return -EPERM;
	}
	/* Another handler could stop at a page while this one has the lock. */
	sigfillset(&act.sa_mask);
	registers_start();
	return sigaction(SIGBUS, &act, &program) ? -errno : 0;
}
