// SPDX-License-Identifier: GPL-2.0
/*
 * Mutexes, condition variables and their like, as std::mutex and C's <threads.h>
 * use them: those in memory that all processes of a team share are made such as processes share,
 * when they are used.  Else whoever sleeps for one would be woken by its own
 * process alone.  Called instead of libc's, which then do the work.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>

#include "files.h"

/* What glibc has in these words. */
#define MUTEX_SHARED	128
#define MUTEX_INHERIT	32	/* such can only be private */
#define COND_SHARED	1u
#define ONCE_DONE	2
#define ONCE_BEGUN	1

static pthread_mutex_t *mutex(pthread_mutex_t *m)
{
	if (!(m->__data.__kind & (MUTEX_SHARED | MUTEX_INHERIT)) &&
	    data_shared(m))
		__atomic_fetch_or(&m->__data.__kind, MUTEX_SHARED,
				  __ATOMIC_RELAXED);
	return m;
}

/* Which word has the flag: in glibc 2.41 it has moved.  A shared one shows it. */
static size_t cond_word(void)
{
	static _Atomic size_t found;	/* 0: not known yet */
	size_t i = atomic_load(&found);
	pthread_condattr_t shared;
	union {
		pthread_cond_t cond;
		uint32_t words[sizeof(pthread_cond_t) / sizeof(uint32_t)];
	} c = { .words = { 0 } };

	if (i)
		return i;
	pthread_condattr_init(&shared);
	pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&c.cond, &shared);
	while (i + 1 < sizeof(c) / sizeof(uint32_t) &&
	       !(c.words[i] & COND_SHARED))
		i++;
	atomic_store(&found, i);
	return i;
}

static pthread_cond_t *cond(pthread_cond_t *c)
{
	uint32_t *flags = (uint32_t *)c + cond_word();

	if (!(*flags & COND_SHARED) && data_shared(c))
		__atomic_fetch_or(flags, COND_SHARED, __ATOMIC_RELAXED);
	return c;
}

static pthread_rwlock_t *rwlock(pthread_rwlock_t *l)
{
	if (!l->__data.__shared && data_shared(l))
		l->__data.__shared = 1;
	return l;
}

int pthread_mutex_lock(pthread_mutex_t *p)
{
	return REAL(pthread_mutex_lock)(mutex(p));
}

int pthread_mutex_trylock(pthread_mutex_t *p)
{
	return REAL(pthread_mutex_trylock)(mutex(p));
}

int pthread_mutex_timedlock(pthread_mutex_t *p, const struct timespec *time)
{
	return REAL(pthread_mutex_timedlock)(mutex(p), time);
}

int pthread_mutex_clocklock(pthread_mutex_t *p, clockid_t clock,
			    const struct timespec *time)
{
	return REAL(pthread_mutex_clocklock)(mutex(p), clock, time);
}

int pthread_cond_signal(pthread_cond_t *p)
{
	return REAL(pthread_cond_signal)(cond(p));
}

int pthread_cond_broadcast(pthread_cond_t *p)
{
	return REAL(pthread_cond_broadcast)(cond(p));
}

int pthread_rwlock_rdlock(pthread_rwlock_t *p)
{
	return REAL(pthread_rwlock_rdlock)(rwlock(p));
}

int pthread_rwlock_wrlock(pthread_rwlock_t *p)
{
	return REAL(pthread_rwlock_wrlock)(rwlock(p));
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *p)
{
	return REAL(pthread_rwlock_tryrdlock)(rwlock(p));
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *p)
{
	return REAL(pthread_rwlock_trywrlock)(rwlock(p));
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *p, const struct timespec *time)
{
	return REAL(pthread_rwlock_timedrdlock)(rwlock(p), time);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *p, const struct timespec *time)
{
	return REAL(pthread_rwlock_timedwrlock)(rwlock(p), time);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *p, clockid_t clock,
			       const struct timespec *time)
{
	return REAL(pthread_rwlock_clockrdlock)(rwlock(p), clock, time);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *p, clockid_t clock,
			       const struct timespec *time)
{
	return REAL(pthread_rwlock_clockwrlock)(rwlock(p), clock, time);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return REAL(pthread_cond_wait)(cond(c), m);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
			   const struct timespec *time)
{
	return REAL(pthread_cond_timedwait)(cond(c), m, time);
}

int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m,
			   clockid_t clock, const struct timespec *time)
{
	return REAL(pthread_cond_clockwait)(cond(c), m, clock, time);
}

int sem_init(sem_t *s, int shared, unsigned int value)
{
	return REAL(sem_init)(s, shared || data_shared(s), value);
}

int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a,
			 unsigned int count)
{
	pthread_barrierattr_t shared;

	if (!data_shared(b))
		return REAL(pthread_barrier_init)(b, a, count);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	return REAL(pthread_barrier_init)(b, &shared, count);
}

/* If it has not been: by an exception.  The next one tries again. */
static void end_once(_Atomic int **once)
{
	int begun = ONCE_BEGUN;

	atomic_compare_exchange_strong(*once, &begun, 0);
}

static void run_once(_Atomic int *once, void (*init)(void))
{
	_Atomic int *begun __attribute__((cleanup(end_once))) = once;

	init();
	atomic_store(begun, ONCE_DONE);
}

int pthread_once(pthread_once_t *control, void (*init)(void))
{
	_Atomic int *once = (_Atomic int *)control;
	struct omp_wait wait = { 0 };
	int seen = 0;

	if (!data_shared(control))
		return REAL(pthread_once)(control, init);
	while (!atomic_compare_exchange_strong(once, &seen, ONCE_BEGUN)) {
		if (seen & ONCE_DONE)
			return 0;
		seen = 0;
		wait_once(&wait);
	}
	run_once(once, init);
	return 0;
}

/* C's own are the same to libc. */

int mtx_lock(mtx_t *p)
{
	mutex((pthread_mutex_t *)p);
	return REAL(mtx_lock)(p);
}

int mtx_trylock(mtx_t *p)
{
	mutex((pthread_mutex_t *)p);
	return REAL(mtx_trylock)(p);
}

int mtx_timedlock(mtx_t *p, const struct timespec *time)
{
	mutex((pthread_mutex_t *)p);
	return REAL(mtx_timedlock)(p, time);
}

int cnd_signal(cnd_t *p)
{
	cond((pthread_cond_t *)p);
	return REAL(cnd_signal)(p);
}

int cnd_broadcast(cnd_t *p)
{
	cond((pthread_cond_t *)p);
	return REAL(cnd_broadcast)(p);
}

int cnd_wait(cnd_t *c, mtx_t *m)
{
	cond((pthread_cond_t *)c);
	return REAL(cnd_wait)(c, m);
}

int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *time)
{
	cond((pthread_cond_t *)c);
	return REAL(cnd_timedwait)(c, m, time);
}

void call_once(once_flag *flag, void (*init)(void))
{
	pthread_once((pthread_once_t *)flag, init);
}
