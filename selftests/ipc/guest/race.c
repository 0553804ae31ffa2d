// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of several instances pass tokens and take turns by bare system calls,
 * without a time limit where a wake is promised: one that is lost is a hang.
 *
 *	race FILE make				before; all zeros
 *	race FILE run FIRST THREADS OF ROUNDS	threads FIRST... of so many in all
 *	race FILE show				how many calls, tokens and turns
 *
 * Tokens go around: thread I takes one at place I mod 3, which it waits for if
 * there is none, and gives it to the next place.  Turns are a condition as C
 * libraries had it: who waits is moved to the futex of the lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACES	3
#define TOKENS	4	/* fewer than threads, so that some always wait */
#define STOP	(1u << 30)
#define FREE	0
#define HELD	1
#define WANTED	2

struct shared {
	uint32_t token[PLACES][16];
	uint32_t lock, pad[15];
	uint32_t changed, pad2[15];
	uint32_t turn, turns;
	uint64_t calls;
	uint64_t taken, given;
};

static struct shared *shared;
static unsigned long rounds, all;

static uint32_t load(uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static int replace(uint32_t *word, uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(word, &old, new, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static long futex(uint32_t *word, int op, uint32_t value, const void *timeout,
		  uint32_t *word2, uint32_t value3)
{
	long result = syscall(SYS_futex, word, op, value, timeout, word2, value3);

	__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
	if (result >= 0 || errno == EAGAIN || errno == ETIMEDOUT)
		return result;
	printf("FAILED: futex: %s\n", strerror(errno));
	exit(1);
}

/* --- tokens */

static int take(uint32_t *token, unsigned long round)
{
	const struct timespec soon = { .tv_nsec = 300000 };
	uint32_t value;

	for (;;) {
		value = load(token);
		if (value & STOP)
			return 0;
		if (value && replace(token, value, value - 1))
			return 1;
		/* Some give up as they are woken: they look again. */
		if (!value)
			futex(token, FUTEX_WAIT, 0, round % 16 ? NULL : &soon,
			      NULL, 0);
	}
}

static void give(uint32_t *token, uint32_t *other, unsigned long round)
{
	if (round % 8) {
		__atomic_fetch_add(token, 1, __ATOMIC_SEQ_CST);
		futex(token, FUTEX_WAKE, 1, NULL, NULL, 0);
		return;
	}
	/* The kernel adds; who is woken on the other place looks again. */
	futex(other, FUTEX_WAKE_OP, 1, (void *)1, token,
	      FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GE, 0));
}

static void stop(void)
{
	int i;

	for (i = 0; i < PLACES; i++) {
		__atomic_fetch_or(shared->token[i], STOP, __ATOMIC_SEQ_CST);
		futex(shared->token[i], FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
}

static void pass(unsigned long me)
{
	uint32_t *mine = shared->token[me % PLACES];
	uint32_t *next = shared->token[(me + 1) % PLACES];
	uint32_t *last = shared->token[(me + 2) % PLACES];
	unsigned long round;

	for (round = me; take(mine, round); round++) {
		__atomic_fetch_add(&shared->taken, 1, __ATOMIC_RELAXED);
		give(next, last, round);
		__atomic_fetch_add(&shared->given, 1, __ATOMIC_RELAXED);
		if (__atomic_load_n(&shared->calls, __ATOMIC_RELAXED) > rounds)
			stop();
	}
}

/* --- turns */

static void lock(uint32_t as)
{
	if (as == HELD && replace(&shared->lock, FREE, HELD))
		return;
	while (__atomic_exchange_n(&shared->lock, WANTED, __ATOMIC_SEQ_CST))
		futex(&shared->lock, FUTEX_WAIT, WANTED, NULL, NULL, 0);
}

static void unlock(void)
{
	if (__atomic_exchange_n(&shared->lock, FREE, __ATOMIC_SEQ_CST) == WANTED)
		futex(&shared->lock, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_for_change(void)
{
	uint32_t was = load(&shared->changed);

	unlock();
	futex(&shared->changed, FUTEX_WAIT, was, NULL, NULL, 0);
	/* It may have been moved to the lock, and others with it. */
	lock(WANTED);
}

static void change(void)
{
	uint32_t now = __atomic_add_fetch(&shared->changed, 1, __ATOMIC_SEQ_CST);

	/* Who is moved is woken by an unlock, and so there has to be one. */
	__atomic_store_n(&shared->lock, WANTED, __ATOMIC_SEQ_CST);
	if (futex(&shared->changed, FUTEX_CMP_REQUEUE, 1, (void *)INT_MAX,
		  &shared->lock, now) < 0) {
		puts("FAILED: somebody else has changed it");
		exit(1);
	}
}

static void take_turns(unsigned long me)
{
	unsigned long i;

	for (i = 0; i < rounds / 100; i++) {
		lock(HELD);
		while (shared->turn != me)
			wait_for_change();
		shared->turn = (me + 1) % all;
		shared->turns++;
		change();
		unlock();
	}
}

static void *run(void *arg)
{
	unsigned long me = (unsigned long)arg;

	pass(me);
	take_turns(me);
	return NULL;
}

static int show(void)
{
	uint64_t tokens = 0;
	int i;

	for (i = 0; i < PLACES; i++)
		tokens += load(shared->token[i]) & ~STOP;
	printf("%lu calls\n", (long)shared->calls);
	printf("%lu tokens, %ld on the way, %u turns\n", (long)tokens,
	       (long)(shared->taken - shared->given), shared->turns);
	return 0;
}

static int start(unsigned long first, unsigned long nr)
{
	pthread_t thread[16];
	unsigned long i;

	for (i = 0; i < nr && i < 16; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(first + i)))
			return puts("FAILED: no thread"), 1;
	while (i--)
		pthread_join(thread[i], NULL);
	puts("done");
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3 && argc != 7)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)))
		return puts("FAILED: no file"), 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	if (shared == MAP_FAILED)
		return puts("FAILED: mmap"), 1;
	if (argc == 7) {
		all = strtoul(argv[5], NULL, 10);
		rounds = strtoul(argv[6], NULL, 10);
		return start(strtoul(argv[3], NULL, 10),
			     strtoul(argv[4], NULL, 10));
	}
	if (!strcmp(argv[2], "show"))
		return show();
	memset(shared, 0, sizeof(*shared));
	shared->token[0][0] = TOKENS;
	return 0;
}
