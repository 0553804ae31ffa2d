// SPDX-License-Identifier: GPL-2.0
/*
 * What libmios-lock costs beside the C library's locks, on this machine:
 *   lock steps KIND PAIRS	instructions of so many pairs of lock and unlock
 *   lock pairs KIND PAIRS	nanoseconds of CPU time of one, which nobody else wants
 *   lock turns KIND TURNS	nanoseconds of a turn: two processes take turns
 * KIND: none, mios, share, mutex, robust or spin; one number is printed.
 * Instructions are counted by stepping through them.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mios_lock.h>

#define SIZE	(1 << 16)

static struct shared {
	pthread_mutex_t mutex;
	pthread_spinlock_t spin;
	volatile unsigned long turns;
	char mios[SIZE] __attribute__((aligned(MIOS_LOCK_ALIGN)));
} *shared;

static struct mios_lock_seat seat;

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "lock: %s\n", what);
	exit(1);
}

static int none(void)
{
	return 0;
}

static int mios_on(void)
{
	return mios_lock(&seat);
}

static int share_on(void)
{
	return mios_rdlock(&seat);
}

static int mios_off(void)
{
	return mios_unlock(&seat);
}

static int mutex_on(void)
{
	return pthread_mutex_lock(&shared->mutex);
}

static int mutex_off(void)
{
	return pthread_mutex_unlock(&shared->mutex);
}

static int spin_on(void)
{
	return pthread_spin_lock(&shared->spin);
}

static int spin_off(void)
{
	return pthread_spin_unlock(&shared->spin);
}

static const struct kind {
	const char *name;
	int (*on)(void);
	int (*off)(void);
} kinds[] = {
	{ "none", none, none },
	{ "mios", mios_on, mios_off },
	{ "share", share_on, mios_off },
	{ "mutex", mutex_on, mutex_off },
	{ "robust", mutex_on, mutex_off },
	{ "spin", spin_on, spin_off },
	{ }
};

static void make(const char *kind)
{
	pthread_mutexattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared == MAP_FAILED, "no memory");
	must(mios_lock_size(2) > SIZE ||
	     mios_lock_init(shared->mios, SIZE, 2), "no mios_lock");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!strcmp(kind, "robust"))
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	must(pthread_mutex_init(&shared->mutex, &attr) ||
	     pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED), "no lock");
}

static void take_seat(void)
{
	must(mios_lock_attach(&seat, shared->mios, SIZE), "no seat");
}

static void pairs(const struct kind *kind, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		must(kind->on() || kind->off(), "a lock that is not to be had");
}

/* Each takes every other one; whoever has none lets the other go on. */
static void turns(const struct kind *kind, unsigned long nr, unsigned int me)
{
	unsigned long turn = 0;

	while (turn < nr) {
		must(kind->on(), "a lock that is not to be had");
		turn = shared->turns;
		if (turn < nr && turn % 2 == me)
			shared->turns = turn + 1;
		must(kind->off(), "a lock that cannot be let go");
	}
}

/* Each on a CPU of its own, where there are two. */
static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static double ns_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static double ns_of_turns(const struct kind *kind, unsigned long nr)
{
	pid_t other = fork();
	double begin;
	int status;

	must(other < 0, "no process");
	take_seat();
	pin(!other);
	begin = ns_now(CLOCK_MONOTONIC);
	turns(kind, nr, !other);
	if (!other)
		exit(0);
	must(waitpid(other, &status, 0) != other || status, "the other failed");
	return (ns_now(CLOCK_MONOTONIC) - begin) / nr;
}

static double ns_of_pairs(const struct kind *kind, unsigned long nr)
{
	double begin;

	take_seat();
	pairs(kind, nr / 10);
	begin = ns_now(CLOCK_PROCESS_CPUTIME_ID);
	pairs(kind, nr);
	return (ns_now(CLOCK_PROCESS_CPUTIME_ID) - begin) / nr;
}

/* Between two stops of a child, in which it does nothing but that. */
static double steps(const struct kind *kind, unsigned long nr)
{
	unsigned long count = 0;
	int status;
	pid_t child = fork();

	must(child < 0, "no process");
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		take_seat();
		pairs(kind, 2);
		raise(SIGUSR1);
		pairs(kind, nr);
		raise(SIGUSR1);
		_exit(0);
	}
	must(waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	     WSTOPSIG(status) != SIGUSR1, "the child did not stop");
	do {
		must(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), "no steps");
		must(waitpid(child, &status, 0) != child, "no child");
		count++;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	must(!WIFSTOPPED(status) || WSTOPSIG(status) != SIGUSR1,
	     "the child ended");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return count;
}

int main(int argc, char **argv)
{
	const struct kind *kind;
	unsigned long nr;

	must(argc != 4, "usage: lock steps|pairs|turns KIND NUMBER");
	nr = strtoul(argv[3], NULL, 0);
	for (kind = kinds; kind->name && strcmp(kind->name, argv[2]); kind++)
		;
	must(!kind->name || !nr, "no such kind, or no number");
	make(argv[2]);
	if (!strcmp(argv[1], "steps"))
		printf("%.0f\n", steps(kind, nr));
	else if (!strcmp(argv[1], "pairs"))
		printf("%.2f\n", ns_of_pairs(kind, nr));
	else
		printf("%.2f\n", ns_of_turns(kind, nr));
	return 0;
}
