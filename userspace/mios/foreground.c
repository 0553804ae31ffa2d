// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program here and waits for it, as if it stood in our place: it gets
 * what the terminal has typed, and each signal that we get once, whether that
 * came from the terminal, for us alone or for our process group.  So it has a
 * group of its own, which the terminal does not know; what is typed goes through
 * a pipe.  mios run has mpirun so.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreground.h"
#include "libmios/client.h"

#define TICK_MS	1000	/* is the terminal ours again? */

struct foreground {
	pid_t pid;
	int signals, children;
	int input;		/* our end of its pipe, or -1 */
	char typed[4096];
	size_t from, to;	/* what of that it has not got yet */
};

static int open_children(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Tells why it could not be started. */
static void child(char **argv, pid_t parent, int input, int report,
		  const sigset_t *mask)
{
	int err;

	setpgid(0, 0);
	if (input >= 0)
		dup2(input, STDIN_FILENO);
	mios_end_with(parent, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static int start(struct foreground *f, char **argv, const sigset_t *mask)
{
	int input[2] = { -1, -1 }, report[2];
	const pid_t self = getpid();
	int err = 0;

	if (pipe2(report, O_CLOEXEC) ||
	    (isatty(STDIN_FILENO) && pipe2(input, O_CLOEXEC)))
		return -errno;
	f->pid = fork();
	if (!f->pid)
		child(argv, self, input[0], report[1], mask);
	if (f->pid < 0)
		return -errno;
	setpgid(f->pid, f->pid);	/* whichever of us is first */
	close(report[1]);
	close(input[0]);
	f->input = input[1];
	if (f->input >= 0)
		fcntl(f->input, F_SETFL, O_NONBLOCK);
	if (read(report[0], &err, sizeof(err)) == sizeof(err))
		waitpid(f->pid, NULL, 0);
	close(report[0]);
	return -err;
}

static void end_input(struct foreground *f)
{
	close(f->input);
	f->input = -1;
	f->from = f->to = 0;
}

static void take_typed(struct foreground *f)
{
	ssize_t n = read(STDIN_FILENO, f->typed, sizeof(f->typed));

	f->from = 0;
	f->to = n > 0 ? n : 0;
	if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
		end_input(f);
}

static void give_typed(struct foreground *f)
{
	ssize_t n = write(f->input, f->typed + f->from, f->to - f->from);

	if (n > 0)
		f->from += n;
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		end_input(f);
}

/* To all of its group, as the terminal does it. */
static void forward_signals(const struct foreground *f)
{
	struct signalfd_siginfo si;

	while (read(f->signals, &si, sizeof(si)) == sizeof(si))
		kill(-f->pid, si.ssi_signo);
}

/* In the background nobody reads the terminal. */
static bool may_read(const struct foreground *f)
{
	return f->input >= 0 && f->from == f->to &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void step(struct foreground *f)
{
	struct pollfd p[4] = {
		{ f->signals, POLLIN, 0 },
		{ f->children, POLLIN, 0 },
		{ may_read(f) ? STDIN_FILENO : -1, POLLIN, 0 },
		{ f->from < f->to ? f->input : -1, POLLOUT, 0 },
	};
	struct signalfd_siginfo si;

	if (poll(p, 4, TICK_MS) < 0)
		return;
	if (p[2].revents)
		take_typed(f);
	if (p[3].revents)
		give_typed(f);
	if (p[0].revents)
		forward_signals(f);
	while (read(f->children, &si, sizeof(si)) == sizeof(si))
		;
}

/* -errno if it was not started; else its status, as waitpid() has it. */
int foreground_run(char **argv, int *status)
{
	struct foreground f = { 0 };
	sigset_t mask;
	int err;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	f.signals = client_signals();
	f.children = open_children();
	if (f.signals < 0 || f.children < 0)
		return -EMFILE;
	err = start(&f, argv, &mask);
	if (err)
		return err;
	signal(SIGPIPE, SIG_IGN);	/* it may not want what is typed */
	for (;;) {
		if (waitpid(f.pid, status, WNOHANG | WUNTRACED) != f.pid)
			step(&f);
		else if (WIFSTOPPED(*status))
			raise(SIGSTOP);	/* SIGCONT is forwarded */
		else
			return 0;
	}
}
