// SPDX-License-Identifier: GPL-2.0
/*
 * omp_alloc() and its like: all memory is the team's heap, whatever the
 * allocator; of one that the program has made only the alignment counts.
 */
#include <malloc.h>
#include <stdlib.h>

#include "gomp.h"

#define PREDEFINED	8		/* handles up to here are no pointers */
#define TRAIT_ALIGNMENT	2

struct allocator {
	size_t align;
};

struct trait {
	int key;
	uintptr_t value;
};

static uintptr_t default_allocator = 1;

static void *take(size_t align, size_t size, uintptr_t handle)
{
	if (!handle)
		handle = default_allocator;
	if (handle > PREDEFINED && ((struct allocator *)handle)->align > align)
		align = ((struct allocator *)handle)->align;
	return size ? mios_omp_memalign(align, size) : NULL;
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
	free(p);
}

/* Where it lies may have to change only for the sake of another alignment. */
void *omp_realloc(void *p, size_t size, uintptr_t to, uintptr_t from)
{
	bool plain = p && to <= PREDEFINED && default_allocator <= PREDEFINED;
	size_t old = p ? malloc_usable_size(p) : 0;
	void *q;

	if (plain)
		return realloc(p, size);
	q = take(1, size, to);
	if (q && p)
		memcpy(q, p, old < size ? old : size);
	if (q || !size)
		free(p);
	return q;
}

void *GOMP_alloc(size_t align, size_t size, uintptr_t allocator)
{
	return take(align, size, allocator);
}

void GOMP_free(void *p, uintptr_t allocator)
{
	free(p);
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
	default_allocator = allocator ? allocator : 1;
}

uintptr_t omp_get_default_allocator(void)
{
	return default_allocator;
}

uintptr_t omp_init_allocator(uintptr_t space, int n, const struct trait *traits)
{
	struct allocator *a = mios_omp_alloc(sizeof(*a));
	int i;

	if (!a)
		return 0;
	a->align = 1;
	for (i = 0; i < n; i++)
		if (traits[i].key == TRAIT_ALIGNMENT &&
		    !(traits[i].value & (traits[i].value - 1)))
			a->align = traits[i].value ? traits[i].value : 1;
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
