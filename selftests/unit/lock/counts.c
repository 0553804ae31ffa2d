// SPDX-License-Identifier: GPL-2.0
/*
 * Which messages locks send: their code run by threads, on directory.h.
 *   counts LOCK CONTENDERS ROUNDS SEED [uneven]
 * prints transfers, invalidations, register reads and IPIs of each time that the
 * lock is had.  Threads have real-time priority: what would be counted else is how
 * late the host is.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include "../../../userspace/mios-lock/locks.h"
#include "directory.h"

/* Contenders begin over so many transfers each. */
#define BEGIN_OVER	4
/* So often each has had it, on the average, before it counts. */
#define WARM		8

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t another;
	u32 nr, begun, holder, last;
	unsigned long warm, had, rounds;
	bool counts;
} c = { .mutex = PTHREAD_MUTEX_INITIALIZER,
	.another = PTHREAD_COND_INITIALIZER };

static struct contender contender[THREADS_MAX];
static const struct lock_ops *ops;
static u64 seed;

/* Unused here: the unit tests' explorer has it. */
void (*test_point)(void);

static void ends(void)
{
	const struct directory_counts *counts = &directory_counts;
	double rounds = c.rounds;

	printf("%.3f %.3f %.3f %.3f\n", counts->transfers / rounds,
	       counts->invalidations / rounds, counts->reads / rounds,
	       counts->ipis / rounds);
	exit(0);
}

static void begins(void)
{
	pthread_mutex_lock(&c.mutex);
	c.begun++;
	pthread_mutex_unlock(&c.mutex);
}

static void had_it(u32 number)
{
	directory_done();
	pthread_mutex_lock(&c.mutex);
	CHECK(c.holder == NOBODY);
	c.holder = c.last = number;
	pthread_cond_broadcast(&c.another);
	if (c.counts && ++c.had == c.rounds)
		ends();
	/* What was in caches at the beginning is so no more. */
	if (!c.counts && c.begun == c.nr && !c.warm--) {
		c.counts = true;
		directory_counting();
	}
	pthread_mutex_unlock(&c.mutex);
}

static void gives_it_up(void)
{
	pthread_mutex_lock(&c.mutex);
	c.holder = NOBODY;
	pthread_mutex_unlock(&c.mutex);
}

/* Who has had it wants it again when another one has had it. */
static void let_others(u32 number)
{
	directory_done();
	pthread_mutex_lock(&c.mutex);
	while (c.last == number)
		pthread_cond_wait(&c.another, &c.mutex);
	pthread_mutex_unlock(&c.mutex);
}

static void *contend(void *arg)
{
	u32 number = (unsigned long)arg;
	u64 own_seed = seed + number;

	directory_join(number, &own_seed);
	directory_takes(test_random(&own_seed) % (BEGIN_OVER * TRANSFER * c.nr));
	begins();
	for (;;) {
		ops->lock(&contender[number]);
		had_it(number);
		directory_takes(HOLD / 2 + test_random(&own_seed) % (HOLD + 1));
		gives_it_up();
		ops->unlock(&contender[number]);
		let_others(number);
	}
	return NULL;
}

static void be_in_time(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &first));
	prctl(PR_SET_TIMERSLACK, 1);
}

static void make(void)
{
	u32 i;

	CHECK(lock_bytes(c.nr) <= sizeof(directory_memory));
	if (ops->make)
		ops->make(directory_memory, c.nr);
	for (i = 0; i < c.nr; i++) {
		contender[i] = (struct contender){ .memory = directory_memory,
						   .number = i };
		if (ops->attach)
			ops->attach(&contender[i], c.nr);
	}
}

static u32 kind_of(const char *name)
{
	u32 kind;

	for (kind = 0; kind < LOCK_KINDS; kind++)
		if (!strcmp(lock_name[kind], name))
			break;
	CHECK(kind < LOCK_KINDS);
	return kind;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	unsigned long i;

	CHECK(argc >= 5);
	ops = &lock_ops[kind_of(argv[1])];
	c.nr = atoi(argv[2]);
	c.rounds = atoi(argv[3]);
	seed = strtoull(argv[4], NULL, 0);
	CHECK(c.nr >= 2 && c.nr <= THREADS_MAX);
	c.holder = c.last = NOBODY;
	c.warm = WARM * c.nr;
	directory_make(argc > 5);
	make();
	be_in_time();
	for (i = 0; i < c.nr; i++)
		CHECK(!pthread_create(&thread, NULL, contend, (void *)i));
	pthread_join(thread, NULL);
	return 1;
}
