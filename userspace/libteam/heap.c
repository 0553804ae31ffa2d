// SPDX-License-Identifier: GPL-2.0
/*
 * malloc() and its like, for all processes of a team: what one allocates any
 * other may use and free.  Blocks have sizes of classes, four to each power of
 * two.  Every process takes chunks of the window and has lists of free blocks
 * of its own, so they seldom meet; a block goes back to the list that it came
 * from, whoever frees it, so that one who makes what another one frees has it
 * again; a very large one goes without its memory.  What is asked for before there is a
 * window is private memory, and never used again; unless the user shares only
 * what is static or asked for as shared, when all of malloc() is.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inside.h"

#define CLASSES		168		/* up to 2^47 */
#define CHUNK		(256ul << 10)
#define LARGE		(64ul << 10)	/* from here on not out of a chunk */
#define PAGE		4096ul
#define GIVEN_BACK	(32ul << 20)	/* from here on free() keeps no pages, as libc's */
#define MAGIC		0x6d616c6cu
#define CLEARED		0x7a65726fu	/* of a free block: behind its head are zeroes */

/* Before each block; @shift bytes before it the block of its class begins. */
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
	struct block *free[CLASSES];
} __attribute__((aligned(128)));

struct heap {
	_Atomic uint64_t next;		/* offset of what nobody has had yet */
	uint64_t end;
	uint32_t places;
	struct arena arenas[];
};

static char *window;
static uint32_t own_place;
static struct heap *heap;		/* NULL: no window yet */
static struct arena early;		/* until then: private */
static struct arena *mine = &early;	/* of malloc() */
static struct arena *common = &early;	/* of what has to be shared */

static size_t class_size(unsigned int class)
{
	if (class < 2)
		return 32 + 16 * class;
	return (4ul + (class - 2) % 4) << (4 + (class - 2) / 4);
}

/* The smallest that holds @size bytes; CLASSES if there is none. */
static unsigned int class_of(size_t size)
{
	unsigned int bit;
	size_t last;

	if (size <= 64)
		return size <= 32 ? 0 : size <= 48 ? 1 : 2;
	if (size > 1ul << 46)
		return CLASSES;
	last = size - 1;
	bit = 63 - __builtin_clzl(last);
	return 2 + (bit - 6) * 4 + (last >> (bit - 2)) - 3;
}

static char *take_early(size_t size)
{
	void *p = kernel_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			      MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Whole pages that nobody has had yet: they are zero. */
static char *take_pages(const struct arena *a, size_t size)
{
	uint64_t at;

	size = (size + PAGE - 1) & ~(PAGE - 1);
	if (a == &early)
		return take_early(size);
	at = atomic_load(&heap->next);
	do {
		if (size > heap->end - at)
			return NULL;
	} while (!atomic_compare_exchange_weak(&heap->next, &at, at + size));
	return window + at;
}

static struct block *take_new(struct arena *a, size_t size)
{
	char *p;

	if (size >= LARGE)
		return (struct block *)take_pages(a, size);
	if (size > a->end - a->next) {
		p = take_pages(a, CHUNK);
		if (!p)
			return NULL;
		a->next = p;
		a->end = p + CHUNK;
	}
	p = a->next;
	a->next += size;
	return (struct block *)p;
}

/* @fresh: it is zero. */
static void *allocate(struct arena *a, size_t size, bool *fresh)
{
	unsigned int class;
	struct block *b;

	class = size > PTRDIFF_MAX ? CLASSES :
		class_of(size + sizeof(struct head));
	if (class >= CLASSES) {
		errno = ENOMEM;
		return NULL;
	}
	word_lock(&a->lock);
	b = a->free[class];
	*fresh = !b || b->head.magic == CLEARED;
	if (b) {
		a->free[class] = b->next;
		b->next = NULL;
	} else {
		b = take_new(a, class_size(class));
	}
	word_unlock(&a->lock);
	if (!b) {
		errno = ENOMEM;
		return NULL;
	}
	b->head = (struct head){ MAGIC, class, own_place, 0 };
	return &b->head + 1;
}

static struct head *head_of(void *p)
{
	struct head *h = (struct head *)p - 1;

	if (h->magic != MAGIC || h->class >= CLASSES)
		omp_die("%p is freed, but was never allocated, or is "
			"overwritten", p);
	return h;
}

static size_t usable(const struct head *h)
{
	return class_size(h->class) - sizeof(*h) - h->shift;
}

void *malloc(size_t size)
{
	bool fresh;

	return allocate(mine, size, &fresh);
}

/* Of the window, whatever malloc() is. */
void *mios_omp_alloc(size_t size)
{
	bool fresh;

	return allocate(common, size, &fresh);
}

void *mios_omp_zalloc(size_t size)
{
	bool fresh;
	void *p = allocate(common, size, &fresh);

	if (p && !fresh)
		memset(p, 0, size);
	return p;
}

/* Where it goes back to; NULL: nowhere. */
static struct arena *arena_of(const void *p)
{
	uint64_t at = (uint64_t)p - (uint64_t)window;

	if (heap && at < heap->end)
		return common;
	return mine == &early ? mine : NULL;
}

/*
 * The pages of a very large block go back to the pool, but for the first one.  Not
 * where it is private, as in a child, or may not be written: then they stay.
 */
static uint32_t clear(struct block *b, size_t size)
{
	int before = errno, err = -1;

	if (size >= GIVEN_BACK)
		err = syscall(SYS_madvise, (char *)b + PAGE, size - PAGE,
			      MADV_REMOVE);
	errno = before;
	if (err)
		return 0;
	memset(b, 0, PAGE);
	return CLEARED;
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

void free(void *p)
{
	struct arena *a = arena_of(p);
	struct block *b;
	struct head *h;
	unsigned int class;

	if (!p || !heap || !a)
		return;
	h = head_of(p);
	a = home_of(h, a);
	class = h->class;
	b = (struct block *)((char *)h - h->shift);
	h->magic = 0;
	b->head.magic = clear(b, class_size(class));
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
	bool fresh;
	void *p;

	if (__builtin_mul_overflow(n, each, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	p = allocate(mine, size, &fresh);
	if (p && !fresh)
		memset(p, 0, size);
	return p;
}

void *realloc(void *p, size_t size)
{
	struct arena *a = arena_of(p);
	bool fresh;
	size_t old;
	void *q;

	if (!p)
		return malloc(size);
	if (!size) {
		free(p);
		return NULL;
	}
	old = usable(head_of(p));
	if (size <= old && size >= old / 2)
		return p;
	q = allocate(a ? a : mine, size, &fresh);
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
	bool fresh;
	void *p;

	if (align <= sizeof(*h))
		return allocate(a, size, &fresh);
	if (align & (align - 1) || align > 1ul << 30 ||
	    size > PTRDIFF_MAX - align) {
		errno = align & (align - 1) ? EINVAL : ENOMEM;
		return NULL;
	}
	p = allocate(a, size + align, &fresh);
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

	h->end = end;
	h->places = places;
	atomic_store(&h->next, at + ((size + PAGE - 1) & ~(PAGE - 1)));
}

void heap_attach(void *w, uint64_t at, uint32_t place)
{
	window = w;
	heap = heap_at(w, at);
	own_place = place;
	common = &heap->arenas[place];
	mine = common;
}

/* But for what malloc() gives. */
void heap_keep_private(void)
{
	mine = &early;
}

/* In a child, whose window is private: ours may be at work in another thread. */
void heap_separate(void)
{
	static struct arena own;

	if (mine == common)
		mine = &own;
	common = &own;
}
