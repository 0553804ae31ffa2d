// SPDX-License-Identifier: GPL-2.0
/*
 * omp_alloc() and its like: all memory is the team's heap, whatever the allocator.
 * Of one that the program has made its alignment counts, how much it may give, and
 * what is done when that is used up.
 */
#include <malloc.h>
#include <stdlib.h>
#include <strings.h>

#include "gomp.h"

#define PREDEFINED	8		/* handles up to here are no pointers */
#define DEFAULT		1

#define MAGIC		0x6f6d70616c6c6f63ull
#define STEPS		64		/* from one allocator to its fallback */
#define UNSAID		UINTPTR_MAX	/* omp_atv_default */
#define PINNED_YES	1		/* omp_atv_true */

/* Traits, as omp.h has them; then what a fallback may be. */
#define ALIGNMENT	2
#define POOL_SIZE	4
#define FALLBACK	5
#define FALLBACK_DATA	6
#define PINNED		7

#define FALLBACK_DEFAULT	11
#define FALLBACK_NULL		12
#define FALLBACK_ABORT		13
#define FALLBACK_ALLOCATOR	14

struct allocator {
	size_t align, most;
	atomic_size_t given;		/* of the pool */
	uintptr_t fallback, other;
};

struct trait {
	int key;
	uintptr_t value;
};

/* At the end of each block: what has to be given back, and to whom. */
struct trailer {
	uint64_t magic;
	struct allocator *from;		/* NULL: nobody counts it */
	size_t size;
};

/* The first is 1; all are the team's heap. */
static const char * const names[] = {
	"omp_default_mem_alloc", "omp_large_cap_mem_alloc",
	"omp_const_mem_alloc", "omp_high_bw_mem_alloc",
	"omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",
	"omp_pteam_mem_alloc", "omp_thread_mem_alloc",
};

static_assert(sizeof(names) / sizeof(names[0]) == PREDEFINED, "handles");

/* 0: there is none of that name. */
uintptr_t allocator_of(const char *name)
{
	uintptr_t i;

	for (i = 0; i < PREDEFINED; i++)
		if (!strcasecmp(name, names[i]))
			return i + 1;
	return 0;
}

const char *allocator_name(uintptr_t handle)
{
	return handle - 1 < PREDEFINED ? names[handle - 1] : "of the program";
}

static struct trailer *trailer_of(void *p)
{
	char *end = (char *)p + malloc_usable_size(p);

	return (struct trailer *)((uintptr_t)end & -sizeof(void *)) - 1;
}

static struct trailer read_trailer(void *p)
{
	struct trailer t = *trailer_of(p);

	if (t.magic != MAGIC)
		omp_die("%p is freed by omp_free(), but was not allocated so, or is "
			"overwritten", p);
	return t;
}

static bool count(struct allocator *a, size_t size)
{
	size_t given = atomic_load(&a->given);

	do {
		if (given > a->most || size > a->most - given)
			return false;
	} while (!atomic_compare_exchange_weak(&a->given, &given, given + size));
	return true;
}

static void *take_from(struct allocator *a, size_t align, size_t size)
{
	size_t room = size + 2 * sizeof(struct trailer);
	void *p;

	if (room < size || (a && !count(a, size)))
		return NULL;
	p = mios_omp_memalign(align, room);
	if (p)
		*trailer_of(p) = (struct trailer){ MAGIC, a, size };
	else if (a)
		atomic_fetch_sub(&a->given, size);
	return p;
}

static void *take(size_t align, size_t size, uintptr_t handle)
{
	struct allocator *a;
	int steps = 0;
	void *p;

	if (!handle)
		handle = icvs()->allocator;
	while (size && handle > PREDEFINED && steps++ < STEPS) {
		a = (struct allocator *)handle;
		if (a->align > align)
			align = a->align;
		p = take_from(a, align, size);
		if (p || a->fallback == FALLBACK_NULL)
			return p;
		if (a->fallback == FALLBACK_ABORT)
			omp_die("an allocator whose fallback is abort_fb has no %zu "
				"bytes left", size);
		handle = a->fallback == FALLBACK_ALLOCATOR ? a->other : DEFAULT;
	}
	return size ? take_from(NULL, align, size) : NULL;
}

void *omp_alloc(size_t size, uintptr_t allocator)
{
	return take(1, size, allocator);
}

void *omp_aligned_alloc(size_t align, size_t size, uintptr_t allocator)
{
	return take(align, size, allocator);
}

void *omp_aligned_calloc(size_t align, size_t n, size_t each,
			 uintptr_t allocator)
{
	size_t size;
	void *p;

	if (__builtin_mul_overflow(n, each, &size))
		return NULL;
	p = take(align, size, allocator);
	return p ? memset(p, 0, size) : NULL;
}

void *omp_calloc(size_t n, size_t each, uintptr_t allocator)
{
	return omp_aligned_calloc(1, n, each, allocator);
}

void omp_free(void *p, uintptr_t allocator)
{
	struct trailer t;

	if (!p)
		return;
	t = read_trailer(p);
	if (t.from)
		atomic_fetch_sub(&t.from->given, t.size);
	free(p);
}

/* Where it lies may stay only if nobody counts it, or wants another alignment. */
void *omp_realloc(void *p, size_t size, uintptr_t to, uintptr_t from)
{
	struct trailer old = p ? read_trailer(p) : (struct trailer){ 0 };
	size_t room = size + 2 * sizeof(old);
	void *q;

	if (room < size)
		return NULL;

	if (!to)
		to = icvs()->allocator;
	if (p && size && !old.from && to <= PREDEFINED) {
		q = realloc(p, room);
		if (q)
			*trailer_of(q) = (struct trailer){ MAGIC, NULL, size };
		return q;
	}
	/* The new one may take it; count() stands it if others do. */
	if (old.from)
		atomic_fetch_sub(&old.from->given, old.size);
	q = take(1, size, to);
	if (q && p)
		memcpy(q, p, old.size < size ? old.size : size);
	if (q || !size)
		free(p);
	else if (old.from)
		atomic_fetch_add(&old.from->given, old.size);
	return q;
}

/* The compiler's own, which looks at nothing. */
void *GOMP_alloc(size_t align, size_t size, uintptr_t allocator)
{
	void *p = take(align, size, allocator);

	if (size && !p)
		omp_die("an allocator has no %zu bytes left", size);
	return p;
}

void GOMP_free(void *p, uintptr_t allocator)
{
	omp_free(p, allocator);
}

/* Of gcc 14, for Fortran: has p to be freed by GOMP_free()?  Either does. */
void GOMP_add_alloc(void *p)
{
}

bool GOMP_is_alloc(void *p)
{
	return false;
}

void omp_set_default_allocator(uintptr_t allocator)
{
	icvs()->allocator = allocator ? allocator : DEFAULT;
}

uintptr_t omp_get_default_allocator(void)
{
	return icvs()->allocator;
}

/* False: there is no such allocator. */
static bool read_trait(struct allocator *a, const struct trait *trait)
{
	uintptr_t value = trait->value;

	switch (trait->key) {
	case ALIGNMENT:
		a->align = value == UNSAID ? 1 : value;
		return a->align && !(a->align & (a->align - 1));
	case POOL_SIZE:
		a->most = value;	/* UNSAID is the most there is */
		return true;
	case FALLBACK:
		a->fallback = value == UNSAID ? FALLBACK_DEFAULT : value;
		return a->fallback >= FALLBACK_DEFAULT && a->fallback <= FALLBACK_ALLOCATOR;
	case FALLBACK_DATA:
		a->other = value;
		return true;
	case PINNED:
		return value != PINNED_YES;
	}
	return true;
}

uintptr_t omp_init_allocator(uintptr_t space, int n, const struct trait *traits)
{
	struct allocator *a = mios_omp_alloc(sizeof(*a));
	int i;

	if (!a)
		return 0;
	*a = (struct allocator){ .align = 1, .most = SIZE_MAX,
				 .fallback = FALLBACK_DEFAULT };
	for (i = 0; i < n; i++) {
		if (!read_trait(a, &traits[i])) {
			free(a);
			return 0;
		}
	}
	return (uintptr_t)a;
}

void omp_destroy_allocator(uintptr_t allocator)
{
	if (allocator > PREDEFINED)
		free((void *)allocator);
}

/* Fortran's */

uintptr_t omp_init_allocator_(const uintptr_t *space, const int32_t *n,
			      const struct trait *traits)
{
	return omp_init_allocator(*space, *n, traits);
}

uintptr_t omp_init_allocator_8_(const uintptr_t *space, const int64_t *n,
				const struct trait *traits)
{
	return omp_init_allocator(*space, *n, traits);
}

void omp_destroy_allocator_(const uintptr_t *allocator)
{
	omp_destroy_allocator(*allocator);
}

void omp_set_default_allocator_(const uintptr_t *allocator)
{
	omp_set_default_allocator(*allocator);
}

uintptr_t omp_get_default_allocator_(void)
{
	return omp_get_default_allocator();
}
