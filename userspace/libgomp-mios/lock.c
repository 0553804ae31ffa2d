// SPDX-License-Identifier: GPL-2.0
/*
 * omp_*_lock() and omp_*_nest_lock(): words of the program's memory, of the
 * sizes that omp.h of gcc has since OpenMP 3.0.
 */
#include <stdlib.h>

#include "gomp.h"

typedef _Atomic uint32_t lock_word;

struct nest_lock {
	lock_word lock;
	int count;
	void *owner;
};

static_assert(sizeof(struct nest_lock) == 16, "omp_nest_lock_t of 3.0");

/* With 2.5 there were others, of another size: see refuse.c. */
#define NOW(NAME)	__attribute__((symver(#NAME "@@OMP_3.0")))

/* Fortran's name, with the address of the same word. */
#define ALSO(NAME)	__attribute__((alias(#NAME "_30"), symver(#NAME "_@@OMP_3.0")))

NOW(omp_init_lock) void omp_init_lock_30(lock_word *lock)
{
	atomic_store(lock, 0);
}

NOW(omp_destroy_lock) void omp_destroy_lock_30(lock_word *lock)
{
}

NOW(omp_set_lock) void omp_set_lock_30(lock_word *lock)
{
	word_lock(lock);
}

NOW(omp_unset_lock) void omp_unset_lock_30(lock_word *lock)
{
	word_unlock(lock);
}

NOW(omp_test_lock) int omp_test_lock_30(lock_word *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong(lock, &free, 1);
}

ALSO(omp_init_lock) void omp_init_lock_30_(lock_word *lock);
ALSO(omp_destroy_lock) void omp_destroy_lock_30_(lock_word *lock);
ALSO(omp_set_lock) void omp_set_lock_30_(lock_word *lock);
ALSO(omp_unset_lock) void omp_unset_lock_30_(lock_word *lock);
ALSO(omp_test_lock) int omp_test_lock_30_(lock_word *lock);

/*
 * A nest lock is a task's, and a thread's part of a region is one.  No process has
 * anything where another one has, so no other task has the address of this one.
 */
static void *self(void)
{
	return context()->task;
}

NOW(omp_init_nest_lock) void omp_init_nest_lock_30(struct nest_lock *lock)
{
	*lock = (struct nest_lock){ 0 };
}

NOW(omp_destroy_nest_lock) void omp_destroy_nest_lock_30(struct nest_lock *lock)
{
}

NOW(omp_set_nest_lock) void omp_set_nest_lock_30(struct nest_lock *lock)
{
	if (lock->owner != self()) {
		word_lock(&lock->lock);
		lock->owner = self();
	}
	lock->count++;
}

NOW(omp_unset_nest_lock) void omp_unset_nest_lock_30(struct nest_lock *lock)
{
	if (--lock->count)
		return;
	lock->owner = NULL;
	word_unlock(&lock->lock);
}

NOW(omp_test_nest_lock) int omp_test_nest_lock_30(struct nest_lock *lock)
{
	if (lock->owner != self()) {
		if (!omp_test_lock_30(&lock->lock))
			return 0;
		lock->owner = self();
	}
	return ++lock->count;
}

/* Fortran's nest lock is a word with the address of one. */

NOW(omp_init_nest_lock_) void omp_init_nest_lock__30(struct nest_lock **lock)
{
	*lock = mios_omp_zalloc(sizeof(**lock));
	if (!*lock)
		omp_die("no memory left in the window for a lock");
}

NOW(omp_destroy_nest_lock_) void omp_destroy_nest_lock__30(struct nest_lock **lock)
{
	free(*lock);
	*lock = NULL;
}

NOW(omp_set_nest_lock_) void omp_set_nest_lock__30(struct nest_lock **lock)
{
	omp_set_nest_lock_30(*lock);
}

NOW(omp_unset_nest_lock_) void omp_unset_nest_lock__30(struct nest_lock **lock)
{
	omp_unset_nest_lock_30(*lock);
}

NOW(omp_test_nest_lock_) int omp_test_nest_lock__30(struct nest_lock **lock)
{
	return omp_test_nest_lock_30(*lock);
}
