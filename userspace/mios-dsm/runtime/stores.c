// SPDX-License-Identifier: GPL-2.0
/*
 * Stores that trap: with write-update a page may be written by all, and is
 * protected from all.  userfaultfd tells the service thread who has stopped, but
 * not with which registers; so that thread gets a signal.  It has them in the
 * handler, performs the store there with the engine (mios/dsm/emulate/), under
 * the node's lock, and goes on behind it.
 *
 * Nothing depends on the signal.  A thread that does not hear it, that is in a
 * system call, or whose instruction is not known, takes the page exclusively
 * and executes it.  One that has got on by then performs whatever store it is at.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "window_layout.h"
#include "registers.h"
#include "start.h"
#include "stores.h"

#define STORES_SIGNAL	SIGRTMAX
/* ns after which a thread that was asked does not hear. */
#define OVERDUE		20000000ULL
/* While the link has no room. */
#define PAUSE		100000

static void inside_wait(struct trap *x, const struct timespec *limit)
{
	struct node *n = x->n;

	pthread_mutex_unlock(&n->lock);
	syscall(SYS_futex, &x->t->go, FUTEX_WAIT_PRIVATE, GO_WAIT, limit, NULL,
		0);
	pthread_mutex_lock(&n->lock);
	n->now = node_clock();
}

void inside_fault(struct trap *x, struct dsm_event *ev)
{
	const struct timespec pause = { .tv_nsec = PAUSE };
	const u64 one = 1;

	atomic_store(&x->t->go, GO_WAIT);
	while (!node_has_room(x->n) || evict_first(x->n))
		inside_wait(x, &pause);
	ev->type = DSM_EV_FAULT;
	ev->cpu = x->cpu;
	node_step(x->n, ev);
	/* What was sent may have to be sent again, or there is more to do. */
	x->n->active = x->n->now;
	if ((x->n->asleep || x->n->more) &&
	    write(x->n->event, &one, sizeof(one)) < 0)
		node_give_up("the service cannot be woken", -errno);
}

/* And waits for what the engine says. */
static enum thread_go inside_step(struct trap *x, struct dsm_event *ev)
{
	inside_fault(x, ev);
	while (atomic_load(&x->t->go) == GO_WAIT)
		inside_wait(x, NULL);
	x->lost = atomic_load(&x->t->go) == GO_LOST;
	if (x->lost)
		node_lose(x->n, ev->page, x->t->tid);
	return atomic_load(&x->t->go);
}

/* What the program may do with the page it can do from now on. */
static void inside_map(struct trap *x, u32 page)
{
	if (window_access(&x->n->window, page,
			  dsm_page_access(x->n->dsm, page)))
		node_give_up("a page cannot be mapped", -ENOMEM);
}

/* Where byte i of the store lies. */
static u32 byte_page(const struct trap *x, u32 i)
{
	u64 at = x->s.addr + i - (u64)(uintptr_t)x->n->window.base;

	return at / DSM_PAGE_SIZE;
}

/* The word that byte i lies in, and what the store leaves there; its end. */
static u32 word_of(const struct trap *x, u32 i, struct dsm_event *ev)
{
	u64 at = x->s.addr + i;

	ev->page = byte_page(x, i);
	ev->word = at % DSM_PAGE_SIZE / 8;
	ev->mask = 0;
	ev->value = 0;
	do {
		ev->mask |= 1 << at % 8;
		ev->value |= (u64)x->s.value[i] << 8 * (at % 8);
		i++;
		at++;
	} while (i < x->s.size && at % 8);
	return i;
}

/*
 * One word of it.  The engine may say that the page is ours alone by now: then
 * it is written here, as an instruction that has begun must end.
 */
static bool word_store(struct trap *x, struct dsm_event *ev)
{
	enum thread_go go;

	ev->touch = DSM_WRITE;
	for (;;) {
		go = inside_step(x, ev);
		if (go != GO_RETRY)
			return go == GO_DONE;
		if (dsm_page_access(x->n->dsm, ev->page) != DSM_RW)
			continue;
		window_apply(&x->n->window, ev->page, ev->word, ev->mask,
			     ev->value);
		inside_map(x, ev->page);
		return true;
	}
}

/* Needs nothing of what is there.  False: nothing has been stored. */
static bool plain(struct trap *x)
{
	struct dsm_event ev = { .type = DSM_EV_FAULT };

	dsm_store_perform(&x->in, &x->before, NULL, &x->s, &x->after);
	for (u32 i = 0; i < x->s.size; ) {
		i = word_of(x, i, &ev);
		ev.tx_idle = i == x->s.size;
		if (!word_store(x, &ev))
			return false;
	}
	return true;
}

/* A test's: others have time to change what an atomic has read. */
static bool not_atomic(struct trap *x)
{
	const struct timespec pause = { .tv_nsec = PAUSE };

	if (!x->s.atomic || !(x->n->window.knobs & WINDOW_NOT_ATOMIC) ||
	    byte_page(x, 0) < LAYOUT_OWN)
		return false;
	atomic_store(&x->t->go, GO_WAIT);
	inside_wait(x, &pause);
	return true;
}

/* Reads, computes and writes within one word, under the lock. */
static bool modify(struct trap *x)
{
	struct dsm_event ev = { .tx_idle = true };
	u32 page = byte_page(x, 0);
	u8 *at = window_bytes(&x->n->window, page) +
		x->s.addr % DSM_PAGE_SIZE;
	enum thread_go go;

	for (;;) {
		ev.touch = DSM_READ;
		ev.page = page;
		if (dsm_page_access(x->n->dsm, page) != DSM_NONE) {
			dsm_store_perform(&x->in, &x->before, at, &x->s,
					  &x->after);
			word_of(x, 0, &ev);
			ev.touch = x->s.atomic ? DSM_ATOMIC : DSM_WRITE;
			if (not_atomic(x))
				ev.touch = DSM_WRITE;
		}
		go = inside_step(x, &ev);
		if (go == GO_DONE)
			return true;
		if (go == GO_LOST)
			return false;
		if (dsm_page_access(x->n->dsm, page) == DSM_RW)
			break;
	}
	/* Ours alone: the processor does it. */
	inside_map(x, page);
	return false;
}

/* What is not emulated takes the page, and is executed. */
static void exclusive(struct trap *x)
{
	struct dsm_event ev = { .page = x->t->page, .touch = DSM_EXCLUSIVE };

	if (inside_step(x, &ev) == GO_RETRY)
		inside_map(x, ev.page);
}

/* In the window, and one of those that are worth it. */
static bool known(struct trap *x)
{
	u64 in_page = DSM_PAGE_SIZE - x->before.rip % DSM_PAGE_SIZE;
	const u8 *code = (const u8 *)x->before.rip;
	int err;

	if (window_has(&x->n->window, x->before.rip, 1))
		return false;
	err = dsm_insn_decode(&x->in, code, in_page < DSM_INSN_MAX ? in_page :
			      DSM_INSN_MAX);
	if (err == -ENODATA)
		err = dsm_insn_decode(&x->in, code, DSM_INSN_MAX);
	if (err)
		return false;
	if (x->in.op == DSM_OP_VECTOR)
		registers_vectors(&x->before);
	/* Byte for byte would take longer than the page. */
	if (x->in.rep || x->in.gs ||
	    dsm_store_where(&x->in, &x->before, &x->s) || x->s.reads_from ||
	    !x->s.size || !window_has(&x->n->window, x->s.addr, x->s.size))
		return false;
	return !x->s.reads || x->s.addr % 8 + x->s.size <= 8;
}

void inside_store(struct trap *x, ucontext_t *u)
{
	struct dsm_event ev = { .type = DSM_EV_RETIRED, .cpu = x->cpu };

	registers_get(&x->before, u);
	if (!known(x)) {
		exclusive(x);
		return;
	}
	if (!(x->s.reads ? modify(x) : plain(x)))
		return;		/* to be executed, or to get its SIGBUS */
	registers_set(u, &x->after);
	x->t->count = 0;
	if (dsm_cpu_holds(x->n->dsm, x->cpu))
		node_step(x->n, &ev);
}

/* A store never happens while this thread has the lock: no page waits for it. */
static void trapped(int signal, siginfo_t *info, void *context)
{
	struct trap x = { .n = &node_self, .cpu = info->si_int };
	struct node *n = x.n;
	int before = errno;

	(void)signal;
	if (info->si_code != SI_QUEUE || info->si_pid != getpid() ||
	    x.cpu >= THREADS_MAX)
		return;
	pthread_mutex_lock(&n->lock);
	n->now = node_clock();
	x.t = &n->threads.thread[x.cpu];
	if (x.t->tid == gettid() && x.t->stage == THREAD_ASKED) {
		n->asked--;
		x.t->stage = THREAD_INSIDE;
		x.t->stopped = false;
		inside_store(&x, context);
		stats_stall(n, x.t, STATS_STORE);
		x.t->stage = THREAD_OUT;
		thread_wake(x.t, n->now);
	}
	if (x.t->tid == gettid())
		x.t->deaf = false;
	pthread_mutex_unlock(&n->lock);
	errno = before;
}

/* Asks the thread to perform the store that it has stopped at. */
bool store_ask(struct node *n, u16 cpu)
{
	struct thread *t = &n->threads.thread[cpu];
	siginfo_t info = { .si_code = SI_QUEUE };

	if (n->adapt && adapt_alone(n->adapt, t->page))
		return false;
	if (!n->causal || t->in_kernel || t->deaf ||
	    dsm_page_mode(n->dsm, t->page) == DSM_MODE_WI ||
	    window_has(&n->window, t->sp, 1))
		return false;
	if (t->stage == THREAD_ASKED)
		return true;
	info.si_pid = getpid();
	info.si_value.sival_int = cpu;
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), t->tid, STORES_SIGNAL,
		    &info))
		return false;
	t->stage = THREAD_ASKED;
	t->asked_at = n->now;
	n->asked++;
	return true;
}

/* Those that do not hear: the signal may be blocked, or the host is busy. */
void stores_overdue(struct node *n)
{
	for (u16 i = 0; i < THREADS_MAX; i++) {
		struct thread *t = &n->threads.thread[i];

		if (!t->tid || t->stage != THREAD_ASKED ||
		    n->now - t->asked_at < OVERDUE)
			continue;
		t->stage = THREAD_OUT;
		t->deaf = true;
		n->asked--;
		node_fault(n, i, DSM_EXCLUSIVE);
	}
}

int stores_start(struct node *n)
{
	struct sigaction act = {
		.sa_sigaction = trapped,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	}, old;

	(void)n;
	/* Another handler could stop at a page while this one has the lock. */
	sigfillset(&act.sa_mask);
	if (sigaction(STORES_SIGNAL, NULL, &old))
		return -errno;
	if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
		fprintf(stderr, "mios-dsm: the program has a handler for signal %d (SIGRTMAX), which write-update needs\n",
			STORES_SIGNAL);
		return -EBUSY;
	}
	registers_start();
	return sigaction(STORES_SIGNAL, &act, NULL) ? -errno : 0;
}
