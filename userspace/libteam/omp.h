/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the preloaded object, which starts a team's processes, and our
 * libgomp, which does their work: the latter registers itself.
 */
#ifndef MIOS_OMP_H
#define MIOS_OMP_H

#include "window.h"

struct omp_runtime {
	void (*start)(struct omp_window *w, unsigned int place);
	void (*master)(void);			/* who calls is member 0 */
	void (*member)(unsigned int number);	/* never returns */
	void (*alone)(void);			/* in a child: no team */
};

/* start.c APIs: */
void mios_omp_register(const struct omp_runtime *runtime);
void mios_omp_alone(void);

/* layout.c APIs: */
void mios_omp_demand_code(const void *code);

/* fork.c APIs: */
void fork_prepare(int fd, int least);

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

#endif /* MIOS_OMP_H */
