// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: does it work here, and how fast?  Three processes, so that
 * nothing is left behind however it ends:
 *
 *   who was called   waits, and is who gets the signals
 *     keeper         has a session of its own; gives everything back when the
 *                    worker has ended, or when the one above has gone
 *       worker       loads the module for a part of one CPU, boots that, measures
 *
 * What it mounts is seen by the worker alone, and ends with it; the module is
 * loaded with the parameter trial, by which the next call knows what a keeper that
 * was killed has left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "try.h"

/* Only root opens it, and so keeps others from a trial; nothing is written there. */
#define LOCK		"/sys/bus/cpu/drivers_probe"
#define WORK_SECONDS	180		/* more than all that is waited for together */
#define END_SECONDS	20		/* for what has been killed */

static int alive[2];		/* the keeper reads its end: we have gone */
static volatile sig_atomic_t got_signal;

static void on_signal(int sig)
{
	if (!got_signal)
		close(alive[1]);
	got_signal = sig;
}

static void signals(void (*handler)(int sig))
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction act = { .sa_handler = handler };
	struct sigaction old;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sigaction(all[i], &act, &old);
		if (all[i] == SIGHUP && old.sa_handler == SIG_IGN)
			signal(SIGHUP, SIG_IGN);	/* nohup */
	}
}

/* Until no keeper has it any more, also one whose caller was killed. */
static void lock_trial(void)
{
	int fd = open(LOCK, O_WRONLY | O_CLOEXEC);
	int tries = 0;

	if (fd < 0)
		mios_die(MIOS_EXIT_FAILED, "check: " LOCK ": %m");
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (++tries > TRY_SECONDS)
			mios_die(MIOS_EXIT_FAILED, "check: another mios check --try "
				 "has not ended");
		sleep(1);
	}
}

/*
 * The worker's whole group ends, and then it is known that no modprobe of it still
 * loads anything.  Not so of one that sends files to a server which does not answer:
 * that is left alone after a while.  Returns the worker's status, -1: it has none.
 */
static int end_group(pid_t worker)
{
	const int64_t end = mios_now_ms() + END_SECONDS * 1000;
	int status = -1, one;
	pid_t pid;

	kill(-worker, SIGKILL);
	while ((pid = waitpid(-1, &one, WNOHANG)) >= 0 && mios_now_ms() < end) {
		if (pid == worker)
			status = one;
		else if (!pid)
			try_pause(50);
	}
	return status;
}

/* Waits for the worker, or for the end of who was called, and not for ever. */
static int worker_await(pid_t worker, struct try_found *found)
{
	struct pollfd fds[2] = {
		{ .fd = alive[0], .events = POLLIN },
		{ .fd = syscall(SYS_pidfd_open, worker, 0), .events = POLLIN },
	};
	int ready = -1, status;

	while (fds[1].fd >= 0 && ready < 0) {
		ready = poll(fds, 2, WORK_SECONDS * 1000);
		if (ready < 0 && errno != EINTR)
			break;
	}
	if (ready < 0)
		mios_error("mios", "check: %m");
	else if (!ready)
		mios_error("mios", "check: it has not ended within %d s: giving up",
			   WORK_SECONDS);
	found->stopped = ready > 0 && fds[0].revents;
	status = end_group(worker);
	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) :
						   MIOS_EXIT_FAILED;
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int keeper(const struct try_place *place, struct try_found *found,
		  const struct try_before *before)
{
	struct try_sample *back = &found->sample[TRY_BACK];
	const pid_t self = getpid();
	uint64_t began;
	pid_t worker;
	int status;

	setsid();
	signals(SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	worker = fork();
	if (!worker) {
		setpgid(0, 0);
		signals(SIG_DFL);
		mios_end_with(self, SIGKILL);
		exit(try_work(place, found));
	}
	if (worker < 0)
		return MIOS_EXIT_FAILED;
	setpgid(worker, worker);	/* whoever is first */
	status = worker_await(worker, found);
	began = clock_ns();
	if (!try_take_out(before) || !try_compare(before))
		return MIOS_EXIT_FAILED;
	*back = (struct try_sample){ .count = 1, .median = clock_ns() - began };
	/* Whoever wanted an end has it. */
	return found->stopped ? MIOS_EXIT_OK : status;
}

/* Does what it says; the exit status is the keeper's. */
static int keeper_await(pid_t pid, const struct try_found *found)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		mios_error("mios", "check: its keeper was killed: 'mios check --try' "
			   "takes out what it has left");
	if (got_signal) {
		mios_error("mios", "check: ended by a signal, what was tried is "
			   "%s", found->sample[TRY_BACK].count ? "given back" :
			   "not all given back");
		signal(got_signal, SIG_DFL);
		raise(got_signal);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : MIOS_EXIT_FAILED;
}

/* Then everything is looked at again: what has been found so far was with that. */
static void take_out_earlier(bool json)
{
	mios_error("mios", "check: an earlier trial was killed: taking out what it has "
		   "left");
	if (!try_take_out(NULL))
		exit(MIOS_EXIT_FAILED);
	if (try_loaded())
		mios_die(MIOS_EXIT_FAILED, "check: mios is still loaded for a trial: "
			 "lsmod tells who uses it");
	execl("/proc/self/exe", "mios", "check", "--try", json ? "--json" : NULL,
	      NULL);
	mios_die(MIOS_EXIT_FAILED, "check: %m");
}

static void must_be_free(bool json)
{
	if (try_loaded())
		take_out_earlier(json);
	if (!access(MIOS_SYSFS, F_OK))
		mios_die(MIOS_EXIT_FAILED, "check: mios is loaded: --try is for before "
			 "that, now 'mios boot' tells; else boot without "
			 "mios.service");
}

/* Before the machine is looked at; ends with a line where nothing can be tried. */
void try_begin(bool json)
{
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "check: --try boots an instance: run it "
			 "as root");
	lock_trial();
	must_be_free(json);
}

int check_try(const struct try_place *place, struct libscols_table *things)
{
	struct try_before *before = malloc(sizeof(*before));
	struct try_found *found;
	int status;
	pid_t pid;

	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!before || found == MAP_FAILED || pipe2(alive, O_CLOEXEC))
		mios_die(MIOS_EXIT_FAILED, "check: %m");
	try_before_read(before);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		mios_die(MIOS_EXIT_FAILED, "check: %m");
	if (!pid) {
		close(alive[1]);
		_exit(keeper(place, found, before));
	}
	signals(on_signal);
	status = keeper_await(pid, found);
	if (!status || things)
		try_show(place, found, things);
	return status;
}
