// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: work TURNS.  A program of the guest's: a thread on each CPU.  Each two
 * neighbours hand a word back and forth by a futex; all add to one word by locked
 * instructions, and to another one under a mutex; processes send each other
 * numbers through sockets, as hackbench does.  Prints what comes out, which is
 * known.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS_MAX	64

static uint32_t ball;
static long locked, guarded, turns;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static int cpus;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

/* The ball goes round; each waits for its own turn. */
static void pass(uint32_t self)
{
	uint32_t last = turns * cpus, seen;

	for (uint32_t mine = self; mine < last; mine += cpus) {
		while ((seen = __atomic_load_n(&ball, __ATOMIC_SEQ_CST)) != mine)
			syscall(SYS_futex, &ball, FUTEX_WAIT_PRIVATE, seen,
				NULL, NULL, 0);
		__atomic_add_fetch(&ball, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &ball, FUTEX_WAKE_PRIVATE, cpus, NULL, NULL,
			0);
	}
}

static void *member(void *arg)
{
	int self = (intptr_t)arg;

	pin(self);
	pthread_barrier_wait(&all);
	pass(self);
	for (long i = 0; i < turns; i++) {
		__atomic_add_fetch(&locked, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_lock(&mutex);
		guarded++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* A process on each CPU sends to the next one's, and adds up what it gets. */
static long sockets(void)
{
	int fd[CPUS_MAX][2], sums[2];
	long sum = 0, part, number;

	if (pipe(sums))
		exit(1);
	for (int i = 0; i < cpus; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]))
			exit(1);
	for (int i = 0; i < cpus; i++) {
		if (fork())
			continue;
		pin(i);
		part = 0;
		for (long k = 1; k <= turns; k++) {
			if (write(fd[(i + 1) % cpus][0], &k, sizeof(k)) < 0 ||
			    read(fd[i][1], &number, sizeof(number)) < 0)
				_exit(1);
			part += number;
		}
		_exit(write(sums[1], &part, sizeof(part)) < 0);
	}
	for (int i = 0; i < cpus; i++)
		if (read(sums[0], &part, sizeof(part)) == sizeof(part))
			sum += part;
	while (wait(NULL) > 0)
		;
	return sum;
}

int main(int argc, char **argv)
{
	pthread_t thread[CPUS_MAX];

	turns = argc > 1 ? atol(argv[1]) : 0;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (turns < 1 || cpus < 1 || cpus > CPUS_MAX)
		return 1;
	pthread_barrier_init(&all, NULL, cpus);
	for (intptr_t i = 0; i < cpus; i++)
		if (pthread_create(&thread[i], NULL, member, (void *)i))
			return 1;
	for (int i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
	printf("work: %d CPUs, ball %u, locked %ld, guarded %ld\n", cpus, ball,
	       locked, guarded);
	printf("work: sockets %ld\n", sockets());
	return 0;
}
