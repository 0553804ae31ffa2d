// SPDX-License-Identifier: GPL-2.0
/*
 * What reductions make of two numbers.  Those of 32 bits are computed as such of 64,
 * which gives the same lower half, or, of float, the same order.
 */
#include <math.h>

#include "coll.h"

static bool is_wide(enum glex_coll_reduce_data_bits bits)
{
	return bits == GLEX_COLL_REDUCE_DATA_BITS_64;
}

static uint64_t word_of(const union glex_coll_data_loc *n, bool wide)
{
	return wide ? n->uint64_s.data : n->uint32_s.data;
}

static int64_t signed_of(const union glex_coll_data_loc *n, bool wide)
{
	return wide ? n->int64_s.data : n->int32_s.data;
}

static double float_of(const union glex_coll_data_loc *n, bool wide)
{
	return wide ? n->double_s.data : n->float_s.data;
}

static uint32_t location_of(const union glex_coll_data_loc *n, bool wide)
{
	return wide ? n->uint64_s.location : n->uint32_s.location;
}

static void word_set(union glex_coll_data_loc *n, bool wide, uint64_t word)
{
	if (wide)
		n->uint64_s.data = word;
	else
		n->uint32_s.data = word;
}

static void float_add(union glex_coll_data_loc *to,
		      const union glex_coll_data_loc *from, bool wide)
{
	if (wide)
		to->double_s.data += from->double_s.data;
	else
		to->float_s.data += from->float_s.data;
}

/* Is @b to be kept of the two?  A number that is none is never preferred. */
static bool is_better(const union glex_coll_data_loc *a,
		      const union glex_coll_data_loc *b, bool wide,
		      enum glex_coll_reduce_op op)
{
	bool more, less;

	if (op <= GLEX_COLL_REDUCE_MINLOC_FLOAT) {
		if (isnan(float_of(a, wide)) || isnan(float_of(b, wide)))
			return isnan(float_of(a, wide)) && !isnan(float_of(b, wide));
		more = float_of(b, wide) > float_of(a, wide);
		less = float_of(b, wide) < float_of(a, wide);
	} else if (op <= GLEX_COLL_REDUCE_MINLOC_SIGNED) {
		more = signed_of(b, wide) > signed_of(a, wide);
		less = signed_of(b, wide) < signed_of(a, wide);
	} else {
		more = word_of(b, wide) > word_of(a, wide);
		less = word_of(b, wide) < word_of(a, wide);
	}
	if (!more && !less)
		return location_of(b, wide) < location_of(a, wide);
	return op == GLEX_COLL_REDUCE_MAXLOC_FLOAT ||
	       op == GLEX_COLL_REDUCE_MAXLOC_SIGNED ||
	       op == GLEX_COLL_REDUCE_MAXLOC_UNSIGNED ? more : less;
}

static uint64_t words_of(uint64_t a, uint64_t b, enum glex_coll_reduce_op op)
{
	switch (op) {
	case GLEX_COLL_REDUCE_LAND:
		return a && b;
	case GLEX_COLL_REDUCE_LOR:
		return a || b;
	case GLEX_COLL_REDUCE_LXOR:
		return !a != !b;
	case GLEX_COLL_REDUCE_BAND:
		return a & b;
	case GLEX_COLL_REDUCE_BOR:
		return a | b;
	case GLEX_COLL_REDUCE_BXOR:
		return a ^ b;
	default:	/* sums, which wrap around */
		return a + b;
	}
}

static void combine(union glex_coll_data_loc *to,
		    const union glex_coll_data_loc *from, bool wide,
		    enum glex_coll_reduce_op op)
{
	switch (op) {
	case GLEX_COLL_REDUCE_SUM_FLOAT:
		float_add(to, from, wide);
		break;
	case GLEX_COLL_REDUCE_MAXLOC_FLOAT:
	case GLEX_COLL_REDUCE_MINLOC_FLOAT:
	case GLEX_COLL_REDUCE_MAXLOC_SIGNED:
	case GLEX_COLL_REDUCE_MINLOC_SIGNED:
	case GLEX_COLL_REDUCE_MAXLOC_UNSIGNED:
	case GLEX_COLL_REDUCE_MINLOC_UNSIGNED:
		if (is_better(to, from, wide, op))
			*to = *from;
		break;
	default:
		word_set(to, wide, words_of(word_of(to, wide), word_of(from, wide), op));
	}
}

void coll_combine(union glex_coll_data_loc *to, const union glex_coll_data_loc *from,
		  uint32_t count, enum glex_coll_reduce_data_bits bits,
		  enum glex_coll_reduce_op op)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		combine(&to[i], &from[i], is_wide(bits), op);
}
