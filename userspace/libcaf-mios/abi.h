/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What gfortran 12 to 14 pass to the library of -fcoarray=lib: descriptors of
 * arrays, references into derived types, and the numbers in them.
 */
#ifndef CAF_ABI_H
#define CAF_ABI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAF_MAX_RANK	15

enum caf_type {
	CAF_INTEGER = 1, CAF_LOGICAL, CAF_REAL, CAF_COMPLEX, CAF_DERIVED,
	CAF_CHARACTER,
};

struct caf_dim {
	ptrdiff_t stride, lower, upper;		/* of elements; inclusive */
};

struct caf_desc {
	char *base;
	size_t offset;
	size_t elem_len;
	int version;
	signed char rank, type;
	short attribute;
	ptrdiff_t span;			/* bytes of an element's place */
	struct caf_dim dim[];
};

static_assert(offsetof(struct caf_desc, span) == 32, "gfortran's descriptor");
static_assert(offsetof(struct caf_desc, dim) == 40, "gfortran's descriptor");

/* Of one dimension; nvec 0: no vector subscript. */
struct caf_vector {
	size_t nvec;
	union {
		struct {
			void *list;
			int kind;
		} v;
		struct {
			ptrdiff_t lower, upper, stride;
		} triplet;
	} u;
};

enum caf_ref_type { CAF_REF_COMPONENT, CAF_REF_ARRAY, CAF_REF_STATIC_ARRAY };

enum caf_ref_mode {
	CAF_MODE_NONE, CAF_MODE_VECTOR, CAF_MODE_FULL, CAF_MODE_RANGE,
	CAF_MODE_SINGLE, CAF_MODE_OPEN_END, CAF_MODE_OPEN_START,
};

union caf_ref_dim {
	struct {
		ptrdiff_t start, end, stride;
	} s;
	struct {
		void *list;
		size_t nvec;
		int kind;
	} v;
};

struct caf_ref {
	struct caf_ref *next;
	int type;
	size_t item_size;
	union {
		struct {
			ptrdiff_t offset, token_offset;	/* 0: no pointer */
		} c;
		struct {
			unsigned char mode[CAF_MAX_RANK];
			int static_type;
			union caf_ref_dim dim[CAF_MAX_RANK];
		} a;
	} u;
};

static_assert(offsetof(struct caf_ref, u.a.dim) == 48, "gfortran's reference");

enum caf_register_type {
	CAF_COARRAY_STATIC, CAF_COARRAY_ALLOC, CAF_LOCK_STATIC, CAF_LOCK_ALLOC,
	CAF_CRITICAL, CAF_EVENT_STATIC, CAF_EVENT_ALLOC,
	CAF_COMPONENT_REGISTER, CAF_COMPONENT_ALLOC,
};

enum caf_deregister_type { CAF_DEREGISTER, CAF_DEALLOCATE_ONLY };

/*
 * As in gfortran's iso_fortran_env; the last is that of gfortran 16, that of a
 * duplicate OpenCoarrays's.
 */
enum caf_stat {
	CAF_STAT_UNLOCKED = 0, CAF_STAT_LOCKED, CAF_STAT_LOCKED_OTHER_IMAGE,
	CAF_STAT_NAMED_TWICE,
	CAF_STAT_STOPPED = 6000, CAF_STAT_FAILED, CAF_STAT_UNLOCKED_FAILED,
};

/* How a function of co_reduce is to be called. */
enum caf_reduce_flag {
	CAF_BYREF = 1, CAF_HIDDENLEN = 2, CAF_ARG_VALUE = 4, CAF_ARG_DESC = 8,
};

#endif /* CAF_ABI_H */
