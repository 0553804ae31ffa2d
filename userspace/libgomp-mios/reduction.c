// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions by tasks: each member has copies of the variables of its own, and a
 * task finds those of the member that runs it.  The compiler makes a record of
 * the variables, lets us add the memory, and sums up by itself.
 */
#include <stdlib.h>

#include "gomp.h"

/* Words of a record; then, for each variable, address, offset, and one of ours. */
enum {
	COUNT,
	EACH,		/* bytes for a member */
	AT,		/* the alignment that is wanted, then where they are */
	ALLOCATOR,
	NEXT,		/* record of the same construct, then of an outer one */
	IS_FIRST,	/* of its construct */
	END,
	VARIABLES,
	WORDS = 3,
};

static void *allocate(size_t align, size_t size)
{
	void *p = mios_omp_memalign(align, size);

	if (!p)
		omp_die("no memory left in the window for a reduction");
	return memset(p, 0, size);
}

/* @first: the record of the member that came first, whose memory it shall be. */
void reductions_make(uintptr_t *record, const uintptr_t *first,
		     uintptr_t *outer, uint32_t members)
{
	uintptr_t *r;

	for (r = record;; r = (uintptr_t *)r[NEXT]) {
		if (first) {
			r[AT] = first[AT];
			first = (uintptr_t *)first[NEXT];
		} else {
			r[AT] = (uintptr_t)allocate(r[AT], r[EACH] * members);
		}
		r[END] = r[AT] + r[EACH] * members;
		r[IS_FIRST] = r == record;
		if (!r[NEXT])
			break;
	}
	r[NEXT] = (uintptr_t)outer;
}

void reductions_add(uintptr_t *record, const uintptr_t *first)
{
	struct context *c = context();
	struct group *group = c->task->group;

	reductions_make(record, first, group->reductions, c->size);
	group->reductions = record;
}

/* The compiled code looks there whether it has to add anything up. */
void reductions_none(uintptr_t *record)
{
	record[AT] = 0;
}

void GOMP_taskgroup_reduction_register(uintptr_t *record)
{
	reductions_add(record, NULL);
}

void GOMP_taskgroup_reduction_unregister(uintptr_t *record)
{
	do {
		free((void *)record[AT]);
		record = (uintptr_t *)record[NEXT];
	} while (record && !record[IS_FIRST]);
}

/* A variable by its own address, or by that of somebody's copy. */
static uintptr_t *find(uintptr_t *record, uintptr_t p, uintptr_t *offset)
{
	uintptr_t *r, *v;

	for (r = record; r; r = (uintptr_t *)r[NEXT])
		for (v = r + VARIABLES; v < r + VARIABLES + r[COUNT] * WORDS;
		     v += WORDS)
			if (v[0] == p) {
				*offset = v[1];
				return r;
			}
	for (r = record; r; r = (uintptr_t *)r[NEXT])
		if (p >= r[AT] && p < r[END]) {
			*offset = (p - r[AT]) % r[EACH];
			return r;
		}
	omp_die("a task of a reduction is outside of it");
}

static void *original(const uintptr_t *r, uintptr_t offset)
{
	const uintptr_t *v;

	for (v = r + VARIABLES; v < r + VARIABLES + r[COUNT] * WORDS;
	     v += WORDS)
		if (v[1] == offset)
			return (void *)v[0];
	omp_die("a task of a reduction is outside of it");
}

/* Addresses become those of our copies; of the first, the original's follow. */
void GOMP_task_reduction_remap(size_t n, size_t originals, void **pointers)
{
	struct context *c = context();
	struct group *group = c->task->group;
	uintptr_t offset, *r;
	size_t i;

	for (i = 0; i < n; i++) {
		r = find(group ? group->reductions : NULL,
			 (uintptr_t)pointers[i], &offset);
		pointers[i] = (char *)r[AT] + c->number * r[EACH] + offset;
		if (i < originals)
			pointers[n + i] = original(r, offset);
	}
}
