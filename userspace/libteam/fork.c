// SPDX-License-Identifier: GPL-2.0
/*
 * fork() in a process of a team.  What the kernel copies for a child is private
 * memory; the window and the program's data would be one with ours, and so would
 * the stack that both of us go on with.  So the child maps them anew, privately:
 * what it writes is its own.  What it only reads may change until then, so
 *
 *   - its stack is copied before we go on;
 *   - thread-local data, which libc changes in the child at once, is private in
 *     both during the call, which therefore runs on a stack of its own.  What is
 *     written there meanwhile is the parent's alone and forgotten: so frames of the
 *     program, into which other members may write, begin below (fork_gap());
 *   - we wait a moment for its exec(), as it still reads what it has prepared: of
 *     its time, not of a host's that lets it wait.
 *
 * One at a time in each process.  Descriptors and memory here are this process's
 * own, whatever the program has: so all is done by the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "files.h"

#define PAGE		4096ul
#define PAGE_MASK	(PAGE - 1)
#define ASIDE		(256ul << 10)
#define FRAMES		PAGE		/* of ours, below who called */
#define LOCALS		(2 * PAGE)	/* thread-local data, below libc's own */
#define EXEC_WAIT_MS	50
#define EXEC_WAITS	100		/* as long as it has had no such time */

typedef pid_t (*fork_fn)(void);

static int window_fd = -1;		/* of the window, for as long as we live */
static struct stat window_file;
static void (*be_alone)(void);		/* in a child: what its runtime does */

/* A call that is made; it lies on the stack that it runs on. */
static struct call {
	ucontext_t back, there;
	char *low, *hidden, *end;	/* our stack in the window, or NULL */
	int ready[2];			/* the child says so, and ends it by exec() */
	pid_t pid;
	int err;
} *call;

static _Atomic uint32_t lock;

void fork_prepare(int fd, int least, void (*alone)(void))
{
	be_alone = alone;
	window_fd = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, (long)least);
	if (window_fd < 0)
		window_fd = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0l);
	if (window_fd < 0 || syscall(SYS_fstat, window_fd, &window_file))
		omp_die("cannot keep the window: %s", strerror(errno));
}

/* The program may have closed what it does not know. */
static bool is_ours(void)
{
	struct stat st;

	return !syscall(SYS_fstat, window_fd, &st) &&
	       st.st_dev == window_file.st_dev &&
	       st.st_ino == window_file.st_ino;
}

static int map(char *start, char *end, int how)
{
	off_t at = start - (char *)mios_omp_place.window;

	if (start == end)
		return 0;
	return kernel_mmap(start, end - start, PROT_READ | PROT_WRITE, how |
			   MAP_FIXED | MAP_NORESERVE, window_fd, at) ==
	       MAP_FAILED ? -errno : 0;
}

/* Private pages of the same contents, in place of the window's. */
static int hide(char *start, char *end)
{
	char *copy = space_private(end - start);

	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, start, end - start);
	return syscall(SYS_mremap, copy, end - start, end - start,
		       MREMAP_MAYMOVE | MREMAP_FIXED, start) == -1 ? -errno : 0;
}

/* By the child. */
static void separate(const struct call *c)
{
	char *start = (char *)mios_omp_place.window, *p;
	char *end = start + mios_omp_place.window->size;
	int err;

	if (!c->low)
		err = map(start, end, MAP_PRIVATE);
	else
		err = map(start, c->low, MAP_PRIVATE) ?:
		      map(c->low, c->hidden, MAP_PRIVATE) ?:
		      map(c->end, end, MAP_PRIVATE);
	if (!err)
		err = data_separate(window_fd);
	if (err) {
		dprintf(STDERR_FILENO, "mios: omp: a child cannot have memory "
			"of its own: %s\n", strerror(-err));
		process_end(OMP_FAILED);
	}
	for (p = c->low; p && p < c->hidden; p += PAGE)
		*(volatile char *)p = *(volatile char *)p;
	heap_separate();
	space_separate();
	files_separate();
}

static void in_child(struct call *c)
{
	separate(c);
	syscall(SYS_write, c->ready[1], "", 1);	/* which exec() closes */
	syscall(SYS_close, c->ready[0]);
}

/* Does it wait for a CPU, or for what it reads of a file? */
static bool is_held_up(pid_t pid)
{
	char text[512], *name_end;
	ssize_t n = -1;
	int fd;

	snprintf(text, sizeof(text), "/proc/%d/stat", pid);
	fd = syscall(SYS_open, text, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = syscall(SYS_read, fd, text, sizeof(text) - 1);
		syscall(SYS_close, fd);
	}
	if (n <= 0)
		return false;
	text[n] = 0;
	name_end = strrchr(text, ')');
	return name_end && (!strncmp(name_end, ") R", 3) ||
			    !strncmp(name_end, ") D", 3));
}

static bool has_run(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time) ||
	       time.tv_sec || time.tv_nsec >= EXEC_WAIT_MS * 1000000l;
}

/* Its stack is its own; then, if it is quick, all that it reads. */
static void in_parent(struct call *c)
{
	struct pollfd end = { .fd = c->ready[0], .events = POLLIN };
	int waits = EXEC_WAITS;
	char byte;

	syscall(SYS_close, c->ready[1]);
	if (c->pid > 0 && syscall(SYS_read, c->ready[0], &byte, 1) == 1)
		while (!syscall(SYS_poll, &end, 1, EXEC_WAIT_MS) && --waits &&
		       !has_run(c->pid) && is_held_up(c->pid))
			;
	syscall(SYS_close, c->ready[0]);
}

static void run(void)
{
	fork_fn real = (fork_fn)dlsym(RTLD_NEXT, "fork");
	struct call *c = call;
	int err = 0;

	if (c->low)
		err = hide(c->hidden, c->end);
	c->pid = err ? -1 : real();
	c->err = err ? -err : errno;
	if (!c->pid) {
		in_child(c);
		return;
	}
	if (c->low && map(c->hidden, c->end, MAP_SHARED))
		omp_die("cannot go on after fork(): %s", strerror(errno));
	in_parent(c);
}

static char *hidden_from(void)
{
	uintptr_t top = (uintptr_t)__builtin_thread_pointer();

	return (char *)((top - LOCALS) & ~PAGE_MASK);
}

/* From a thread's first frame to below what fork() hides. */
size_t fork_gap(const void *frame)
{
	char *hidden = hidden_from();

	return (char *)frame > hidden ? (char *)frame - hidden : 0;
}

/* libc keeps its record of a thread, and what is thread-local, on top. */
static void find_stack(struct call *c, char *frame)
{
	char *start = (char *)mios_omp_place.window;
	uintptr_t top = (uintptr_t)__builtin_thread_pointer();

	if (frame < start || frame >= start + mios_omp_place.window->size)
		return;
	c->end = (char *)((top | PAGE_MASK) + 1);
	c->hidden = hidden_from();
	c->low = (char *)(((uintptr_t)frame - FRAMES) & ~PAGE_MASK);
	if (c->low > c->hidden)
		c->low = c->hidden;
}

static void set_stack(void)
{
	getcontext(&call->there);
	call->there.uc_stack.ss_sp = call + 1;
	call->there.uc_stack.ss_size = ASIDE - sizeof(*call);
	call->there.uc_link = &call->back;
	makecontext(&call->there, run, 0);
}

static struct call *create(char *frame)
{
	struct call *c = kernel_mmap(NULL, ASIDE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
				     -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	if (pipe2(c->ready, O_CLOEXEC)) {
		syscall(SYS_munmap, c, ASIDE);
		return NULL;
	}
	find_stack(c, frame);
	return c;
}

static pid_t fork_apart(void)
{
	pid_t pid = -1;
	int err;

	if (!is_ours()) {
		errno = EAGAIN;
		return -1;
	}
	call = create(__builtin_frame_address(0));
	if (!call)
		return -1;
	set_stack();
	swapcontext(&call->back, &call->there);
	pid = call->pid;
	err = call->err;
	syscall(SYS_munmap, call, ASIDE);
	if (pid < 0)
		errno = err;
	return pid;
}

pid_t fork(void)
{
	fork_fn real = (fork_fn)dlsym(RTLD_NEXT, "fork");
	sigset_t all, before;
	pid_t pid;

	if (window_fd < 0)
		return real();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	word_lock(&lock);
	pid = fork_apart();
	word_unlock(&lock);
	if (!pid) {
		be_alone();
		syscall(SYS_close, window_fd);
		window_fd = -1;		/* its children are as any other's */
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}
