// SPDX-License-Identifier: GPL-2.0
/*
 * co_reduce: the program's function makes one of two elements.  How it is called
 * depends on the type: its result comes in a register, or in memory of ours
 * whose address comes first.
 */
#include <stdlib.h>

#include "collective.h"

typedef void (*combine_fn)(const struct reduction *r, void *to,
			   const void *from, size_t count);

/* By address, or by value. */
#define FUNCTION(NAME, TYPE)						\
static void NAME(const struct reduction *r, void *to, const void *from,	\
		 size_t count)						\
{									\
	__typeof__(TYPE(void *, void *)) *by_address = (void *)r->function;	\
	__typeof__(TYPE(TYPE, TYPE)) *by_value = (void *)r->function;	\
	TYPE *a = to, *b = (TYPE *)from;				\
	size_t i;							\
									\
	for (i = 0; i < count; i++)					\
		a[i] = r->flags & CAF_ARG_VALUE ? by_value(a[i], b[i]) :	\
						  by_address(&a[i], &b[i]);	\
}

FUNCTION(function_int1, int8_t)
FUNCTION(function_int2, int16_t)
FUNCTION(function_int4, int32_t)
FUNCTION(function_int8, int64_t)
FUNCTION(function_int16, __int128)
FUNCTION(function_real4, float)
FUNCTION(function_real8, double)
FUNCTION(function_complex4, _Complex float)
FUNCTION(function_complex8, _Complex double)

static const struct {
	int type;
	size_t len;
	combine_fn fn;
} functions[] = {
	{ CAF_INTEGER, 1, function_int1 }, { CAF_INTEGER, 2, function_int2 },
	{ CAF_INTEGER, 4, function_int4 }, { CAF_INTEGER, 8, function_int8 },
	{ CAF_INTEGER, 16, function_int16 },
	{ CAF_LOGICAL, 1, function_int1 }, { CAF_LOGICAL, 2, function_int2 },
	{ CAF_LOGICAL, 4, function_int4 }, { CAF_LOGICAL, 8, function_int8 },
	{ CAF_REAL, 4, function_real4 }, { CAF_REAL, 8, function_real8 },
	{ CAF_COMPLEX, 8, function_complex4 },
	{ CAF_COMPLEX, 16, function_complex8 },
};

/* More than two registers: the same as a hidden first argument. */
#define REGISTERS	16

static void function_memory(const struct reduction *r, void *to,
			    const void *from, size_t count)
{
	void *(*fn)(void *out, void *a, void *b) = (void *)r->function;
	char *a = to, *b = (char *)from;
	char *out = malloc(r->elem_len);

	if (!out)
		caf_die("no memory for a result of %zu bytes", r->elem_len);
	for (; count--; a += r->elem_len, b += r->elem_len) {
		fn(out, a, b);
		memcpy(a, out, r->elem_len);
	}
	free(out);
}

static void function_characters(const struct reduction *r, void *to,
				const void *from, size_t count)
{
	void (*fn)(void *out, size_t len, void *a, void *b, size_t a_len,
		   size_t b_len) = (void *)r->function;
	char *a = to, *b = (char *)from;
	char *out = malloc(r->elem_len + 1);
	size_t len = r->length;

	if (!out)
		caf_die("no memory for a result of %zu bytes", r->elem_len);
	for (; count--; a += r->elem_len, b += r->elem_len) {
		fn(out, len, a, b, len, len);
		memcpy(a, out, r->elem_len);
	}
	free(out);
}

static combine_fn combine_for(const struct caf_desc *a, int flags)
{
	size_t i;

	if (flags & CAF_ARG_DESC)
		return NULL;
	if (a->type == CAF_CHARACTER)
		return function_characters;
	if (a->type == CAF_DERIVED && !(flags & CAF_ARG_VALUE) &&
	    (flags & CAF_BYREF || a->elem_len > REGISTERS))
		return function_memory;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (functions[i].type == a->type &&
		    functions[i].len == a->elem_len)
			return functions[i].fn;
	return NULL;
}

void _gfortran_caf_co_reduce(struct caf_desc *a,
			     void *(*function)(void *a, void *b), int flags,
			     int result_image, int *stat, char *text,
			     int length, size_t len)
{
	struct reduction r = {
		.combine = combine_for(a, flags), .elem_len = a->elem_len,
		.function = function, .flags = flags, .length = length,
	};

	if (!r.combine)
		caf_die("co_reduce of type %d, %zu bytes", a->type,
			a->elem_len);
	collective_reduce(a, &r, result_image,
			  &(struct caf_report){ stat, text, len });
}
