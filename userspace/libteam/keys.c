// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of values that each thread has by itself (pthread_key_create(3), and C's of
 * <threads.h>).  libc numbers them, and each process has a libc: so a key is made,
 * and goes, in all of them, one at a time, and has one number.  Keys of constructors
 * have been made in the same order before.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "files.h"

static void lock(void)
{
	if (files_places() > 1)
		word_lock(&mios_omp_place.window->keys);
}

static void unlock(void)
{
	if (files_places() > 1)
		word_unlock(&mios_omp_place.window->keys);
}

static long do_create(const long *a)
{
	pthread_key_t key;
	int err = REAL(pthread_key_create)(&key, (void (*)(void *))a[0]);

	return err ? -err : key;
}

static long do_delete(const long *a)
{
	return -REAL(pthread_key_delete)(a[0]);
}

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	long made;

	lock();
	made = ask_all("pthread_key_create", do_create,
		       (struct asked){ .args = { (long)destroy } });
	unlock();
	if (made < 0)
		return errno;
	*key = made;
	return 0;
}

int pthread_key_delete(pthread_key_t key)
{
	long gone;

	lock();
	gone = ask_all("pthread_key_delete", do_delete,
		       (struct asked){ .args = { key } });
	unlock();
	return gone ? errno : 0;
}

/* In glibc they are the same. */
int tss_create(tss_t *key, tss_dtor_t destroy)
{
	return pthread_key_create(key, destroy) ? thrd_error : thrd_success;
}

void tss_delete(tss_t key)
{
	pthread_key_delete(key);
}
