// SPDX-License-Identifier: GPL-2.0
/*
 * A task farm with its queue in shared memory, by POSIX alone: nothing here
 * knows of instances.  Each process that is started with the same name joins
 * the farm, on whichever instance it runs, and takes tasks until all are done;
 * the first that finds that they are prints the result.
 *
 *	cc -O2 -pthread -o shared-farm shared-farm.c
 *	mios run -n 4 ./shared-farm /NAME TASKS
 *	rm /dev/shm/NAME
 *
 * A task is to count the primes among a thousand numbers.  A worker that dies,
 * alone or with its instance, loses nothing: it holds a robust mutex for as
 * long as it lives, so others find out, and do its tasks again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS 4096
#define SEATS 64
#define OPEN 0xffff		/* nobody's task */
#define DONE 0xfffe
#define PATIENCE 30		/* seconds for who makes the farm */

struct farm {
	atomic_uint ready;
	unsigned int tasks;
	pthread_mutex_t lock;	/* of what follows but the seats */
	pthread_cond_t changed;
	unsigned short who[MAX_TASKS];	/* OPEN, DONE, or a seat */
	unsigned int primes[MAX_TASKS];
	unsigned int printed;
	pthread_mutex_t seat[SEATS];	/* held while its worker lives */
};

static void die(const char *what, int error)
{
	fprintf(stderr, "shared-farm: %s: %s\n", what, strerror(error));
	exit(1);
}

static void make(struct farm *farm, unsigned int tasks)
{
	pthread_mutexattr_t robust;
	pthread_condattr_t shared;
	unsigned int i;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_condattr_init(&shared);
	pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&farm->lock, &robust);
	pthread_cond_init(&farm->changed, &shared);
	for (i = 0; i < SEATS; i++)
		pthread_mutex_init(&farm->seat[i], &robust);
	for (i = 0; i < tasks; i++)
		farm->who[i] = OPEN;
	farm->tasks = tasks;
	atomic_store(&farm->ready, 1);
}

/* The farm of this name, which the first one makes. */
static struct farm *join(const char *name, unsigned int tasks)
{
	struct timespec tick = { .tv_nsec = 10000000 };
	int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600), made = fd >= 0;
	struct farm *farm;
	int i;

	if (!made && errno == EEXIST)
		fd = shm_open(name, O_RDWR, 0);
	if (fd < 0 || ftruncate(fd, sizeof(*farm)))
		die(name, errno);
	farm = mmap(NULL, sizeof(*farm), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (farm == MAP_FAILED)
		die("mmap", errno);
	close(fd);
	if (made)
		make(farm, tasks);
	for (i = 0; !atomic_load(&farm->ready); i++) {
		if (i == PATIENCE * 100)
			die("whoever makes the farm", ETIMEDOUT);
		nanosleep(&tick, NULL);
	}
	if (farm->tasks != tasks)
		die("a farm of this name has other tasks", EEXIST);
	return farm;
}

/* A task is changed by one store, so whoever dies with the lock leaves order. */
static void lock(struct farm *farm)
{
	if (pthread_mutex_lock(&farm->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&farm->lock);
}

/*
 * Is the seat free?  Then we have it, and its tasks are nobody's.  This is not
 * pthread_mutex_trylock(), which looks at the word only: that its owner's whole
 * kernel is gone comes out when somebody is about to wait for it.
 */
static int take_seat(struct farm *farm, unsigned int seat)
{
	struct timespec past = { 0 };
	int error = pthread_mutex_timedlock(&farm->seat[seat], &past);
	unsigned int i;

	if (error == ETIMEDOUT)
		return 0;
	if (error == EOWNERDEAD) {
		pthread_mutex_consistent(&farm->seat[seat]);
		for (i = 0; i < farm->tasks; i++)
			if (farm->who[i] == seat)
				farm->who[i] = OPEN;
	}
	return 1;
}

static unsigned int sit_down(struct farm *farm)
{
	unsigned int seat;

	for (seat = 0; seat < SEATS; seat++)
		if (take_seat(farm, seat))
			return seat;
	die("no seat", EBUSY);
	return 0;
}

static void look_for_dead(struct farm *farm, unsigned int own)
{
	unsigned int seat;

	for (seat = 0; seat < SEATS; seat++)
		if (seat != own && take_seat(farm, seat))
			pthread_mutex_unlock(&farm->seat[seat]);
}

/* A task in this state, or -1. */
static int find(struct farm *farm, unsigned int state)
{
	unsigned int i;

	for (i = 0; i < farm->tasks; i++)
		if (farm->who[i] == state)
			return i;
	return -1;
}

static int all_done(struct farm *farm)
{
	unsigned int i;

	for (i = 0; i < farm->tasks; i++)
		if (farm->who[i] != DONE)
			return 0;
	return 1;
}

static unsigned int count_primes(unsigned int from, unsigned int to)
{
	unsigned int n, d, found = 0;

	for (n = from < 2 ? 2 : from; n < to; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		found += d * d > n;
	}
	return found;
}

/* A second at most: a death wakes nobody. */
static void wait_for_change(struct farm *farm)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_cond_timedwait(&farm->changed, &farm->lock, &until) ==
	    EOWNERDEAD)
		pthread_mutex_consistent(&farm->lock);
}

/* With the lock: take tasks until all are done. */
static unsigned int work(struct farm *farm, unsigned int own)
{
	unsigned int done = 0, primes;
	int task;

	while (!all_done(farm)) {
		task = find(farm, OPEN);
		if (task < 0) {
			look_for_dead(farm, own);
			if (find(farm, OPEN) < 0)
				wait_for_change(farm);
			continue;
		}
		farm->who[task] = own;
		pthread_mutex_unlock(&farm->lock);
		primes = count_primes(task * 1000, task * 1000 + 1000);
		lock(farm);
		farm->primes[task] = primes;
		farm->who[task] = DONE;
		pthread_cond_broadcast(&farm->changed);
		done++;
	}
	return done;
}

int main(int argc, char **argv)
{
	unsigned int i, own, done, sum = 0;
	struct farm *farm;
	int tasks = argc == 3 ? atoi(argv[2]) : 0;

	if (tasks < 1 || tasks > MAX_TASKS || argv[1][0] != '/') {
		fprintf(stderr, "usage: shared-farm /NAME TASKS (1 to %d)\n",
			MAX_TASKS);
		return 2;
	}
	farm = join(argv[1], tasks);
	lock(farm);
	own = sit_down(farm);
	done = work(farm, own);
	fprintf(stderr, "worker %u did %u tasks\n", own, done);
	if (!farm->printed++) {
		for (i = 0; i < farm->tasks; i++)
			sum += farm->primes[i];
		printf("%u primes below %d\n", sum, tasks * 1000);
	}
	pthread_mutex_unlock(&farm->seat[own]);
	pthread_mutex_unlock(&farm->lock);
	return 0;
}
