// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and their progress.  The engine protects a page that was granted
 * until the instruction which waited for it has completed.  Nothing tells us
 * that; but a thread that has been given a CPU since it was woken has left
 * the kernel and executed the instruction, if nothing else stopped it.  A wrong
 * guess costs a fault, never coherence; and one that comes back to the same
 * page with the same instruction is given some time besides.
 *
 * An instruction that needs several pages at once stops at one after the
 * other.  A loop does so, too, with the same instruction; the one comes back to
 * a page that it had, the other does not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "threads.h"

/* ns for an instruction that lost its page, or seems to have. */
#define PATIENCE	20000ULL
/* Where the kernel does not count what it gives to a thread. */
#define PATIENCE_BLIND	500000ULL

static int proc_open(pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
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

/* How often it was given a CPU; 0 if nobody knows. */
static u64 slices(const struct thread *t)
{
	char text[96], *at = text;

	if (!proc_read(t->schedstat, text, sizeof(text)))
		return 0;
	/* The third number; sscanf() takes longer than the kernel to write them. */
	for (int i = 0; i < 2; i++) {
		at = strchr(at, ' ');
		if (!at++)
			return 0;
	}
	return strtoull(at, NULL, 10);
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
	if (t->schedstat >= 0)
		close(t->schedstat);
	if (t->syscall >= 0)
		close(t->syscall);
	memset(t, 0, sizeof(*t));
}

static bool thread_lives(const struct thread *t)
{
	char text[96];

	return proc_read(t->schedstat, text, sizeof(text));
}

int threads_find(struct threads *ts, pid_t tid)
{
	struct thread *free = NULL;

	for (int i = 0; i < THREADS_MAX; i++) {
		struct thread *t = &ts->thread[i];

		if (t->tid == tid)
			return i;
		if (!free && !t->tid)
			free = t;
	}
	for (int i = 0; i < THREADS_MAX && !free; i++)
		if (!thread_lives(&ts->thread[i]))
			free = &ts->thread[i];
	if (!free)
		return -1;
	if (free->tid)
		thread_close(free);
	free->tid = tid;
	free->schedstat = proc_open(tid, "schedstat");
	free->syscall = proc_open(tid, "syscall");
	return free - ts->thread;
}

static bool wanted(struct thread *t, u32 page)
{
	for (u32 i = 0; i < t->count; i++)
		if (t->wanted[i] == page)
			return true;
	return false;
}

bool thread_stop(struct thread *t, u32 page, bool write, u64 now)
{
	u64 pc, sp;
	bool in_kernel, again;

	place(t, &pc, &sp, &in_kernel);
	if (in_kernel || pc != t->pc || sp != t->sp) {
		t->count = 0;
		t->patience = 0;
	}
	again = wanted(t, page);
	if (!again) {
		/* The oldest goes: no instruction needs so many. */
		if (t->count == THREAD_PAGES)
			memmove(t->wanted, t->wanted + 1, --t->count *
				sizeof(t->wanted[0]));
		t->wanted[t->count++] = page;
	} else {
		t->patience = PATIENCE;
	}
	t->pc = pc;
	t->sp = sp;
	t->in_kernel = in_kernel;
	t->page = page;
	t->write = write;
	if (!t->stopped)
		t->stopped_at = now;
	t->stopped = true;
	return !again;
}

void thread_wake(struct thread *t, u64 now)
{
	t->slices = slices(t);
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

bool thread_moved(const struct thread *t, u64 now)
{
	u64 n;

	if (t->stopped || t->stage == THREAD_INSIDE || now - t->woken_at < t->patience)
		return false;
	n = slices(t);
	if (!n || !t->slices)
		return now - t->woken_at >= PATIENCE_BLIND;
	return n != t->slices;
}
