/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What several processes need that are one program.  First what the runtimes of
 * all languages use: a window of memory that all have at one address, a heap in
 * it, locks that are words of it.  Then what OpenMP's team is, whose processes
 * the preloaded object starts, while our libgomp does their work: the latter
 * registers itself.
 */
#ifndef MIOS_TEAM_H
#define MIOS_TEAM_H

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One line, and the end of all.  Each runtime has its own, by this name: die.c here
 * has OpenMP's.
 */
#define omp_die mios_omp_die	/* as libgomp sees it */
_Noreturn void omp_die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* thread_stack.c APIs: */
size_t mios_omp_stack_size(size_t size, const pthread_attr_t *attr);

/* map.c APIs: */

/* MAP_FAILED, or where the window is mapped. */
void *window_map(int fd, size_t size);

/* heap.c APIs: */

/* From offset @at of the window to @end, for so many processes. */
void heap_create(void *window, uint64_t at, uint64_t end, uint32_t places);
/* From now on what process @place allocates is everybody's. */
void heap_attach(void *window, uint64_t at, uint32_t place);
void *mios_omp_alloc(size_t size);
void *mios_omp_zalloc(size_t size);
void *mios_omp_memalign(size_t align, size_t size);
void mios_omp_free(void *p);

/*
 * The one place where anybody waits for another process.  What is soon there is
 * looked for: wait_once() spins, then gives the CPU away, then sleeps for up to a
 * millisecond.  What may be long, as the next region, is waited for by long_wait(),
 * which sleeps until somebody calls long_wake(), after spinning.
 */
struct omp_wait {
	unsigned int looks;
	bool armed;			/* about to sleep, and has said so */
	uint32_t seen;			/* ->wakes before the last look */
};

/* wait.c APIs: */
extern unsigned int mios_omp_spins;
void mios_omp_sleep(struct omp_wait *wait);
#define word_wait mios_omp_word_wait	/* as libgomp sees it */
void word_wait(_Atomic uint32_t *word);

static inline void wait_once(struct omp_wait *wait)
{
	if (wait->looks++ < mios_omp_spins)
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

/*
 * What the processes of an OpenMP team share: the window file, and what stands
 * where in it.  Written by the first process, place 0, before the others read it
 * (start.c).
 */
#define OMP_WINDOW_MAGIC	0x504d4f2d534f494dull	/* MIOS-OMP */
#define OMP_WINDOW_VERSION	9
#define OMP_MAX_PLACES		64
#define OMP_MAX_MEMBERS		1024
#define OMP_MAX_OBJECTS		256
#define OMP_OBJECT_NAME		48
#define OMP_FAILED		125	/* exit status */

/* Offsets in the file: this header, the runtime's own, data; stacks, heap, space. */
#define OMP_RUNTIME_AT		0x10000
#define OMP_DATA_AT		0x200000

/* A mapped object: layout.c compares them. */
struct omp_object {
	uint64_t base, build;
	char name[OMP_OBJECT_NAME];
};

struct omp_window {
	uint64_t magic;
	uint32_t version;
	uint32_t nr_places, nr_members, nr_objects;
	uint64_t base, size;		/* where it is mapped, of how many bytes */
	uint64_t stack_at, stack_size;	/* of member 0; of each, and below it */
	uint64_t stack_gap;		/* what nobody has: see stacks.c */
	uint64_t heap_at, space_at;
	atomic_uint ready;		/* by place 0: all above is written */
	atomic_uint arrived;		/* how many of the others have it, too */
	atomic_uint over;		/* 1 + exit status, of the first to end */
	uint32_t first[OMP_MAX_PLACES + 1];	/* member of each place */
	uint32_t files_base, files_each;	/* see files.c */
	atomic_uint files_moved;
	uint64_t desks[OMP_MAX_PLACES];		/* see ask.c */
	uint64_t streams;			/* see streams.c */
	uint64_t numbers;			/* see random_numbers.c */
	uint64_t results;			/* see results.c */
	atomic_uint keys;			/* see keys.c */
	atomic_uint repeats_lock;
	uint64_t repeats;			/* see repeat.c */
	atomic_uint asleep, wakes;		/* see long_wait.c */
	atomic_uint working;			/* a region of all is under way */
	atomic_uint said;			/* somebody writes the last line */
	atomic_uint leaving;			/* 1 + exit status, for place 0: see start.c */
	struct omp_object objects[OMP_MAX_OBJECTS];
};

static_assert(sizeof(struct omp_window) <= OMP_RUNTIME_AT, "header");
static_assert(offsetof(struct omp_window, ready) == 80, "layout, version 6");

/* This process of the team: what it has been told, and where its window is. */
struct omp_place {
	struct omp_window *window;	/* NULL: there is no such team here */
	unsigned int number;
	int fd;				/* of the window, until all is mapped */
	bool strict;			/* malloc() is private */
};

extern struct omp_place mios_omp_place;

/* long_wait.c APIs: */
#define long_wait_sleep mios_omp_long_wait_sleep	/* as libgomp sees it */
#define long_wake_all mios_omp_long_wake_all
void long_wait_sleep(struct omp_wait *wait);
void long_wake_all(void);

/* Once more, and then the caller looks again. */
static inline void long_wait(struct omp_wait *wait)
{
	if (wait->looks < mios_omp_spins) {
		wait->looks++;
		__builtin_ia32_pause();
	} else {
		long_wait_sleep(wait);
	}
}

/* What was waited for is there, or something else to do. */
static inline void long_wait_end(struct omp_wait *wait)
{
	*wait = (struct omp_wait){ 0 };
}

/* Somebody may wait for what has just been stored. */
static inline void long_wake(void)
{
	const struct omp_window *w = mios_omp_place.window;

	atomic_thread_fence(memory_order_seq_cst);
	if (w && atomic_load_explicit(&w->asleep, memory_order_relaxed))
		long_wake_all();
}

/* What libgomp does: of a team's process. */
struct omp_runtime {
	void (*start)(struct omp_window *w, unsigned int place);
	void (*master)(void);			/* who calls is member 0 */
	void (*member)(unsigned int number);	/* never returns */
	void (*alone)(void);			/* in a child: no team */
};

/* start.c APIs: */
void mios_omp_register(const struct omp_runtime *runtime);

/* dispositions.c APIs: for threads that the program has not made */
void mios_omp_block_signals(sigset_t *before);
void mios_omp_signals_blocked(void);

/* layout.c APIs: */
void mios_omp_demand_code(const void *code);

#endif /* MIOS_TEAM_H */
