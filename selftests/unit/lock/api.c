// SPDX-License-Identifier: GPL-2.0
/*
 * libmios-lock as a program meets it: what is refused; threads and processes
 * that end with the lock or in its queue, of which nobody is told but by the
 * kernel; seats that are used again.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../userspace/libmios-lock/mios_lock.h"
#include "../test.h"

#define SEATS		6
#define PROCESSES	4
#define TIMES		20000

static size_t size;
static struct shared {
	unsigned long count, half;
	int ready;
} *shared;
static void *memory;

static void see(struct mios_lock_seat *seat)
{
	CHECK(!mios_lock_attach(seat, memory, size));
}

static struct timespec in_ms(long ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now.tv_nsec += ms * 1000000;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static void refusals(void)
{
	struct timespec until = in_ms(20), wrong = { 0, -1 };
	struct mios_lock_seat a, b, seat[SEATS - 2];
	int i;

	CHECK(!mios_lock_size(0) && !mios_lock_size(1025));
	CHECK(mios_lock_init(memory, size - 1, SEATS) == -EINVAL);
	CHECK(mios_lock_attach(&a, memory, size) == -EBADMSG);
	CHECK(!mios_lock_init(memory, size, SEATS));
	CHECK(mios_lock_attach(&a, memory, size - 1) == -EBADMSG);
	CHECK(mios_lock_attach(&a, (char *)memory + 8, size) == -EINVAL);
	see(&a);
	see(&b);
	for (i = 0; i < SEATS - 2; i++)
		see(&seat[i]);
	CHECK(mios_lock_attach(&seat[0], memory, size) == -EUSERS);
	CHECK(mios_unlock(&a) == -EPERM);
	CHECK(!mios_lock(&a) && mios_lock(&a) == -EDEADLK);
	CHECK(mios_lock_detach(&a) == -EBUSY);
	CHECK(mios_trylock(&b) == -EBUSY);
	CHECK(mios_timedlock(&b, &wrong) == -EINVAL);
	CHECK(mios_timedlock(&b, &until) == -ETIMEDOUT);
	CHECK(!mios_unlock(&a) && !mios_trylock(&a) && !mios_unlock(&a));
	CHECK(!mios_timedlock(&b, &until) && !mios_unlock(&b));
	CHECK(!mios_tryrdlock(&a) && !mios_rdlock(&b));
	until = in_ms(20);
	CHECK(mios_timedlock(&seat[2], &until) == -ETIMEDOUT);
	CHECK(mios_timedrdlock(&seat[1], &wrong) == -EINVAL);
	CHECK(!mios_unlock(&b) && !mios_unlock(&a));
	CHECK(!mios_timedrdlock(&seat[1], &until) && !mios_unlock(&seat[1]));
	CHECK(!mios_lock_recover(&a));
	CHECK(!mios_lock_init(memory, size, SEATS));
}

static void *ends_with_it(void *arg)
{
	static __thread struct mios_lock_seat seat;

	see(&seat);
	CHECK(!mios_lock(&seat));
	return arg;
}

static void *ends_with_share(void *arg)
{
	static __thread struct mios_lock_seat seat;

	see(&seat);
	CHECK(!mios_rdlock(&seat));
	return arg;
}

static void a_thread_ends(struct mios_lock_seat *seat)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, ends_with_it, NULL));
	pthread_join(thread, NULL);
	CHECK(mios_lock(seat) == -EOWNERDEAD);
	CHECK(!mios_unlock(seat));
	CHECK(!mios_lock(seat) && !mios_unlock(seat));
}

static void *shares_it(void *arg)
{
	struct mios_lock_seat seat;

	see(&seat);
	CHECK(!mios_rdlock(&seat));
	__atomic_store_n(&shared->ready, 1, __ATOMIC_SEQ_CST);
	usleep(300000);
	CHECK(!mios_unlock(&seat) && !mios_lock_detach(&seat));
	return arg;
}

/* The first of two who share ends, and the other one has it for longer. */
static void one_who_shares_ends(struct mios_lock_seat *seat)
{
	pthread_t ends, shares;

	CHECK(!pthread_create(&ends, NULL, ends_with_share, NULL));
	pthread_join(ends, NULL);
	CHECK(!pthread_create(&shares, NULL, shares_it, NULL));
	while (!__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST))
		usleep(1000);
	CHECK(mios_trylock(seat) == -EBUSY);
	CHECK(!mios_lock(seat) && !mios_unlock(seat));
	pthread_join(shares, NULL);
}

/* A process that takes the lock, or waits for it, until it is killed. */
static pid_t victim(void)
{
	struct mios_lock_seat seat;
	pid_t pid;

	__atomic_store_n(&shared->ready, 0, __ATOMIC_SEQ_CST);
	pid = fork();
	CHECK(pid >= 0);
	if (pid) {
		while (!__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST))
			usleep(1000);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	see(&seat);
	if (mios_trylock(&seat)) {
		__atomic_store_n(&shared->ready, 1, __ATOMIC_SEQ_CST);
		mios_lock(&seat);
	}
	__atomic_store_n(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}

static void put_down(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void processes_die(struct mios_lock_seat *seat)
{
	struct mios_lock_seat visitor;
	pid_t pid = victim();

	CHECK(mios_trylock(seat) == -EBUSY);
	put_down(pid);
	CHECK(mios_lock(seat) == -EOWNERDEAD);
	/* One in the queue, which is asked for by name. */
	pid = victim();
	usleep(20000);
	put_down(pid);
	CHECK(mios_lock_recover(seat) == 1);
	CHECK(!mios_unlock(seat));
	CHECK(!mios_trylock(seat));
	/* One whose seat is taken again by the next, again and again. */
	CHECK(!mios_unlock(seat));
	for (int i = 0; i < 2 * SEATS; i++)
		put_down(victim());
	see(&visitor);
	CHECK(!mios_lock_detach(&visitor));
	CHECK(mios_lock(seat) == -EOWNERDEAD);
	CHECK(!mios_unlock(seat));
}

static void count(void)
{
	volatile unsigned long *one = &shared->count, *two = &shared->half;
	struct mios_lock_seat seat;
	int i;

	see(&seat);
	for (i = 0; i < TIMES; i++) {
		CHECK(!mios_lock(&seat));
		CHECK(*one == *two);
		++*one;
		++*two;
		CHECK(!mios_unlock(&seat));
	}
	CHECK(!mios_lock_detach(&seat));
	exit(0);
}

static void processes_count(void)
{
	pid_t pid[PROCESSES];
	int i, status;

	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			count();
		}
	}
	for (i = 0; i < PROCESSES; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		CHECK(!status);
	}
	CHECK(shared->count == PROCESSES * TIMES);
}

static long now_ns(void)
{
	struct timespec now = in_ms(0);

	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void price(struct mios_lock_seat *seat)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	long from = now_ns(), between;
	int i;

	for (i = 0; i < 1000000; i++) {
		mios_lock(seat);
		mios_unlock(seat);
	}
	between = now_ns();
	for (i = 0; i < 1000000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	printf("lock and unlock: %ld ns, a mutex: %ld ns\n",
	       (between - from) / 1000000, (now_ns() - between) / 1000000);
}

int main(void)
{
	struct mios_lock_seat seat;
	int status;

	/* Whoever waits for the dead waits for ever. */
	alarm(60);
	size = mios_lock_size(SEATS);
	memory = mmap(NULL, size + sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	shared = (void *)((char *)memory + size);
	if (!fork()) {
		/* Its seats die with it. */
		refusals();
		exit(0);
	}
	CHECK(wait(&status) > 0 && !status);
	see(&seat);
	a_thread_ends(&seat);
	one_who_shares_ends(&seat);
	processes_die(&seat);
	processes_count();
	price(&seat);
	CHECK(!mios_lock_detach(&seat));
	printf("all right\n");
	return 0;
}
