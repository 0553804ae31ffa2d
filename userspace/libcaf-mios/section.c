// SPDX-License-Identifier: GPL-2.0
/*
 * Sections of arrays, on this image or another one, and copies between them:
 * both are memory.  Copies go in pieces as long as both sides are contiguous.
 */
#include <stdlib.h>

#include "caf.h"

void section_scalar(struct caf_section *s, void *at, size_t len, int type,
		    int kind)
{
	s->at = at;
	s->elem_len = len;
	s->type = type;
	s->kind = kind;
	s->rank = 0;
}

/* One more dimension; the fastest one comes first. */
void section_dim(struct caf_section *s, size_t count, ptrdiff_t step)
{
	if (s->rank == CAF_MAX_RANK)
		caf_die("an array of more than %d dimensions", CAF_MAX_RANK);
	s->count[s->rank] = count;
	s->done[s->rank] = 0;
	s->vector[s->rank].list = NULL;
	s->step[s->rank++] = step;
}

/* What the descriptor says, but at @at. */
void section_desc(struct caf_section *s, const struct caf_desc *desc,
		  void *at, int kind)
{
	const struct caf_dim *dim = desc->dim;
	ptrdiff_t count;

	section_scalar(s, at, desc->elem_len, desc->type, kind);
	for (; dim < desc->dim + desc->rank; dim++) {
		count = dim->upper - dim->lower + 1;
		section_dim(s, count > 0 ? count : 0, dim->stride * desc->span);
	}
}

static ptrdiff_t subscript(const struct caf_section *s, int dim, size_t i)
{
	int kind = s->vector[dim].kind;

	return integer_at((char *)s->vector[dim].list + i * kind, kind) -
	       s->vector[dim].lower;
}

static void vector_begin(struct caf_section *s, int dim)
{
	if (s->vector[dim].list && s->count[dim])
		s->at += subscript(s, dim, 0) * s->step[dim];
}

void section_vectors(struct caf_section *s, const struct caf_desc *desc,
		     const struct caf_vector *vectors)
{
	int i;

	for (i = 0; vectors && i < s->rank; i++) {
		if (!vectors[i].nvec)
			continue;
		s->count[i] = vectors[i].nvec;
		s->vector[i].list = vectors[i].u.v.list;
		s->vector[i].kind = vectors[i].u.v.kind;
		s->vector[i].lower = desc->dim[i].lower;
		vector_begin(s, i);
	}
}

size_t section_count(const struct caf_section *s)
{
	size_t n = 1;
	int i;

	for (i = 0; i < s->rank; i++)
		n *= s->count[i];
	return n;
}

/* To the next element; from the last one to the first. */
static void next_from(struct caf_section *s, int dim)
{
	size_t old, new;

	for (; dim < s->rank; dim++) {
		old = s->done[dim];
		new = old + 1 == s->count[dim] ? 0 : old + 1;
		s->done[dim] = new;
		if (s->vector[dim].list)
			s->at += (subscript(s, dim, new) -
				  subscript(s, dim, old)) * s->step[dim];
		else
			s->at += ((ptrdiff_t)new - (ptrdiff_t)old) *
				 s->step[dim];
		if (new)
			return;
	}
}

void section_next(struct caf_section *s)
{
	next_from(s, 0);
}

/* How many dimensions are contiguous in both, of how many bytes. */
static int contiguous(const struct caf_section *a, const struct caf_section *b,
		      size_t *bytes)
{
	int dim;

	*bytes = a->elem_len;
	for (dim = 0; dim < a->rank && dim < b->rank; dim++) {
		if (a->count[dim] != b->count[dim] || a->vector[dim].list ||
		    b->vector[dim].list || a->step[dim] != *bytes ||
		    b->step[dim] != *bytes)
			break;
		*bytes *= a->count[dim];
	}
	return dim;
}

static bool is_alike(const struct caf_section *a, const struct caf_section *b)
{
	return a->elem_len == b->elem_len && a->type == b->type &&
	       a->kind == b->kind;
}

static void copy_row(char *to, ptrdiff_t to_step, const char *from,
		     ptrdiff_t from_step, size_t n, size_t bytes)
{
	switch (bytes) {
	case 4:
		for (; n--; to += to_step, from += from_step)
			memcpy(to, from, 4);
		break;
	case 8:
		for (; n--; to += to_step, from += from_step)
			memcpy(to, from, 8);
		break;
	default:
		for (; n--; to += to_step, from += from_step)
			memmove(to, from, bytes);
	}
}

/* Along this dimension both go in steps; a scalar stays where it is. */
static bool is_row(const struct caf_section *to, const struct caf_section *from,
		   int dim)
{
	if (dim >= to->rank || to->vector[dim].list)
		return false;
	return !from->rank || (dim < from->rank && !from->vector[dim].list &&
			       from->count[dim] == to->count[dim]);
}

/* Of one type and kind: pieces, and rows of pieces, as long as may be. */
static void copy_alike(struct caf_section *to, struct caf_section *from)
{
	size_t bytes, n = section_count(to), row = 1, i;
	int dims = contiguous(to, from, &bytes);
	ptrdiff_t to_step = 0, from_step = 0;

	for (i = 0; i < dims; i++)
		n /= to->count[i];
	if (is_row(to, from, dims)) {
		row = to->count[dims];
		to_step = to->step[dims];
		from_step = from->rank ? from->step[dims] : 0;
		n /= row;
		dims++;
	}
	for (i = 0; i < n; i++) {
		copy_row(to->at, to_step, from->at, from_step, row, bytes);
		next_from(to, dims);
		next_from(from, dims);
	}
}

/* Elements in the order of each; a scalar goes everywhere. */
static void copy(struct caf_section *to, struct caf_section *from)
{
	size_t n = section_count(to), i;

	if (!n)
		return;
	if (from->rank && section_count(from) < n)
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "an array of %zu elements is assigned to one of %zu",
			  section_count(from), n);
	if (is_alike(to, from)) {
		copy_alike(to, from);
		return;
	}
	for (i = 0; i < n; i++) {
		convert(to->at, to, from->at, from);
		section_next(to);
		section_next(from);
	}
}

/* All of @from is read before anything is written. */
static void copy_apart(struct caf_section *to, struct caf_section *from)
{
	size_t n = section_count(from), i;
	struct caf_section packed;
	char *memory = malloc(n * from->elem_len);

	if (!memory)
		caf_die("no memory for a copy of %zu elements", n);
	section_scalar(&packed, memory, from->elem_len, from->type, from->kind);
	for (i = 0; i < from->rank; i++)
		section_dim(&packed, from->count[i], i ? packed.step[i - 1] *
			    packed.count[i - 1] : from->elem_len);
	copy(&packed, from);	/* back to its first element */
	copy(to, &packed);
	free(memory);
}

void section_copy(struct caf_section *to, struct caf_section *from,
		  bool overlaps)
{
	if (overlaps)
		copy_apart(to, from);
	else
		copy(to, from);
}
