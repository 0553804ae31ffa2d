/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of the preloaded object, whose one header outside is team.h. */
#ifndef MIOS_TEAM_INSIDE_H
#define MIOS_TEAM_INSIDE_H

#include <linux/limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team.h"

/* mmap() itself may be ours: see space.c. */
static inline void *kernel_mmap(void *at, size_t size, int prot, int flags,
				int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

/* die.c APIs: */
_Noreturn void process_end(int status);
_Noreturn void window_end(const char *line, size_t length);

/* open.c APIs: */
void window_number(void);
void window_open(const char *path);

/* stacks.c APIs: */

/* From one to the next */
static inline uint64_t stacks_apart(const struct omp_window *w)
{
	return w->stack_gap + w->stack_size;
}

void stacks_prepare(void);
void stacks_keep_apart(void);
bool stacks_keep(const void *at, size_t size);
bool stacks_free(const void *at, size_t size);
void stack_for_signals(void);
pthread_t stack_thread(unsigned int member, void *(*fn)(void *));

/* layout.c APIs: */
void layout_write(struct omp_window *w);
void layout_compare(const struct omp_window *w);

/* data.c APIs: */
size_t data_size(void);
void data_share(struct omp_window *w);
bool data_holds(const void *p);
bool data_shared(const void *p);
int data_separate(int fd);
void data_each(void (*fn)(const char *name, unsigned long start,
			  unsigned long end));
char **arguments_share(char **argv);

/* random_numbers.c APIs: */
void numbers_create(struct omp_window *w);

/* results.c APIs: */
void results_create(struct omp_window *w);

/* proc_maps.c APIs: */

/* A line of /proc/self/maps. */
struct mapping {
	unsigned long start, end;
	char rights[5];			/* rwxp, or s */
	char name[PATH_MAX];
};

bool proc_maps_each(struct mapping *m, bool (*fn)(struct mapping *m, void *data),
		    void *data);
bool proc_maps_find(unsigned long at, struct mapping *m);

/* fork.c APIs: */
void fork_prepare(int fd, int least, void (*alone)(void));
size_t fork_gap(const void *frame);

/* dispositions.c APIs: */
void signals_watch(int number, void (*handler)(int, siginfo_t *, void *));
void signals_pass_on(const siginfo_t *info);

/* foreign.c APIs: */
void foreign_prepare(void);
void foreign_address(const void *p);

/* explain.c APIs: */
void explain_window(const struct omp_window *w);

/* runs.c APIs: */
#define RUNS_SHIFT	16		/* a unit is 64 KiB */
#define RUNS_STOCK_LONGEST	32	/* units: of a run in a stock */

struct runs;

struct runs_stock {
	_Atomic uint32_t lock;
	uint32_t units;				/* of all of them */
	uint32_t first[RUNS_STOCK_LONGEST + 1];	/* 1 + the first of so many units, or 0 */
};

size_t runs_size(uint32_t units);
void runs_create(struct runs *r, uint32_t units);
int64_t runs_take(struct runs *r, char *memory, uint32_t count, uint32_t place,
		  bool *zero);
bool runs_grow(struct runs *r, char *memory, uint32_t at, uint32_t count,
	       uint32_t place);
uint32_t runs_count(const struct runs *r, uint64_t at);
void runs_give(struct runs *r, char *memory, uint32_t at, uint32_t left);
int64_t runs_stock_take(struct runs *r, struct runs_stock *s, uint32_t count);
bool runs_stock_put(struct runs *r, struct runs_stock *s, uint32_t at);
bool runs_stock_empty(struct runs *r, char *memory, struct runs_stock *s);

/* heap.c APIs: */
void heap_keep_private(void);
void heap_keep_apart(void);
void heap_separate(void);

/* allocator.c APIs: */
void allocator_refuse(const char *library);
void allocator_demand(void);

/* repeat.c APIs: */
void *repeat_map(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void repeat_early(void);
void *repeat_shared(void *at, size_t size, int prot, int flags);
void repeat_unmap(void *at, size_t size);
int repeat_unmap_here(void *at, size_t size);
void *repeat_move(void *from, size_t old, size_t size, int flags, void *to);
void repeat_protect(void *at, size_t size, int prot);
int protect_everywhere(void *at, size_t size, int prot);

/* space.c APIs: */
void space_create(struct omp_window *w);
void space_attach(struct omp_window *w);
void space_separate(void);
void *space_private(size_t size);

#endif /* MIOS_TEAM_INSIDE_H */
