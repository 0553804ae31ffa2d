// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and their progress.  The engine protects a page that was granted
 * until the instruction which waited for it has completed.  Nothing tells us
 * that; but a thread that has had time of a CPU since it was woken has left
 * the kernel and executed the instruction, if nothing else stopped it.  A wrong
 * guess costs a fault, never coherence; and one that comes back to the same
 * page with the same instruction is given some time besides.
 *
 * An instruction that needs several pages at once stops at one after the
 * other.  A loop does so, too, with the same instruction; the one comes back to
 * a page that it had, the other does not.  Where a thread is takes the kernel
 * long to say, so nobody asks before a thread comes back to one of the pages at
 * which it has stopped last; then it is watched until it is somewhere else.
 *
 * A thread that runs a guest's CPU stops in KVM_RUN, so its place says nothing,
 * and to have run proves little: KVM works before the guest does.  There time of
 * a CPU alone counts, a quantum of it, and who stops sooner is at the same
 * instruction still; unless the thread says itself that its CPU rests, which
 * takes no time of any.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "threads.h"

/* ns for an instruction that lost its page, or seems to have. */
#define PATIENCE	20000ULL
/* The clock of a thread's own CPU time, as the kernel numbers it. */
#define CLOCK_OF(tid)	((clockid_t)(~(u32)(tid) << 3 | 6))

static int proc_open(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a small file as it is now; false if it is not there any more. */
static bool proc_read(int fd, char *text, size_t room)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, room - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* ns of a CPU that it has had; 0 if there is no such thread. */
static u64 ran(const struct thread *t)
{
	struct timespec time;

	if (clock_gettime(CLOCK_OF(t->tid), &time))
		return 0;
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Which instruction it has stopped at. */
static void place(const struct thread *t, u64 *pc, u64 *sp, bool *in_kernel)
{
	char text[256], *at;

	*pc = *sp = 0;
	*in_kernel = true;
	if (!proc_read(t->syscall, text, sizeof(text)))
		return;
	*in_kernel = strncmp(text, "-1 ", 3);
	if (*in_kernel)
		return;
	*sp = strtoull(text + 3, &at, 16);
	*pc = strtoull(at, NULL, 16);
}

static void thread_close(struct thread *t)
{
	if (t->syscall >= 0)
		close(t->syscall);
	memset(t, 0, sizeof(*t));
}

/* Nothing is known of it that anybody needs, or it is gone. */
static bool idle(const struct thread *t, bool engaged)
{
	return (!t->stopped && t->stage == THREAD_OUT && !engaged &&
		!t->quantum) || !ran(t);
}

/* The place of that one which has not stopped for longest. */
static struct thread *longest_idle(struct threads *ts, const struct dsm *d)
{
	struct thread *found = NULL;

	for (int i = 0; i < THREADS_MAX; i++) {
		struct thread *t = &ts->thread[i];

		if (idle(t, dsm_cpu_holds(d, i) || dsm_cpu_waits(d, i)) &&
		    (!found || t->woken_at < found->woken_at))
			found = t;
	}
	return found;
}

int threads_find(struct threads *ts, pid_t tid, const struct dsm *d)
{
	struct thread *free = NULL;

	for (int i = 0; i < THREADS_MAX; i++) {
		struct thread *t = &ts->thread[i];

		if (t->tid == tid)
			return i;
		if (!free && !t->tid)
			free = t;
	}
	if (!free)
		free = longest_idle(ts, d);
	if (!free)
		return -1;
	if (free->tid)
		thread_close(free);
	free->tid = tid;
	free->syscall = proc_open(tid);
	return free - ts->thread;
}

static bool wanted(struct thread *t, u32 page)
{
	for (u32 i = 0; i < t->count; i++)
		if (t->wanted[i] == page)
			return true;
	return false;
}

static bool quantum_over(const struct thread *t)
{
	return atomic_load(&t->rests) || ran(t) - t->ran >= t->quantum;
}

void thread_stop(struct thread *t, u32 page, bool write, u64 now)
{
	t->page = page;
	t->write = write;
	if (!t->stopped) {
		t->stopped_at = now;
		t->got_on = t->quantum && quantum_over(t);
	}
	t->stopped = true;
}

/* Where it is; false: it was somewhere else when it stopped last. */
static bool same_place(struct thread *t)
{
	u64 pc = t->pc, sp = t->sp;

	place(t, &t->pc, &t->sp, &t->in_kernel);
	return !t->in_kernel && pc == t->pc && sp == t->sp;
}

/* One more page of an instruction; again: it has had this one. */
static bool count_page(struct thread *t, bool again)
{
	if (again) {
		t->patience = PATIENCE;
		return false;
	}
	/* The oldest goes: no instruction needs so many. */
	if (t->count == THREAD_PAGES)
		memmove(t->wanted, t->wanted + 1, --t->count *
			sizeof(t->wanted[0]));
	t->wanted[t->count++] = t->page;
	return true;
}

static void elsewhere(struct thread *t)
{
	t->count = 0;
	t->patience = 0;
}

bool thread_place(struct thread *t, bool look)
{
	bool again;

	if (t->quantum)
		return t->got_on;
	again = wanted(t, t->page);
	t->looked = look || again || t->watched;
	/* Whoever was not watched may have been anywhere meanwhile. */
	if (t->looked && (!same_place(t) || !t->watched)) {
		elsewhere(t);
		t->watched = again || look;
		again = false;
	}
	return count_page(t, again);
}

bool thread_at(struct thread *t, u64 pc, u64 sp)
{
	if (t->pc != pc || t->sp != sp)
		elsewhere(t);
	t->pc = pc;
	t->sp = sp;
	t->looked = true;
	return count_page(t, wanted(t, t->page));
}

void thread_wake(struct thread *t, u64 now)
{
	t->ran = ran(t);
	atomic_store(&t->rests, false);
	t->woken_at = now;
	t->stopped = false;
}

bool thread_tell(struct thread *t, enum thread_go go)
{
	if (t->stage != THREAD_INSIDE)
		return false;
	atomic_store(&t->go, go);
	syscall(SYS_futex, &t->go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return true;
}

/*
 * It goes on without the lock, so its place may be another thread's before it has
 * read the word: that is on its own stack.  What it finds mapped was mapped
 * before; who waits at that address when it is woken by mistake looks again.
 */
void thread_release(struct thread *t, enum thread_go go)
{
	atomic_uint *own = t->own;

	if (t->stage != THREAD_AWAITS)
		return;
	t->stage = THREAD_OUT;
	t->own = NULL;
	atomic_store(own, go);
	syscall(SYS_futex, own, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

enum thread_go thread_await(atomic_uint *own)
{
	while (atomic_load(own) == GO_WAIT)
		syscall(SYS_futex, own, FUTEX_WAIT_PRIVATE, GO_WAIT, NULL, NULL,
			0);
	return atomic_load(own);
}

void thread_mark(struct thread *t, u64 quantum)
{
	t->quantum = quantum;
	t->ran = ran(t);
}

bool thread_moved(const struct thread *t, u64 now)
{
	if (t->stopped || t->stage == THREAD_INSIDE)
		return false;
	if (t->quantum)
		return quantum_over(t);
	return now - t->woken_at >= t->patience && ran(t) != t->ran;
}
