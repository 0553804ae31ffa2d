// SPDX-License-Identifier: GPL-2.0
/*
 * References into coarrays of derived types: x[i]%a(2:5)%b(3).  Descriptors and
 * pointers on the way are those of the other image, which mean the same here.
 * What lies outside the window is private to it, and ends the program.
 */
#include <stdlib.h>

#include "caf.h"

/* Where one has come on the way. */
struct walk {
	struct caf_section s;
	struct caf_desc *desc;		/* of what is there, if it is an array */
	char **pointer;			/* to what is there; NULL: it is in place */
	struct caf_ref *last;		/* of the references */
};

struct bounds {
	ptrdiff_t lower, upper, step;	/* in bytes, of an element's place */
};

static const struct caf_report none;

static void check_shared(const void *p)
{
	if (!window_holds(p))
		caf_error(&none, 1, "a component of a coarray points to what "
			  "only that image has");
}

static void walk_component(struct walk *w, const struct caf_ref *ref)
{
	char *at = w->s.at + ref->u.c.offset;

	w->pointer = NULL;
	w->s.at = at;
	if (!ref->u.c.token_offset)
		return;
	check_shared(at);
	w->pointer = (char **)at;
	w->desc = (struct caf_desc *)at;
	w->s.at = *w->pointer;
}

static size_t items(ptrdiff_t first, ptrdiff_t last, ptrdiff_t stride)
{
	ptrdiff_t n;

	if (!stride)
		return 1;
	n = (last - first) / stride + 1;
	return (last - first) * (stride < 0 ? -1 : 1) < 0 ? 0 : n;
}

static void add_vector(struct walk *w, const union caf_ref_dim *dim,
		       const struct bounds *b)
{
	int n = w->s.rank;

	section_dim(&w->s, dim->v.nvec, b->step);
	w->s.vector[n].list = dim->v.list;
	w->s.vector[n].kind = dim->v.kind;
	w->s.vector[n].lower = b->lower;
	if (dim->v.nvec)
		w->s.at += (integer_at(dim->v.list, dim->v.kind) - b->lower) *
			   b->step;
}

/* The subscripts of one dimension. */
static void walk_dim(struct walk *w, int mode, const union caf_ref_dim *dim,
		     const struct bounds *b)
{
	ptrdiff_t first = b->lower, last = b->upper, stride = dim->s.stride;

	switch (mode) {
	case CAF_MODE_VECTOR:
		add_vector(w, dim, b);
		return;
	case CAF_MODE_SINGLE:
		w->s.at += (dim->s.start - b->lower) * b->step;
		return;
	case CAF_MODE_RANGE:
		first = dim->s.start;
		last = dim->s.end;
		break;
	case CAF_MODE_OPEN_END:
		first = dim->s.start;
		break;
	case CAF_MODE_OPEN_START:
		last = dim->s.end;
		break;
	}
	w->s.at += (first - b->lower) * b->step;
	section_dim(&w->s, items(first, last, stride), stride * b->step);
}

/* Static ones have subscripts from 0 that count elements of the whole. */
static void walk_array(struct walk *w, const struct caf_ref *ref)
{
	struct bounds b = { .step = ref->item_size };
	const union caf_ref_dim *dim = ref->u.a.dim;
	int i, mode;

	for (i = 0; i < CAF_MAX_RANK; i++) {
		mode = ref->u.a.mode[i];
		if (mode == CAF_MODE_NONE)
			return;
		if (ref->type == CAF_REF_STATIC_ARRAY) {
			b.upper = mode == CAF_MODE_FULL ? dim[i].s.end : 0;
		} else {
			b.lower = w->desc->dim[i].lower;
			b.upper = w->desc->dim[i].upper;
			b.step = w->desc->dim[i].stride * ref->item_size;
		}
		walk_dim(w, mode, &dim[i], &b);
	}
}

static void walk_begin(struct walk *w, void *token, uint32_t image)
{
	memset(w, 0, sizeof(*w));
	w->s.at = token_at(token, image, 0);
	w->desc = token_of(token)->desc;
}

/* All of them; false: something on the way is not allocated. */
static bool walk_all(struct walk *w, struct caf_ref *ref)
{
	for (; ref; ref = ref->next) {
		w->last = ref;
		if (ref->type == CAF_REF_COMPONENT) {
			if (!w->s.at)
				return false;
			walk_component(w, ref);
			continue;
		}
		if (!w->s.at)
			return false;
		if (ref->type == CAF_REF_ARRAY && !w->desc)
			caf_error(&none, 1, "a scalar coarray has subscripts");
		walk_array(w, ref);
	}
	return w->s.at;
}

/* What is there is of the type that the compiler says. */
static bool walk_to(struct walk *w, void *token, uint32_t image,
		    struct caf_ref *refs, int type, int kind)
{
	bool there;

	walk_begin(w, token, image);
	there = walk_all(w, refs);
	w->s.elem_len = w->last ? w->last->item_size : token_of(token)->size;
	w->s.type = type;
	w->s.kind = kind;
	if (there)
		check_shared(w->s.at);
	return there;
}

static bool has_shape(const struct caf_desc *desc, const struct caf_section *s)
{
	int i;

	if (desc->rank != s->rank)
		return false;
	for (i = 0; i < s->rank; i++)
		if (desc->dim[i].upper - desc->dim[i].lower + 1 !=
		    (ptrdiff_t)s->count[i])
			return false;
	return true;
}

/* An allocatable array becomes one of the shape of @s. */
static void allocate_as(struct caf_desc *desc, const struct caf_section *s,
			size_t elem_len)
{
	size_t n = 1;
	int i;

	desc->offset = 0;
	for (i = 0; i < s->rank; i++) {
		desc->dim[i] = (struct caf_dim){ n, 1, s->count[i] };
		desc->offset -= n;
		n *= s->count[i];
	}
	desc->span = elem_len;
	free(desc->base);
	desc->base = malloc(n * elem_len + 1);
	if (!desc->base)
		caf_die("no memory for %zu elements", n);
}

/* Ranges of one element count as subscripts where fewer dimensions are wanted. */
static void squeeze(struct caf_section *s, int rank)
{
	int i, n = 0;

	for (i = 0; i < s->rank; i++) {
		if (s->count[i] == 1 && s->rank - i + n > rank)
			continue;
		s->count[n] = s->count[i];
		s->step[n] = s->step[i];
		s->vector[n++] = s->vector[i];
	}
	s->rank = n;
}

static void not_there(int *stat)
{
	caf_error(&(struct caf_report){ .stat = stat }, 1,
		  "a component of a coarray is not allocated");
}

/* As in transfer.c: with stat= a failed image is told of. */
static bool is_dead(uint32_t image, int *stat)
{
	if (stat)
		*stat = image_state(image) == CAF_DEAD ? CAF_STAT_FAILED : 0;
	return stat && *stat;
}

void _gfortran_caf_get_by_ref(void *token, int index, struct caf_desc *to,
			      struct caf_ref *refs, int to_kind, int from_kind,
			      bool overlaps, bool may_allocate, int *stat,
			      int from_type)
{
	uint32_t image = team_image(caf_team, index);
	struct caf_section target;
	struct walk w;

	if (is_dead(image, stat))
		return;
	if (!walk_to(&w, token, image, refs, from_type, from_kind)) {
		not_there(stat);
		return;
	}
	squeeze(&w.s, to->rank);
	if (may_allocate && to->rank == w.s.rank &&
	    (!to->base || (to->rank && !has_shape(to, &w.s))))
		allocate_as(to, &w.s, to->elem_len);
	section_desc(&target, to, to->base, to_kind);
	section_copy(&target, &w.s, overlaps);
}

/* A whole component that an assignment may allocate, on the other image. */
static bool is_whole(const struct caf_ref *ref)
{
	int i;

	if (ref->type == CAF_REF_COMPONENT)
		return ref->u.c.token_offset;
	for (i = 0; i < CAF_MAX_RANK && ref->u.a.mode[i]; i++)
		if (ref->u.a.mode[i] != CAF_MODE_FULL ||
		    ref->u.a.dim[i].s.stride != 1)
			return false;
	return ref->type == CAF_REF_ARRAY;
}

static bool needs_memory(const struct walk *w, const struct caf_section *from)
{
	if (!w->pointer || !is_whole(w->last))
		return false;
	if (w->last->type == CAF_REF_COMPONENT)
		return !*w->pointer;
	return from->rank && (!*w->pointer || !has_shape(w->desc, from));
}

static void allocate_there(struct walk *w, const struct caf_section *from)
{
	if (w->last->type == CAF_REF_COMPONENT) {
		*w->pointer = malloc(w->s.elem_len);
		if (!*w->pointer)
			caf_die("no memory for a component");
	} else {
		w->desc->elem_len = w->s.elem_len;
		w->desc->rank = from->rank;
		w->desc->type = w->s.type;
		allocate_as(w->desc, from, w->s.elem_len);
	}
}

/* False, and it has been told: it is not there, and may not be. */
static bool walk_to_target(struct walk *w, void *token, uint32_t image,
			   struct caf_ref *refs, int type, int kind,
			   const struct caf_section *from, bool may_allocate,
			   int *stat)
{
	bool there = walk_to(w, token, image, refs, type, kind);

	if (may_allocate && needs_memory(w, from)) {
		allocate_there(w, from);
		there = walk_to(w, token, image, refs, type, kind);
	}
	if (!there)
		not_there(stat);
	return there;
}

void _gfortran_caf_send_by_ref(void *token, int index, struct caf_desc *from,
			       struct caf_ref *refs, int to_kind,
			       int from_kind, bool overlaps, bool may_allocate,
			       int *stat, int to_type)
{
	uint32_t image = team_image(caf_team, index);
	struct caf_section source;
	struct walk w;

	if (is_dead(image, stat))
		return;
	section_desc(&source, from, from->base, from_kind);
	if (walk_to_target(&w, token, image, refs, to_type, to_kind, &source,
			   may_allocate, stat))
		section_copy(&w.s, &source, overlaps);
}

void _gfortran_caf_sendget_by_ref(void *to_token, int to_index,
				  struct caf_ref *to_refs, void *from_token,
				  int from_index, struct caf_ref *from_refs,
				  int to_kind, int from_kind, bool overlaps,
				  int *to_stat, int *from_stat, int to_type,
				  int from_type)
{
	uint32_t to_image = team_image(caf_team, to_index);
	uint32_t from_image = team_image(caf_team, from_index);
	struct walk from, to;

	if (is_dead(to_image, to_stat) || is_dead(from_image, from_stat))
		return;
	if (!walk_to(&from, from_token, from_image, from_refs, from_type,
		     from_kind))
		not_there(from_stat);
	else if (walk_to_target(&to, to_token, to_image, to_refs, to_type,
				to_kind, &from.s, true, to_stat))
		section_copy(&to.s, &from.s, overlaps);
}

/* Is what the last reference names allocated? */
int _gfortran_caf_is_present(void *token, int index, struct caf_ref *refs)
{
	struct walk w;

	walk_begin(&w, token, team_image(caf_team, index));
	return walk_all(&w, refs);
}
