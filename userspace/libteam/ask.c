// SPDX-License-Identifier: GPL-2.0
/*
 * One process of a team has another run something for it, as what only that one
 * has: a descriptor, or a stream that its libc knows.
 *
 *     who asks                          threads of the other, at their desk
 *     --------                          -----------------------------------
 *     FREE -> FILLED -> POSTED          sleep on ->posted
 *     wakes by ->posted                  POSTED -> TAKEN; if no other is idle: one more
 *     sleeps on ->state                 run it
 *     reads the result, -> FREE         -> DONE, wake
 *
 * A call may last, as a read from a pipe does, so there is always a thread more
 * than there are calls.  A signal ends one as it would have here: who asks is
 * woken by it, and has the other's thread be sent one, as often as it takes.
 * Whatever an argument points to has to be in the window
 * (pieces.c).  If either ends, the team does, and its processes with all their
 * threads.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

#define SPARE		32		/* for threads that are no members */
#define STACK		(256ul << 10)
#define IDLE_MOST	2
#define LOOK_NS		100000000	/* a wake that did not come */
#define IDLE_SECONDS	30		/* the same, where nobody is known to wait */
#define NSEC		1000000000
#define LOOKS_AT_END	5
#define GIVE_UP		(SIGRTMAX - 5)	/* to whom a call has been given up */

enum { FREE, FILLED, POSTED, TAKEN, DONE };

struct request {
	_Atomic uint32_t state;
	_Atomic uint32_t given_up;
	_Atomic uint32_t lock;		/* of ->thread */
	pid_t thread;			/* that is in its system call, or 0 */
	struct asked asked;
	long result;			/* negative: an error */
} __attribute__((aligned(128)));

struct desk {
	_Atomic uint32_t posted, idle;
	uint32_t nr_requests;
	struct request requests[];
};

static struct desk *desk_of(unsigned int place)
{
	return (struct desk *)mios_omp_place.window->desks[place];
}

/* EINTR: some signal's handler has run. */
static int sleep_on(_Atomic uint32_t *word, uint32_t value, struct timespec time)
{
	if (!syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0))
		return 0;
	return errno == EINTR ? EINTR : 0;
}

static void wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static struct request *take_posted(struct desk *desk)
{
	uint32_t i, posted;

	for (i = 0; i < desk->nr_requests; i++) {
		posted = POSTED;
		if (atomic_compare_exchange_strong(&desk->requests[i].state,
						   &posted, TAKEN))
			return &desk->requests[i];
	}
	return NULL;
}

static void start_server(void);

static void set_thread(struct request *r, pid_t thread)
{
	word_lock(&r->lock);
	r->thread = thread;
	word_unlock(&r->lock);
}

/* A signal may come late, and so for another request, which goes on. */
static long call(struct request *r)
{
	const long *a = r->asked.args;
	long result = -EINTR;

	set_thread(r, gettid());
	while (result == -EINTR && !atomic_load(&r->given_up)) {
		result = syscall(r->asked.number, a[0], a[1], a[2], a[3],
				 a[4], a[5]);
		if (result < 0)
			result = -errno;
	}
	set_thread(r, 0);
	return result;
}

static void run(struct request *r)
{
	r->result = r->asked.fn ? r->asked.fn(r->asked.args) : call(r);
	atomic_store(&r->state, DONE);
	wake(&r->state);
}

static void *serve(void *unused)
{
	struct desk *desk = desk_of(mios_omp_place.number);
	struct request *r;
	uint32_t posted;

	for (;;) {
		posted = atomic_load(&desk->posted);
		r = take_posted(desk);
		if (!r) {
			sleep_on(&desk->posted, posted,
				 (struct timespec){ IDLE_SECONDS, 0 });
			continue;
		}
		if (atomic_fetch_sub(&desk->idle, 1) == 1)
			start_server();
		run(r);
		if (atomic_fetch_add(&desk->idle, 1) >= IDLE_MOST)
			break;
	}
	atomic_fetch_sub(&desk->idle, 1);
	return NULL;
}

static void nothing(int number)
{
}

/* The program may have this signal for itself: then nothing is ended early. */
static bool signal_is_ours(void)
{
	struct sigaction now, ours = { .sa_handler = nothing };

	if (REAL(sigaction)(GIVE_UP, NULL, &now))
		return false;
	return now.sa_handler == nothing ||
	       (now.sa_handler == SIG_DFL &&
		!REAL(sigaction)(GIVE_UP, &ours, NULL));
}

/* By another thread of who runs it; it may not have begun its call yet. */
static long interrupt(const long *args)
{
	struct request *r = (struct request *)args[0];

	word_lock(&r->lock);
	if (r->thread && signal_is_ours())
		tgkill(getpid(), r->thread, GIVE_UP);
	word_unlock(&r->lock);
	return 0;
}

/* Signals are for the program's own thread. */
static void start_server(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	atomic_fetch_add(&desk_of(mios_omp_place.number)->idle, 1);
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, GIVE_UP);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, mios_omp_stack_size(STACK, &attr));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, serve, NULL);
	if (err)
		omp_die("cannot start a thread for what others ask: %s",
			strerror(err));
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Before any other process may ask. */
void ask_prepare(struct omp_window *w)
{
	uint32_t n = w->nr_members + SPARE;
	struct desk *desk;

	desk = mios_omp_memalign(_Alignof(struct desk),
				 sizeof(*desk) + n * sizeof(struct request));
	if (!desk)
		omp_die("no memory left in the window for what others ask");
	memset(desk, 0, sizeof(*desk) + n * sizeof(struct request));
	desk->nr_requests = n;
	w->desks[mios_omp_place.number] = (uint64_t)desk;
}

void ask_start(void)
{
	start_server();
}

static struct request *find_free(struct desk *desk)
{
	struct omp_wait wait = { 0 };
	struct request *r;
	uint32_t i, free;

	for (;; wait_once(&wait)) {
		for (i = 0; i < desk->nr_requests; i++) {
			free = FREE;
			r = &desk->requests[i];
			if (atomic_compare_exchange_strong(&r->state, &free,
							   FILLED))
				return r;
		}
	}
}

/*
 * Until it changes, for a while.  EINTR: a signal's handler has run, and was not to
 * be followed by more of the call, as one with SA_RESTART is.
 */
static int await_change(struct request *r, uint32_t state)
{
	struct futex_waitv one = { .val = state, .flags = FUTEX_32,
				   .uaddr = (uintptr_t)&r->state };
	const struct timespec look = { 0, LOOK_NS };
	struct timespec end;
	int err;

	if (r->asked.fn)
		return sleep_on(&r->state, state, look);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += LOOK_NS;
	end.tv_sec += end.tv_nsec / NSEC;
	end.tv_nsec %= NSEC;
	if (syscall(SYS_futex_waitv, &one, 1, 0, &end, CLOCK_MONOTONIC) >= 0)
		return 0;
	err = errno;
	if (err == ENOSYS)		/* before Linux 5.16 nothing is ended */
		sleep_on(&r->state, state, look);
	return err == EINTR ? EINTR : 0;
}

/* Returns what it has returned, an error as a negative number. */
long ask_hand_over(unsigned int place, const struct asked *asked)
{
	struct desk *desk = desk_of(place);
	struct request *r = find_free(desk);
	unsigned int looks = 0;
	uint32_t state;
	long result;

	r->asked = *asked;
	atomic_store(&r->given_up, 0);
	atomic_store(&r->state, POSTED);
	atomic_fetch_add(&desk->posted, 1);
	wake(&desk->posted);
	while ((state = atomic_load(&r->state)) != DONE) {
		if (await_change(r, state) == EINTR && !asked->fn)
			atomic_store(&r->given_up, 1);
		if (atomic_load(&r->given_up))
			ask_hand_over(place, &(struct asked){
				.fn = interrupt, .args = { (long)r } });
		/* Nobody may be there any more to answer. */
		if (atomic_load(&mios_omp_place.window->over) &&
		    ++looks == LOOKS_AT_END)
			return -EIO;
	}
	result = r->result;
	atomic_store(&r->state, FREE);
	return result;
}
