// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an image: it begins when it has the window, and ends normally
 * with all others, or ends all of them.  A sleeping thread sees the end of all
 * while the program computes.  What has no lock is written as caf_window.h says.
 */
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../libmios-lock/life.h"
#include "../libteam/team.h"
#include "caf.h"

#define WATCHER_STACK	(64ul << 10)
#define LEAVE_NS	200000000	/* for the program to end by itself */
#define START_SECONDS	120

static pid_t process;			/* a child is no image */

/* exit() without a word is an end of all, unless it is without an error. */
static void at_exit(int status, void *unused)
{
	if (image_ended || getpid() != process)
		return;
	if (status)
		image_end(status, "");
	else
		image_lost(caf_self.number, CAF_STOPPED);
}

/* The program may be far from any call of ours: then it ends without its own. */
static void *watch_end(void *unused)
{
	static const struct timespec second = { 1, 0 };
	static const struct timespec bit = { 0, LEAVE_NS };
	struct caf_window *w = caf_self.window;

	while (!atomic_load(&w->over))
		syscall(SYS_futex, &w->over, FUTEX_WAIT, 0, &second, NULL, 0);
	bell_ring(caf_self.number);
	nanosleep(&bit, NULL);
	_exit(atomic_load(&w->over) - 1);
}

static void start_watcher(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, mios_omp_stack_size(WATCHER_STACK,
							     &attr));
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, watch_end, NULL))
		caf_die("cannot start a thread");
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A page of the window that there is no memory for: nobody can go on. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	static const char text[] = "mios: caf: no memory is left in the window\n";

	if (!window_holds(info->si_addr)) {
		sigaction(SIGBUS, &(struct sigaction){ .sa_handler = SIG_DFL },
			  NULL);
		return;		/* and it happens again */
	}
	image_end(CAF_FAILED, text);
	_exit(CAF_FAILED);
}

static void watch_memory(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
}

/* libgfortran's, by main(): it takes the signal for itself. */
void _gfortran_set_options(int count, int *options)
{
	void (*set)(int count, int *options) =
		(void (*)(int, int *))dlsym(RTLD_NEXT, "_gfortran_set_options");

	if (set)
		set(count, options);
	watch_memory();
}

/* Those who have begun are looked after; of others nobody knows. */
static bool all_arrived(void *end)
{
	struct caf_window *w = caf_self.window;
	struct timespec now;

	if (atomic_load(&w->arrived) == w->nr_images)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > *(time_t *)end)
		caf_die("only %u of %u images have started",
			atomic_load(&w->arrived), w->nr_images);
	if (atomic_load(&w->losses))
		caf_die("another image has died at the start");
	return false;
}

/* When all are there, the window's name goes: nothing is left behind. */
static void meet_others(void)
{
	const char *path = secure_getenv("MIOS_CAF_WINDOW");
	struct caf_window *w = caf_self.window;
	struct timespec now;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + START_SECONDS;
	if (atomic_fetch_add(&w->arrived, 1) + 1 == w->nr_images)
		bell_ring_all();
	wait_until(all_arrived, &end);
	team_first();
	if (path && !caf_self.number)
		unlink(path);
	unsetenv("MIOS_CAF_WINDOW");	/* its children are no images */
}

/* Before the program's constructors, which have coarrays to register. */
static void __attribute__((constructor)) begin(void)
{
	process = getpid();
	window_open();
	heap_attach(caf_self.window, caf_self.window->heap_at,
		    caf_self.number);
	if (life_begin(&image_at(caf_self.number)->life))
		caf_die("two images have the same number");
	watch_memory();
	on_exit(at_exit, NULL);
	if (caf_self.window->nr_images > 1)
		start_watcher();
	meet_others();
}

static bool nobody_is_active(void *unused)
{
	uint32_t i;

	for (i = 0; i < caf_self.window->nr_images; i++)
		if (image_state(i) == CAF_ACTIVE)
			return false;
	return true;
}

/* By main(): then all have given their static coarrays what they begin with. */
void _gfortran_caf_init(int *argc, char ***argv)
{
	_gfortran_caf_sync_all(NULL, NULL, 0);
}

/* What it has is there until all have stopped. */
void _gfortran_caf_finalize(void)
{
	image_lost(caf_self.number, CAF_STOPPED);
	wait_until(nobody_is_active, NULL);
	image_ended = true;
	pthread_mutex_unlock(&image_at(caf_self.number)->life);
}

void _gfortran_caf_fail_image(void)
{
	image_lost(caf_self.number, CAF_DEAD);
	_exit(0);
}
