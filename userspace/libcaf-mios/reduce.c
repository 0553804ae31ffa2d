// SPDX-License-Identifier: GPL-2.0
/*
 * co_sum, co_min and co_max: what two elements make.
 */
#include "collective.h"

typedef void (*combine_fn)(const struct reduction *r, void *to,
			   const void *from, size_t count);

#define COMBINE(NAME, TYPE, EXPRESSION)					\
static void NAME(const struct reduction *r, void *to, const void *from,	\
		 size_t count)						\
{									\
	const TYPE *b = from;						\
	TYPE *a = to;							\
	size_t i;							\
									\
	for (i = 0; i < count; i++)					\
		a[i] = EXPRESSION;					\
}

#define SUM(NAME, TYPE)	COMBINE(sum_##NAME, TYPE, a[i] + b[i])
#define MIN(NAME, TYPE)	COMBINE(min_##NAME, TYPE, b[i] < a[i] ? b[i] : a[i])
#define MAX(NAME, TYPE)	COMBINE(max_##NAME, TYPE, b[i] > a[i] ? b[i] : a[i])

SUM(int1, int8_t)
SUM(int2, int16_t)
SUM(int4, int32_t)
SUM(int8, int64_t)
SUM(int16, __int128)
SUM(real4, float)
SUM(real8, double)
SUM(complex4, _Complex float)
SUM(complex8, _Complex double)
MIN(int1, int8_t)
MIN(int2, int16_t)
MIN(int4, int32_t)
MIN(int8, int64_t)
MIN(int16, __int128)
MIN(real4, float)
MIN(real8, double)
MAX(int1, int8_t)
MAX(int2, int16_t)
MAX(int4, int32_t)
MAX(int8, int64_t)
MAX(int16, __int128)
MAX(real4, float)
MAX(real8, double)

enum operation { OP_SUM, OP_MIN, OP_MAX };

#define ROW(TYPE, LEN, NAME)						\
	{ TYPE, LEN, { sum_##NAME, min_##NAME, max_##NAME } }

/* Reals of kinds 10 and 16 look alike here, so there are neither. */
static const struct {
	int type;
	size_t len;
	combine_fn fn[3];
} numbers[] = {
	ROW(CAF_INTEGER, 1, int1), ROW(CAF_INTEGER, 2, int2),
	ROW(CAF_INTEGER, 4, int4), ROW(CAF_INTEGER, 8, int8),
	ROW(CAF_INTEGER, 16, int16),
	ROW(CAF_REAL, 4, real4), ROW(CAF_REAL, 8, real8),
	{ CAF_COMPLEX, 8, { sum_complex4 } },
	{ CAF_COMPLEX, 16, { sum_complex8 } },
};

static int compare(const char *a, const char *b, size_t len, bool wide)
{
	const uint32_t *x = (const void *)a, *y = (const void *)b;
	size_t i;

	if (!wide)
		return memcmp(a, b, len);
	for (i = 0; i < len / sizeof(*x); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static void characters(const struct reduction *r, void *to, const void *from,
		       size_t count, int sign)
{
	bool wide = r->length && r->elem_len / r->length == sizeof(uint32_t);
	const char *b = from;
	char *a = to;

	for (; count--; a += r->elem_len, b += r->elem_len)
		if (compare(b, a, r->elem_len, wide) * sign > 0)
			memcpy(a, b, r->elem_len);
}

static void min_characters(const struct reduction *r, void *to,
			   const void *from, size_t count)
{
	characters(r, to, from, count, -1);
}

static void max_characters(const struct reduction *r, void *to,
			   const void *from, size_t count)
{
	characters(r, to, from, count, 1);
}

static combine_fn combine_for(const struct caf_desc *a, enum operation op)
{
	size_t i;

	if (a->type == CAF_CHARACTER && op != OP_SUM)
		return op == OP_MIN ? min_characters : max_characters;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].type == a->type && numbers[i].len == a->elem_len)
			return numbers[i].fn[op];
	return NULL;
}

static void run(struct caf_desc *a, enum operation op, int result_image,
		int length, const struct caf_report *report)
{
	struct reduction r = { .combine = combine_for(a, op),
			       .elem_len = a->elem_len, .length = length };

	if (!r.combine)
		caf_die("co_sum, co_min or co_max of type %d, %zu bytes",
			a->type, a->elem_len);
	collective_reduce(a, &r, result_image, report);
}

void _gfortran_caf_co_sum(struct caf_desc *a, int result_image, int *stat,
			  char *text, size_t len)
{
	run(a, OP_SUM, result_image, 0,
	    &(struct caf_report){ stat, text, len });
}

void _gfortran_caf_co_min(struct caf_desc *a, int result_image, int *stat,
			  char *text, int length, size_t len)
{
	run(a, OP_MIN, result_image, length,
	    &(struct caf_report){ stat, text, len });
}

void _gfortran_caf_co_max(struct caf_desc *a, int result_image, int *stat,
			  char *text, int length, size_t len)
{
	run(a, OP_MAX, result_image, length,
	    &(struct caf_report){ stat, text, len });
}
