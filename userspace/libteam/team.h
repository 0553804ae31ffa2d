/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What several processes need that are one program, whatever its language: a
 * window of memory that all have at one address, a heap in it, locks that are
 * words of it.  What the window has else its runtime says.
 */
#ifndef MIOS_TEAM_H
#define MIOS_TEAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One line, and the end of all.  Each runtime has its own, by this name: window.c
 * here has OpenMP's.
 */
#define omp_die mios_omp_die	/* as libgomp sees it */
_Noreturn void omp_die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* map.c APIs: */

/* MAP_FAILED, or where the window is mapped. */
void *window_map(int fd, size_t size);

/* heap.c APIs: */

/* From offset @at of the window to @end, for so many processes. */
void heap_create(void *window, uint64_t at, uint64_t end, uint32_t places);
/* From now on what process @place allocates is everybody's. */
void heap_attach(void *window, uint64_t at, uint32_t place);
void heap_keep_private(void);
void heap_separate(void);
void *mios_omp_alloc(size_t size);
void *mios_omp_zalloc(size_t size);
void *mios_omp_memalign(size_t align, size_t size);

/*
 * The one place where anybody waits for another process: it spins, then gives
 * the CPU away, then sleeps for up to a millisecond.
 */
struct omp_wait {
	unsigned int turns;
};

/* wait.c APIs: */
extern unsigned int mios_omp_spins;
void mios_omp_sleep(struct omp_wait *wait);
#define word_wait mios_omp_word_wait	/* as libgomp sees it */
void word_wait(_Atomic uint32_t *word);

static inline void wait_turn(struct omp_wait *wait)
{
	if (wait->turns++ < mios_omp_spins)
		__builtin_ia32_pause();
	else
		mios_omp_sleep(wait);
}

/* A lock word that any process may take: 0 is free. */
static inline void word_lock(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, 1, memory_order_acquire))
		word_wait(word);
}

static inline void word_unlock(_Atomic uint32_t *word)
{
	atomic_store_explicit(word, 0, memory_order_release);
}

#endif /* MIOS_TEAM_H */
