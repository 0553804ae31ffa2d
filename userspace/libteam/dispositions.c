// SPDX-License-Identifier: GPL-2.0
/*
 * What the program does about a signal is the same in all its processes, so that a
 * member that divides by zero, or calls abort(), ends in the program's handler
 * wherever it is.  Handlers are code, which has one address in all.  Signals that
 * come from outside are for the program's own thread: members have all blocked
 * that are not their own doing; what they send themselves gets through.
 *
 * What an address that this process has not, or has no page for, means is looked at
 * here first (start.c): SIGSEGV and SIGBUS.  Of what is the program's own mistake
 * its handler is told.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "files.h"

/* Signals that are ours first, and what the program does about them. */
static struct watched {
	bool ours;
	struct sigaction of_program;
} bus, segv;

static __thread bool is_member;

static struct watched *watched(int number)
{
	return number == SIGBUS ? &bus : number == SIGSEGV ? &segv : NULL;
}

void mios_omp_block_signals(sigset_t *before)
{
	static const int own[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV,
				   SIGSYS, SIGTRAP };
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Of a member: it has blocked what the program would not have. */
void mios_omp_signals_blocked(void)
{
	is_member = true;
}

/* SIGBUS or SIGSEGV */
void signals_watch(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };

	REAL(sigaction)(number, &action, &watched(number)->of_program);
	watched(number)->ours = true;
}

/*
 * It is none of ours, and happens again when the handler returns: what somebody has
 * sent is sent once more, as it is blocked until then.
 */
void signals_pass_on(const siginfo_t *info)
{
	struct watched *w = watched(info->si_signo);

	w->ours = false;
	REAL(sigaction)(info->si_signo, &w->of_program, NULL);
	if (info->si_code <= 0)
		tgkill(getpid(), gettid(), info->si_signo);
}

static int set_here(int number, const struct sigaction *new,
		    struct sigaction *old)
{
	struct watched *w = watched(number);

	if (!w || !w->ours)
		return REAL(sigaction)(number, new, old);
	if (old)
		*old = w->of_program;
	if (new)
		w->of_program = *new;
	return 0;
}

/* Nothing is allocated: a handler may say what comes of the next one. */
static long do_set(const long *a)
{
	struct sigaction action = { .sa_flags = a[2] };

	action.sa_handler = (void (*)(int))a[1];
	memcpy(&action.sa_mask, &a[3], sizeof(a[3]));	/* all that there are */
	return set_here(a[0], &action, NULL) ? -errno : 0;
}

int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	struct asked asked = { .args = { number } };
	unsigned int place, n = files_places();
	struct sigaction given;

	if (new)
		given = *new;		/* @old may be the same */
	if (set_here(number, new, old))
		return -1;
	if (!new)
		return 0;
	asked.args[1] = (long)given.sa_handler;
	asked.args[2] = given.sa_flags;
	memcpy(&asked.args[3], &given.sa_mask, sizeof(asked.args[3]));
	for (place = 0; place < n; place++)
		if (place != mios_omp_place.number)
			ask_to_run(place, do_set, asked);
	return 0;
}

/* As glibc has it: handlers stay, and calls go on. */
sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_RESTART }, old;

	sigemptyset(&action.sa_mask);
	if (sigaddset(&action.sa_mask, number) ||
	    sigaction(number, &action, &old))
		return SIG_ERR;
	return old.sa_handler;
}

int raise(int number)
{
	sigset_t one, before;
	int result;

	if (!is_member || sigemptyset(&one) || sigaddset(&one, number))
		return REAL(raise)(number);
	pthread_sigmask(SIG_UNBLOCK, &one, &before);
	result = REAL(raise)(number);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

static long do_kill(const long *a)
{
	return REAL(kill)(getpid(), a[0]) ? -errno : 0;
}

/* The program's signals are the first process's. */
int kill(pid_t pid, int number)
{
	if (mios_omp_place.number && files_places() > 1 && pid == getpid())
		return ask_to_run(0, do_kill,
				  (struct asked){ .args = { number } });
	return REAL(kill)(pid, number);
}
