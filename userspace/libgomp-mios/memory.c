// SPDX-License-Identifier: GPL-2.0
/*
 * omp_alloc() and its like: all memory is the team's heap, whatever the
 * allocator; of one that the program has made only the alignment counts.
 */
#include <malloc.h>
#include <stdlib.h>
#include <strings.h>

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

static void *take(size_t align, size_t size, uintptr_t handle)
{
	if (!handle)
		handle = icvs()->allocator;
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
	bool plain = p && to <= PREDEFINED && icvs()->allocator <= PREDEFINED;
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
	icvs()->allocator = allocator ? allocator : 1;
}

uintptr_t omp_get_default_allocator(void)
{
	return icvs()->allocator;
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
