// SPDX-License-Identifier: GPL-2.0
/*
 * Changes the mode of the terminal on standard input, and sees to it that it
 * is what it was before on every way out that a program can see, and while
 * the program is stopped.  Used by mios console and top.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tty.h"

static struct termios before, during;
static volatile sig_atomic_t changed;

void tty_restore(void)
{
	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	changed = 0;
}

/* tcsetattr() and raise() may be called here; the default then ends us. */
static void on_end(int sig)
{
	tty_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* ^Z: the default stops us here, and we go on here. */
static void on_stop(int sig)
{
	int err = errno;
	sigset_t set;

	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	signal(sig, SIG_DFL);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(sig, on_stop);
	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &during);
	errno = err;
}

/* 0 or -errno */
int tty_change(void (*change)(struct termios *mode))
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE,
				    SIGSEGV, SIGBUS, SIGABRT };
	size_t i;

	if (tcgetattr(STDIN_FILENO, &before))
		return -errno;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], on_end);
	signal(SIGTSTP, on_stop);
	atexit(tty_restore);
	during = before;
	change(&during);
	changed = 1;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &during) ? -errno : 0;
}
