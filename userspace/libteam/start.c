// SPDX-License-Identifier: GPL-2.0
/*
 * The start of a team's process.  libc's entry calls us in place of itself,
 * when all libraries are there but nothing of the program has run, neither its
 * constructors nor main().  The first process, place 0, shares the program's
 * data, then goes on into the program, whose main() runs in a thread with a
 * stack in the window, like every member; the others only ever work for it.
 * The initial thread of each process sleeps, and watches for the end.
 */
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

#define START_LIMIT	60		/* seconds until all are there */
#define LOCKED_NS	50000000	/* when all have ended, for sure */
#define END_LIMIT	1		/* seconds until this process does */
#define LOOK_NS		2000000		/* between two looks for the end */

typedef int (*main_fn)(int argc, char **argv, char **envp);
typedef int (*start_fn)(main_fn main, int argc, char **argv, void (*init)(void),
			void (*fini)(void), void (*rtld_fini)(void), void *end);

/* Of the program, for the thread that runs it. */
static struct {
	main_fn main;
	int argc, status;
	char **argv;
	bool done;			/* main() has returned */
	atomic_bool ended;		/* or its thread is about to */
} program;

static const struct omp_runtime *runtime;
static pid_t process;

void mios_omp_register(const struct omp_runtime *r)
{
	runtime = r;
}

static void look_later(void)
{
	streams_wake();
	nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
}

/* Where nobody is at work nobody of another process waits for a stream. */
static void look_at_wakes(struct omp_wait *wait)
{
	if (atomic_load(&mios_omp_place.window->working)) {
		long_wait_end(wait);
		look_later();
	} else {
		long_wait_sleep(wait);
	}
}

/* Seconds; a clock that is set meanwhile ends no start. */
static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static uint32_t over(void)
{
	return atomic_load(&mios_omp_place.window->over);
}

static void await(atomic_uint *word, uint32_t value, const char *what)
{
	time_t end = now() + START_LIMIT;

	while (atomic_load(word) < value) {
		if (now() > end)
			omp_die("process %u: %s within %d s",
				mios_omp_place.number, what, START_LIMIT);
		if (over())	/* whoever did it has said why */
			_exit(over() - 1);
		look_later();
	}
}

/* Without the first word of a list of @name: mios run has put it there. */
static void drop_first(const char *name, char separator)
{
	const char *list = getenv(name), *rest;

	rest = list ? strchr(list, separator) : NULL;
	if (rest && rest[1])
		setenv(name, rest + 1, 1);
	else
		unsetenv(name);
}

/* What the program starts is no member of its team. */
static void clean_environment(void)
{
	drop_first("LD_LIBRARY_PATH", ':');
	drop_first("LD_PRELOAD", ':');
	unsetenv("LD_BIND_NOW");
	unsetenv("MIOS_OMP_WINDOW");
	unsetenv("MIOS_OMP_MEMBERS");
	unsetenv("MIOS_OMP_EXPLAIN");
	unsetenv("MIOS_OMP_SHARE");
	personality(personality(0xffffffff) & ~ADDR_NO_RANDOMIZE);
}

/* Else only the first process would have them: its constructors do it. */
static void init_streams(void)
{
	void (*init)(void *object) = dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev");
	static char object[16];

	if (init)
		init(object);
}

/*
 * The program has them all: another stream buffer for std::cout would be made
 * in the first process only, and used by all.  It may be called too late, too.
 */
bool ignore_sync(bool sync) __asm__("_ZNSt8ios_base15sync_with_stdioEb");
bool ignore_sync(bool sync)
{
	return true;
}

/* What the caller calls from now on has its frames below what fork() hides. */
#define BEGIN_BELOW()	({						\
	void *gap = alloca(fork_gap(__builtin_frame_address(0)));	\
									\
	__asm__ volatile("" : : "r" (gap) : "memory");			\
})

static void *run_member(void *number)
{
	BEGIN_BELOW();
	stack_for_signals();
	mios_omp_signals_blocked();
	runtime->member((uintptr_t)number);
	return NULL;
}

/* Also by pthread_exit(). */
static void say_ended(void *unused)
{
	atomic_store(&program.ended, true);
	long_wake();
}

static void *run_program(void *unused)
{
	BEGIN_BELOW();
	stack_for_signals();
	runtime->master();
	pthread_cleanup_push(say_ended, NULL);
	program.status = program.main(program.argc, program.argv, environ);
	program.done = true;
	pthread_cleanup_pop(true);
	return NULL;
}

/* A page of the window that there is no memory for: nobody can go on. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	static const char text[] = "mios: omp: no memory is left in the window\n";

	if (info->si_code <= 0 || !data_shared(info->si_addr))
		signals_pass_on(info);
	else
		window_end(text, sizeof(text) - 1);
}

static void on_no_address(int signal, siginfo_t *info, void *context)
{
	/* What somebody has sent has no address. */
	if (info->si_code > 0 && getpid() == process)
		foreign_address(info->si_addr);
	signals_pass_on(info);
}

/* Whoever has ended in a stream has it locked. */
static void *end_anyway(void *unused)
{
	nanosleep(&(struct timespec){ 0, LOCKED_NS }, NULL);
	streams_unlock();
	sleep(END_LIMIT);
	_exit(over() - 1);
}

/* All has ended: whoever is the first says with which status. */
static _Noreturn void end_with_all(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_anyway, NULL);
	fflush(NULL);
	_exit(over() - 1);
}

static void start_members(void)
{
	struct omp_window *w = mios_omp_place.window;
	unsigned int i = w->first[mios_omp_place.number];
	sigset_t before;

	stacks_prepare();
	streams_start();
	ask_start();
	runtime->start(w, mios_omp_place.number);
	mios_omp_block_signals(&before);
	for (i += !mios_omp_place.number;
	     i < w->first[mios_omp_place.number + 1]; i++)
		stack_thread(i, run_member);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static uint32_t leaving(void)
{
	return atomic_load(&mios_omp_place.window->leaving);
}

static void say_over(int status)
{
	uint32_t none = 0;

	if (getpid() != process)
		return;
	atomic_compare_exchange_strong(&mios_omp_place.window->over, &none,
				       1 + (status & 0xff));
	long_wake();
}

/*
 * exit() by any thread of any process is the end of all.  What the program has left
 * for it, by atexit() and as destructors, is the first process's: that one exits, too,
 * and then all is over.  A child that the program has forked shares the window, but
 * is not of the team.
 */
static void at_exit(int status, void *unused)
{
	uint32_t none = 0;

	if (getpid() == process && mios_omp_place.number) {
		atomic_compare_exchange_strong(&mios_omp_place.window->leaving,
					       &none, 1 + (status & 0xff));
		long_wake();
		while (!over())
			look_later();
	}
	say_over(status);
}

/* Without what exit() does, but of the same effect for the others. */
void _exit(int status)
{
	if (process)
		say_over(status);
	process_end(status);
}

void _Exit(int status)
{
	_exit(status);
}

/*
 * In place of main(), by libc.  When that has returned, and what its thread has of
 * its own is destroyed, or when a member of another process exits, signals are this
 * thread's.
 */
static int keep_program(int argc, char **argv, char **envp)
{
	struct omp_wait wait = { 0 };
	pthread_t thread;
	sigset_t before;

	start_members();
	repeat_early();
	thread = stack_thread(0, run_program);
	mios_omp_block_signals(&before);
	while (!leaving() && !atomic_load(&program.ended)) {
		if (over())
			end_with_all();
		look_at_wakes(&wait);
	}
	long_wait_end(&wait);
	if (!leaving())
		pthread_join(thread, NULL);
	if (leaving())
		program.status = leaving() - 1;
	else if (!program.done)
		omp_die("main() has called pthread_exit(), after which nobody "
			"would end this program");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return program.status;
}

static _Noreturn void keep_members(void)
{
	struct omp_wait wait = { 0 };

	start_members();
	while (!over())
		look_at_wakes(&wait);
	long_wait_end(&wait);
	end_with_all();
}

static void attach_heap(struct omp_window *w)
{
	heap_attach(w, w->heap_at, mios_omp_place.number);
	if (mios_omp_place.strict)
		heap_keep_private();
	else
		space_attach(w);
}

static void start_first(struct omp_window *w, const char *path, char **argv)
{
	allocator_demand();
	layout_write(w);
	stacks_keep_apart();
	heap_keep_apart();
	program.argv = arguments_share(argv);
	data_share(w);
	files_create(w);
	streams_create(w);
	numbers_create(w);
	results_create(w);
	ask_prepare(w);
	foreign_prepare();
	atomic_store(&w->ready, 1);
	await(&w->arrived, w->nr_places - 1, "the others have not started");
	/* Whatever happens now, nothing of it is left behind. */
	if (unlink(path))
		omp_die("cannot remove the window %s: %s", path,
			strerror(errno));
}

static void start_other(struct omp_window *w)
{
	await(&w->ready, 1, "the first one has not started");
	if (w->magic != OMP_WINDOW_MAGIC || w->version != OMP_WINDOW_VERSION)
		omp_die("the window is of another version of mios");
	if (w->base != (uint64_t)w)
		omp_die("process %u has the window at %p, the first one at %p",
			mios_omp_place.number, (void *)w, (void *)w->base);
	if (mios_omp_place.number >= w->nr_places)
		omp_die("process %u of %u", mios_omp_place.number,
			w->nr_places);
	layout_compare(w);
	stacks_keep_apart();
	attach_heap(w);
	heap_keep_apart();
	data_share(w);
	ask_prepare(w);
	foreign_prepare();
	atomic_fetch_add(&w->arrived, 1);
}

/*
 * Before any other library's constructor: what they allocate in the first
 * process is everybody's, since their data may be (data.c).  Not even libc has
 * its environment yet.
 */
static void __attribute__((constructor))
open_early(int argc, char **argv, char **envp)
{
	struct omp_window *w;
	const char *path;

	environ = envp;
	path = getenv("MIOS_OMP_WINDOW");
	if (!path)
		return;
	window_number();
	if (mios_omp_place.number)
		return;
	window_open(path);
	w = mios_omp_place.window;
	heap_create(w, w->heap_at, w->space_at, w->nr_places);
	space_create(w);
	attach_heap(w);
}

/* It is the same in all processes: the first one says so. */
static _Noreturn void refuse_program(const char *name)
{
	const char *number = getenv("MIOS_RANK");

	if (number && strcmp(number, "0"))
		_exit(OMP_FAILED);
	if (dlsym(RTLD_DEFAULT, "GOMP_parallel"))
		omp_die("%s takes another libgomp.so.1 than ours, as by an RPATH",
			name);
	omp_die("%s does not use gcc's OpenMP, libgomp.so.1 (libraries that it "
		"loads later do not count): run it without --omp", name);
}

int __libc_start_main(main_fn main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *end)
{
	start_fn start = (start_fn)dlsym(RTLD_NEXT, "__libc_start_main");
	const char *path = getenv("MIOS_OMP_WINDOW");
	struct omp_window *w;

	if (!path)
		return start(main, argc, argv, init, fini, rtld_fini, end);
	if (!runtime)
		refuse_program(argv[0]);
	process = getpid();
	if (mios_omp_place.number)
		window_open(path);
	if (!mios_omp_place.number)
		explain_window(mios_omp_place.window);
	clean_environment();
	init_streams();
	w = mios_omp_place.window;
	if (mios_omp_place.number)
		start_other(w);
	else
		start_first(w, path, argv);
	fork_prepare(mios_omp_place.fd, files_limit(), runtime->alone);
	syscall(SYS_close, mios_omp_place.fd);
	files_start();
	signals_watch(SIGBUS, on_bus_error);
	signals_watch(SIGSEGV, on_no_address);
	on_exit(at_exit, NULL);
	if (mios_omp_place.number)
		keep_members();
	program.main = main;
	program.argc = argc;
	return start(keep_program, argc, argv, init, fini, rtld_fini, end);
}
