// SPDX-License-Identifier: GPL-2.0
/*
 * malloc() and its like, for all processes of a team: what one allocates any
 * other may use and free.  Small blocks have sizes of classes, four to each power
 * of two.  Every process takes chunks of the window and has lists of free blocks
 * of its own, so they seldom meet; a block goes back to the list that it came
 * from, whoever frees it, so that one who makes what another one frees has it
 * again.  A large block is a run (runs.c): what is free of these is one thing for
 * all processes and sizes, but for a stock of short ones that each process has.
 * What is asked for before there is a window is private memory, and never used again;
 * unless the user shares only what is static or asked for as shared, when all of
 * malloc() is.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "classes.h"
#include "inside.h"

#define RUN		CLASSES		/* of none: it is a run */
#define UNIT		(1ul << RUNS_SHIFT)
#define CHUNK		(4 * UNIT)
#define LARGE		UNIT		/* from here on not out of a chunk */
#define LARGE_CLASS	(2 + 4 * (RUNS_SHIFT - 6))	/* class_of(LARGE) */
#define PAGE		4096ul
#define MAGIC		0x6d616c6cu
#define EARLY		UINT16_MAX	/* of no process: from before the window */

/* Before each block; @shift bytes before it the block of its class, or run, begins. */
struct head {
	uint32_t magic;
	uint16_t class, place;		/* whose it is, of the window's */
	uint64_t shift;
};

struct block {
	struct head head;
	struct block *next;		/* while it is free */
};

/* Of a process, in the window. */
struct arena {
	_Atomic uint32_t lock;
	char *next, *end;		/* of the present chunk */
	bool zero;			/* what is left of it is */
	struct block *free[CLASSES];
	struct runs_stock stock;
} __attribute__((aligned(128)));

struct heap {
	uint64_t runs_at, memory_at, end;	/* offsets in the window */
	uint32_t places;
	struct arena arenas[];
};

static char *window;
static uint32_t own_place;
static struct heap *heap;		/* NULL: no window yet */
static struct runs *runs;		/* of it */
static char *memory;			/* theirs */
static bool separate;			/* a child, whose memory is its own */
static struct arena early;		/* until then: private */
static struct arena apart;		/* private from then on */
static struct arena *mine = &early;	/* of malloc() */
static struct arena *common = &early;	/* of what has to be shared */

static char *take_early(size_t size)
{
	void *p = kernel_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			      MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool is_private(const struct arena *a)
{
	return a == &early || a == &apart;
}

/* In the window, by all processes' rules. */
static bool is_common(const struct arena *a)
{
	return heap && !separate && !is_private(a);
}

static char *run_at(int64_t at)
{
	return at < 0 ? NULL : memory + ((uint64_t)at << RUNS_SHIFT);
}

/* @zero: it is. */
static char *take_run(size_t size, bool *zero)
{
	size_t count = (size + UNIT - 1) >> RUNS_SHIFT;

	return run_at(count > INT32_MAX ? -1 :
		      runs_take(runs, memory, count, own_place, zero));
}

/* Of what this process had, or of all. */
static struct block *take_large(struct arena *a, size_t size, bool *zero)
{
	char *p = run_at(runs_stock_take(runs, &a->stock,
					 (size + UNIT - 1) >> RUNS_SHIFT));

	*zero = false;
	return (struct block *)(p ? p : take_run(size, zero));
}

/* There is nothing left but in stocks. */
static bool empty_stocks(void)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < heap->places; i++)
		any |= runs_stock_empty(runs, memory, &heap->arenas[i].stock);
	return any;
}

/* Of a chunk; what is left of the last one is lost. */
static struct block *take_new(struct arena *a, size_t size, bool *zero)
{
	size_t chunk = size < CHUNK ? CHUNK : size;
	char *p;

	if (size > (size_t)(a->end - a->next)) {
		a->zero = true;
		p = is_common(a) ? take_run(chunk, &a->zero) : take_early(chunk);
		if (!p)
			return NULL;
		a->next = p;
		a->end = p + chunk;
	}
	p = a->next;
	a->next += size;
	*zero = a->zero;
	return (struct block *)p;
}

static struct block *take_class(struct arena *a, unsigned int class, bool *zero)
{
	struct block *b;

	word_lock(&a->lock);
	b = a->free[class];
	*zero = false;
	if (b)
		a->free[class] = b->next;
	else
		b = take_new(a, class_size(class), zero);
	word_unlock(&a->lock);
	return b;
}

/* @zero: it is. */
static void *allocate(struct arena *a, size_t size, bool *zero)
{
	unsigned int class, tries = 0;
	struct block *b = NULL;
	bool run;

	class = size > PTRDIFF_MAX ? CLASSES :
		class_of(size + sizeof(struct head));
	run = class >= LARGE_CLASS && class < CLASSES && is_common(a);
	do {
		if (run)
			b = take_large(a, size + sizeof(struct head), zero);
		else if (class < CLASSES)
			b = take_class(a, class, zero);
	} while (!b && !tries++ && is_common(a) && empty_stocks());
	if (!b) {
		errno = ENOMEM;
		return NULL;
	}
	b->head = (struct head){ MAGIC, run ? RUN : class,
				 a == &early ? EARLY : own_place, 0 };
	return &b->head + 1;
}

static char *block_of(struct head *h)
{
	return (char *)h - h->shift;
}

/* How long the run is that @h says it begins, in units; 0: none does. */
static uint32_t units_of(struct head *h)
{
	uint64_t at = block_of(h) - memory;

	return heap && !(at & (UNIT - 1)) ? runs_count(runs, at >> RUNS_SHIFT) : 0;
}

static struct head *head_of(void *p)
{
	struct head *h = (struct head *)p - 1;

	if (h->magic != MAGIC || h->class > RUN ||
	    (h->class == RUN && !units_of(h)))
		omp_die("%p is freed, but was never allocated, or is "
			"overwritten", p);
	return h;
}

static size_t usable(struct head *h)
{
	size_t size = h->class == RUN ? units_of(h) * UNIT : class_size(h->class);

	return size - sizeof(*h) - h->shift;
}

void *malloc(size_t size)
{
	bool zero;

	return allocate(mine, size, &zero);
}

/* Of the window, whatever malloc() is. */
void *mios_omp_alloc(size_t size)
{
	bool zero;

	return allocate(common, size, &zero);
}

static void *allocate_zero(struct arena *a, size_t size)
{
	bool zero;
	void *p = allocate(a, size, &zero);

	if (p && !zero)
		memset(p, 0, size);
	return p;
}

void *mios_omp_zalloc(size_t size)
{
	return allocate_zero(common, size);
}

/* Where it goes back to; NULL: nowhere. */
static struct arena *arena_of(const void *p)
{
	uint64_t at = (uint64_t)p - (uint64_t)window;

	if (separate || (heap && at < heap->end))
		return common;
	return is_private(mine) ? mine : NULL;
}

/* A child has all that it frees: it has left its team. */
static struct arena *home_of(const struct head *h, struct arena *a)
{
	if (a != &heap->arenas[own_place])
		return a;
	if (h->place >= heap->places)
		omp_die("%p is freed, but its head is overwritten", h + 1);
	return &heap->arenas[h->place];
}

/* A child loses it: what is free is its parent's. */
static void free_run(struct block *b, struct arena *home)
{
	uint64_t at = (uint64_t)((char *)b - memory) >> RUNS_SHIFT;

	if (!separate && !runs_stock_put(runs, &home->stock, at))
		runs_give(runs, memory, at, 0);
}

void free(void *p)
{
	struct arena *a = arena_of(p);
	struct block *b;
	struct head *h;
	unsigned int class;

	if (!p || !heap || !a)
		return;
	h = head_of(p);
	if (h->place == EARLY && a == &apart)
		return;
	class = h->class;
	b = (struct block *)block_of(h);
	h->magic = 0;
	b->head.magic = 0;
	a = home_of(h, a);
	if (class == RUN) {
		free_run(b, a);
		return;
	}
	word_lock(&a->lock);
	b->next = a->free[class];
	a->free[class] = b;
	word_unlock(&a->lock);
}

/* The same, whatever the program's free() is. */
void mios_omp_free(void *p) __attribute__((alias("free"), copy(free)));

void *calloc(size_t n, size_t each)
{
	size_t size;

	if (__builtin_mul_overflow(n, each, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate_zero(mine, size);
}

/* Where it is; false: it cannot be so long there, or is better elsewhere. */
static bool resize_run(struct head *h, size_t size)
{
	uint64_t at = (uint64_t)(block_of(h) - memory) >> RUNS_SHIFT;
	uint32_t had = units_of(h);
	size_t count;

	if (separate || size < LARGE || size > PTRDIFF_MAX / 2)
		return false;
	count = (size + sizeof(*h) + h->shift + UNIT - 1) >> RUNS_SHIFT;
	if (count > INT32_MAX)
		return false;
	if (count > had)
		return runs_grow(runs, memory, at, count, own_place);
	if (count < had)
		runs_give(runs, memory, at, count);
	return true;
}

void *realloc(void *p, size_t size)
{
	struct arena *a = arena_of(p);
	struct head *h;
	size_t old;
	bool zero;
	void *q;

	if (!p)
		return malloc(size);
	if (!size) {
		free(p);
		return NULL;
	}
	h = head_of(p);
	old = usable(h);
	if (h->class == RUN ? resize_run(h, size) : size <= old && size >= old / 2)
		return p;
	q = allocate(a ? a : mine, size, &zero);
	if (!q)
		return NULL;
	memcpy(q, p, old < size ? old : size);
	free(p);
	return q;
}

static void *aligned(struct arena *a, size_t align, size_t size)
{
	struct head *h, *moved;
	uintptr_t at;
	bool zero;
	void *p;

	if (align <= sizeof(*h))
		return allocate(a, size, &zero);
	if (align & (align - 1) || align > 1ul << 30 ||
	    size > PTRDIFF_MAX - align) {
		errno = align & (align - 1) ? EINVAL : ENOMEM;
		return NULL;
	}
	p = allocate(a, size + align, &zero);
	at = ((uintptr_t)p + align - 1) & ~(align - 1);
	if (!p || at == (uintptr_t)p)
		return p;
	h = (struct head *)p - 1;
	moved = (struct head *)at - 1;
	*moved = *h;
	moved->shift = (char *)moved - (char *)h;
	return (void *)at;
}

void *memalign(size_t align, size_t size)
{
	return aligned(mine, align, size);
}

void *mios_omp_memalign(size_t align, size_t size)
{
	return aligned(common, align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	int before = errno, err = 0;
	void *p;

	if (!align || align % sizeof(void *) || align & (align - 1)) {
		err = EINVAL;
	} else {
		p = memalign(align, size);
		if (p)
			*out = p;
		else
			err = ENOMEM;
	}
	errno = before;
	return err;
}

void *valloc(size_t size)
{
	return memalign(PAGE, size);
}

void *pvalloc(size_t size)
{
	return memalign(PAGE, (size + PAGE - 1) & ~(PAGE - 1));
}

size_t malloc_usable_size(void *p)
{
	return p ? usable(head_of(p)) : 0;
}

static struct heap *heap_at(void *w, uint64_t at)
{
	return (struct heap *)((char *)w + at);
}

void heap_create(void *w, uint64_t at, uint64_t end, uint32_t places)
{
	struct heap *h = heap_at(w, at);
	size_t size = sizeof(*h) + places * sizeof(h->arenas[0]);
	uint32_t units;

	h->end = end;
	h->places = places;
	h->runs_at = at + ((size + PAGE - 1) & ~(PAGE - 1));
	units = (end - h->runs_at) >> RUNS_SHIFT;
	h->memory_at = (h->runs_at + runs_size(units) + PAGE - 1) & ~(PAGE - 1);
	units = end > h->memory_at ? (end - h->memory_at) >> RUNS_SHIFT : 0;
	runs_create((struct runs *)((char *)w + h->runs_at), units);
}

void heap_attach(void *w, uint64_t at, uint32_t place)
{
	window = w;
	heap = heap_at(w, at);
	runs = (struct runs *)(window + heap->runs_at);
	memory = window + heap->memory_at;
	own_place = place;
	common = &heap->arenas[place];
	mine = common;
}

/* But for what malloc() gives. */
void heap_keep_private(void)
{
	mine = &early;
}

/*
 * Addresses of what is private are each process's own from now on.  Others may have
 * something where there are early blocks: none of these is given again.
 */
void heap_keep_apart(void)
{
	if (mine == &early)
		mine = &apart;
}

/*
 * In a child: others may be at work on what all have, and it sees some of that.  Its
 * memory comes from the kernel.
 */
void heap_separate(void)
{
	static struct arena own;

	if (mine == common)
		mine = &own;
	common = &own;
	separate = true;
}
