// SPDX-License-Identifier: GPL-2.0
/*
 * Waits and wakes in a file that other instances map, too: the bare system
 * calls on words of its first page, and what the C library makes of them in
 * the second.  An ordinary program, for glibc and musl: it knows nothing of
 * instances.
 *
 * futexes FILE COMMAND ARGUMENTS: see the table at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX	64
#define PAGE		4096

/* What the headers may not have yet. */
#define NR_FUTEX_WAITV		449
#define NR_FUTEX_WAKE		454
#define NR_FUTEX_WAIT		455
#define NR_FUTEX_REQUEUE	456
#define SIZE_U32		2

/* What the second page holds. */
struct shared {
	pthread_barrier_t barrier;
	pthread_mutex_t mutex;
	pthread_mutex_t robust;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	sem_t sem;
	unsigned int turn;
	unsigned int count;
	unsigned int half;
};

static uint8_t *file;
static sig_atomic_t signals;

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t *word_at(const char *number)
{
	return (uint32_t *)(file + 64 * atoi(number));
}

static struct shared *shared(void)
{
	return (struct shared *)(file + PAGE);
}

static void need(int err, const char *what)
{
	if (!err)
		return;
	errno = err;
	fail(what);
}

static long futex(uint32_t *word, int op, uint32_t value, const void *timeout,
		  uint32_t *word2, uint32_t value3)
{
	return syscall(SYS_futex, word, op, value, timeout, word2, value3);
}

/* --- bare waits */

struct waiter {
	uint32_t *word;
	uint32_t bitset;
	struct timespec *end;
	int result;
};

static void *wait_once(void *arg)
{
	struct waiter *w = arg;
	long err = futex(w->word, FUTEX_WAIT_BITSET, *w->word, w->end, NULL,
			 w->bitset);

	w->result = err ? errno : 0;
	return NULL;
}

/* wait WORD THREADS [BITSET [MS]]: how each ended */
static int cmd_wait(int nr, char **arg)
{
	struct waiter w[THREADS_MAX] = { };
	pthread_t thread[THREADS_MAX];
	struct timespec end;
	int i, threads = atoi(arg[1]), woken = 0, late = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	if (nr > 3) {
		end.tv_sec += atoi(arg[3]) / 1000;
		end.tv_nsec += atoi(arg[3]) % 1000 * 1000000;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
	}
	for (i = 0; i < threads && i < THREADS_MAX; i++) {
		w[i].word = word_at(arg[0]);
		w[i].bitset = nr > 2 ? strtoul(arg[2], NULL, 0) : ~0u;
		w[i].end = nr > 3 ? &end : NULL;
		need(pthread_create(&thread[i], NULL, wait_once, &w[i]),
		     "pthread_create");
	}
	while (i-- > 0) {
		pthread_join(thread[i], NULL);
		woken += !w[i].result;
		late += w[i].result == ETIMEDOUT;
	}
	printf("woken %d late %d other %d\n", woken, late,
	       threads - woken - late);
	return 0;
}

/* waitv WORD...: which of them was woken */
static int cmd_waitv(int nr, char **arg)
{
	struct futex_waitv w[16] = { };
	int i;

	for (i = 0; i < nr && i < 16; i++) {
		w[i].uaddr = (uintptr_t)word_at(arg[i]);
		w[i].val = *word_at(arg[i]);
		w[i].flags = FUTEX_32;
	}
	printf("%ld\n", syscall(NR_FUTEX_WAITV, w, i, 0, NULL, 0));
	return 0;
}

/* musl has no strerrorname_np(). */
static const char *error_name(int err)
{
	switch (err) {
	case EAGAIN:
		return "EAGAIN";
	case EINTR:
		return "EINTR";
	case EINVAL:
		return "EINVAL";
	case EOPNOTSUPP:
		return "EOPNOTSUPP";
	case EOWNERDEAD:
		return "EOWNERDEAD";
	case ENOTRECOVERABLE:
		return "ENOTRECOVERABLE";
	}
	return strerror(err);
}

static int count_out(long count)
{
	if (count < 0)
		printf("%s\n", error_name(errno));
	else
		printf("%ld\n", count);
	return 0;
}

/* wake WORD COUNT [BITSET]: how many were */
static int cmd_wake(int nr, char **arg)
{
	return count_out(futex(word_at(arg[0]), FUTEX_WAKE_BITSET,
			       atoi(arg[1]), NULL, NULL,
			       nr > 2 ? strtoul(arg[2], NULL, 0) : ~0u));
}

/* requeue WORD WAKE MOVE WORD: how many were either */
static int cmd_requeue(int nr, char **arg)
{
	return count_out(futex(word_at(arg[0]), FUTEX_CMP_REQUEUE,
			       atoi(arg[1]), (void *)atol(arg[2]),
			       word_at(arg[3]), *word_at(arg[0])));
}

/* wakeop WORD COUNT WORD COUNT: the second is made 7, and woken if it was 0 */
static int cmd_wakeop(int nr, char **arg)
{
	return count_out(futex(word_at(arg[0]), FUTEX_WAKE_OP, atoi(arg[1]),
			       (void *)atol(arg[3]), word_at(arg[2]),
			       FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 0)));
}

/* lockpi WORD: what the kernel says */
static int cmd_lockpi(int nr, char **arg)
{
	return count_out(futex(word_at(arg[0]), FUTEX_LOCK_PI, 0, NULL, NULL,
			       0));
}

static void caught(int signal)
{
	signals++;
}

/* interrupted WORD: SIGUSR1 ends the wait, SIGUSR2 does not */
static int cmd_interrupted(int nr, char **arg)
{
	struct sigaction action = { .sa_handler = caught };
	uint32_t *word = word_at(arg[0]);
	long err;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &action, NULL);
	err = futex(word, FUTEX_WAIT, *word, NULL, NULL, 0);
	printf("%s after %d\n", err ? error_name(errno) : "woken",
	       (int)signals);
	return 0;
}

/* wait2 WORD: the calls of futex2 */
static int cmd_wait2(int nr, char **arg)
{
	uint32_t *word = word_at(arg[0]);

	return count_out(syscall(NR_FUTEX_WAIT, word, (unsigned long)*word,
				 (unsigned long)UINT32_MAX, SIZE_U32, NULL, 0));
}

/* wake2 WORD COUNT */
static int cmd_wake2(int nr, char **arg)
{
	return count_out(syscall(NR_FUTEX_WAKE, word_at(arg[0]),
				 (unsigned long)UINT32_MAX, atoi(arg[1]),
				 SIZE_U32));
}

/* requeue2 WORD WAKE MOVE WORD */
static int cmd_requeue2(int nr, char **arg)
{
	struct futex_waitv w[2] = {
		{ .uaddr = (uintptr_t)word_at(arg[0]), .flags = SIZE_U32,
		  .val = *word_at(arg[0]) },
		{ .uaddr = (uintptr_t)word_at(arg[3]), .flags = SIZE_U32 },
	};

	return count_out(syscall(NR_FUTEX_REQUEUE, w, 0, atoi(arg[1]),
				 atoi(arg[2])));
}

/* set WORD VALUE */
static int cmd_set(int nr, char **arg)
{
	__atomic_store_n(word_at(arg[0]), atoi(arg[1]), __ATOMIC_SEQ_CST);
	return 0;
}

/* --- the C library's */

/* init PROCESSES: that use it */
static int cmd_init(int nr, char **arg)
{
	struct shared *s = shared();
	pthread_barrierattr_t barrier;
	pthread_rwlockattr_t rwlock;
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	memset(s, 0, sizeof(*s));
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	need(pthread_barrier_init(&s->barrier, &barrier, atoi(arg[0])),
	     "barrier");
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	need(pthread_cond_init(&s->cond, &cond), "cond");
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	need(pthread_rwlock_init(&s->rwlock, &rwlock), "rwlock");
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	need(pthread_mutex_init(&s->mutex, &mutex), "mutex");
	pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	need(pthread_mutex_init(&s->robust, &mutex), "robust mutex");
	return sem_init(&s->sem, 1, 0);
}

/* turns ME OF ROUNDS: in turn with the others; what all have counted */
static int cmd_turns(int nr, char **arg)
{
	unsigned int me = atoi(arg[0]), of = atoi(arg[1]), i;
	unsigned int rounds = atoi(arg[2]);
	struct shared *s = shared();

	pthread_barrier_wait(&s->barrier);
	for (i = 0; i < rounds; i++) {
		need(pthread_mutex_lock(&s->mutex), "lock");
		while (s->turn != me)
			need(pthread_cond_wait(&s->cond, &s->mutex), "wait");
		s->turn = (me + 1) % of;
		s->count++;
		need(pthread_cond_broadcast(&s->cond), "broadcast");
		need(pthread_mutex_unlock(&s->mutex), "unlock");
	}
	pthread_barrier_wait(&s->barrier);
	printf("%u\n", s->count);
	return 0;
}

static void change(struct shared *s)
{
	need(pthread_rwlock_wrlock(&s->rwlock), "to write");
	s->count++;
	/* So that others come meanwhile, and sleep. */
	usleep(500);
	s->half++;
	need(pthread_rwlock_unlock(&s->rwlock), "unlock");
}

/* change ROUNDS: what all have, and who reads sees no half of it */
static int cmd_change(int nr, char **arg)
{
	struct shared *s = shared();
	int i, halves = 0;

	pthread_barrier_wait(&s->barrier);
	for (i = 0; i < atoi(arg[0]); i++) {
		change(s);
		need(pthread_rwlock_rdlock(&s->rwlock), "to read");
		halves += s->count != s->half;
		need(pthread_rwlock_unlock(&s->rwlock), "unlock");
	}
	pthread_barrier_wait(&s->barrier);
	printf("%u, %d halves\n", s->count, halves);
	return 0;
}

/* post, take: a semaphore */
static int cmd_post(int nr, char **arg)
{
	return sem_post(&shared()->sem);
}

static int cmd_take(int nr, char **arg)
{
	return sem_wait(&shared()->sem);
}

/* hold: the robust mutex, for good */
static int cmd_hold(int nr, char **arg)
{
	need(pthread_mutex_lock(&shared()->robust), "lock");
	puts("held");
	fflush(stdout);
	while (pause())
		;
	return 0;
}

/* lock: it, and say what became of who had it */
static int cmd_lock(int nr, char **arg)
{
	pthread_mutex_t *mutex = &shared()->robust;
	int err = pthread_mutex_lock(mutex);

	puts(err ? error_name(err) : "locked");
	if (err == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
	if (!err || err == EOWNERDEAD)
		pthread_mutex_unlock(mutex);
	return 0;
}

/* inherit: lock a mutex with priority inheritance that somebody else has */
static int cmd_inherit(int nr, char **arg)
{
	pthread_mutex_t *mutex = (pthread_mutex_t *)(file + PAGE / 2);
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	need(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT),
	     "setprotocol");
	need(pthread_mutex_init(mutex, &attr), "mutex");
	*(uint32_t *)mutex = 1;
	return pthread_mutex_lock(mutex);
}

static const struct command {
	const char *name;
	int (*run)(int nr, char **arg);
	int nr;
} commands[] = {
	{ "wait", cmd_wait, 2 },
	{ "waitv", cmd_waitv, 1 },
	{ "wake", cmd_wake, 2 },
	{ "requeue", cmd_requeue, 4 },
	{ "wakeop", cmd_wakeop, 4 },
	{ "lockpi", cmd_lockpi, 1 },
	{ "interrupted", cmd_interrupted, 1 },
	{ "wait2", cmd_wait2, 1 },
	{ "wake2", cmd_wake2, 2 },
	{ "requeue2", cmd_requeue2, 4 },
	{ "set", cmd_set, 2 },
	{ "init", cmd_init, 1 },
	{ "turns", cmd_turns, 3 },
	{ "change", cmd_change, 1 },
	{ "post", cmd_post, 0 },
	{ "take", cmd_take, 0 },
	{ "hold", cmd_hold, 0 },
	{ "lock", cmd_lock, 0 },
	{ "inherit", cmd_inherit, 0 },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		fail(argv[1]);
	file = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[2], commands[i].name) &&
		    argc - 3 >= commands[i].nr)
			return commands[i].run(argc - 3, argv + 3);
	return 2;
}
