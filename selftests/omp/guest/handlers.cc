// SPDX-License-Identifier: GPL-2.0
/*
 * The program's handlers for what a member does itself: handlers MEMBERS WHO HOW.
 * Member WHO ends in one, or all recover from a crash of their own.
 */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <omp.h>

#include "check.h"

static thread_local sigjmp_buf back;
static thread_local volatile int seen;

static void last(int)
{
	static const char text[] = "in the handler\n";

	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(42);
}

static void jump(int)
{
	siglongjmp(back, 1);
}

static void note(int number)
{
	seen = number;
}

/* More than any stack has room for: it ends far below. */
static __attribute__((noinline)) int deep()
{
	volatile char frame[60 << 20];

	frame[0] = 1;
	return frame[0];
}

static void crash(char how)
{
	volatile int zero = 0;

	switch (how) {
	case 's':
		*(volatile int *)8 = 1;
		break;
	case 'd':
		zero = 100 / zero;
		break;
	case 'a':
		abort();
	case 'o':
		zero = deep();
		break;
	case 'k':
		kill(getpid(), SIGUSR1);
		sleep(20);
	}
}

int main(int argc, char **argv)
{
	int members = atoi(argv[1]), who = atoi(argv[2]), right = 0;
	const int numbers[] = { SIGSEGV, SIGFPE, SIGABRT, SIGUSR1 };
	struct sigaction action = {};

	action.sa_flags = SA_ONSTACK;
	action.sa_handler = *argv[3] == 'j' ? jump : *argv[3] == 'r' ? note : last;
	for (int number : numbers)
		check(!sigaction(number, &action, nullptr), "sigaction()");
	check(signal(SIGUSR2, note) == SIG_DFL, "signal()");
#pragma omp parallel reduction(+:right)
	if (*argv[3] == 'j') {
		if (!sigsetjmp(back, 1))
			crash('s');
		else
			right++;
	} else if (*argv[3] == 'r') {
		raise(SIGUSR1);
		right += seen == SIGUSR1;
		raise(SIGUSR2);
		right += seen == SIGUSR2;
	} else if (omp_get_thread_num() == who) {
		crash(*argv[3]);
	}
	check(right == members * (*argv[3] == 'r' ? 2 : 1), "all of them");
	printf("%d members, all right\n", members);
	return 0;
}
