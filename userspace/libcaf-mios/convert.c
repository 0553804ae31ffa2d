// SPDX-License-Identifier: GPL-2.0
/*
 * Assignments between types and kinds.  Numbers go through the widest ones
 * there are.
 */
#include "caf.h"

struct number {
	bool integer;
	__int128 i;
	__float128 re, im;
};

static __int128 wide_integer(const void *p, int kind)
{
	__int128 wide;

	switch (kind) {
	case 1:
		return *(const int8_t *)p;
	case 2:
		return *(const int16_t *)p;
	case 4:
		return *(const int32_t *)p;
	case 8:
		return *(const int64_t *)p;
	case 16:
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	caf_die("an integer of kind %d", kind);
}

int64_t integer_at(const void *p, int kind)
{
	return wide_integer(p, kind);
}

static void store_integer(void *p, int kind, __int128 i)
{
	if (kind > sizeof(i))
		caf_die("an integer of kind %d", kind);
	memcpy(p, &i, kind);	/* little-endian */
}

static __float128 wide_real(const void *p, int kind)
{
	__float128 wide;

	switch (kind) {
	case 4:
		return *(const float *)p;
	case 8:
		return *(const double *)p;
	case 10:
		return *(const long double *)p;
	case 16:
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	caf_die("a real of kind %d", kind);
}

static void store_real(void *p, int kind, __float128 r)
{
	switch (kind) {
	case 4:
		*(float *)p = r;
		return;
	case 8:
		*(double *)p = r;
		return;
	case 10:
		*(long double *)p = r;
		return;
	case 16:
		memcpy(p, &r, sizeof(r));
		return;
	}
	caf_die("a real of kind %d", kind);
}

/* Kind 10 takes 16 bytes. */
static size_t real_size(int kind)
{
	return kind == 10 ? 16 : kind;
}

static struct number load(const void *p, int type, int kind)
{
	struct number n = { .integer = type <= CAF_LOGICAL };

	if (n.integer) {
		n.i = wide_integer(p, kind);
		n.re = n.i;
		return n;
	}
	n.re = wide_real(p, kind);
	if (type == CAF_COMPLEX)
		n.im = wide_real((const char *)p + real_size(kind), kind);
	return n;
}

static void store(void *p, int type, int kind, const struct number *n)
{
	switch (type) {
	case CAF_INTEGER:
	case CAF_LOGICAL:
		store_integer(p, kind, n->integer ? n->i : (__int128)n->re);
		break;
	case CAF_COMPLEX:
		store_real((char *)p + real_size(kind), kind, n->im);
		__attribute__((fallthrough));
	default:
		store_real(p, kind, n->re);
	}
}

static uint32_t character_at(const void *p, int kind, size_t i)
{
	return kind == 1 ? ((const uint8_t *)p)[i] : ((const uint32_t *)p)[i];
}

/* Cut off, or filled up with blanks. */
static void convert_characters(void *to, int to_kind, size_t to_len,
			       const void *from, int from_kind, size_t from_len)
{
	size_t i, n = to_len / to_kind, given = from_len / from_kind;
	uint32_t c;

	for (i = 0; i < n; i++) {
		c = i < given ? character_at(from, from_kind, i) : ' ';
		if (to_kind == 1)
			((uint8_t *)to)[i] = c > UINT8_MAX ? '?' : c;
		else
			((uint32_t *)to)[i] = c;
	}
}

/* One element. */
void convert(void *to, const struct caf_section *to_form, const void *from,
	     const struct caf_section *from_form)
{
	int type = to_form->type, from_type = from_form->type;
	size_t len = to_form->elem_len;
	struct number n;

	if (type == CAF_CHARACTER && from_type == CAF_CHARACTER) {
		convert_characters(to, to_form->kind, len, from,
				   from_form->kind, from_form->elem_len);
	} else if (type >= CAF_INTEGER && type <= CAF_COMPLEX &&
		   from_type >= CAF_INTEGER && from_type <= CAF_COMPLEX) {
		n = load(from, from_type, from_form->kind);
		store(to, type, to_form->kind, &n);
	} else if (type == from_type) {
		memmove(to, from, len < from_form->elem_len ? len :
						from_form->elem_len);
	} else {
		caf_die("type %d is assigned to type %d", from_type, type);
	}
}
