/* SPDX-License-Identifier: GPL-2.0 */
/* Collective subroutines, and what they are about: see collective.c. */
#ifndef CAF_COLLECTIVE_H
#define CAF_COLLECTIVE_H

#include "caf.h"

struct reduction {
	/* to[i] becomes what it makes with from[i] */
	void (*combine)(const struct reduction *r, void *to, const void *from,
			size_t count);
	size_t elem_len;
	void *(*function)(void *a, void *b);	/* of co_reduce */
	int flags;
	int length;				/* of a character, in characters */
};

/* collective.c APIs: */
void collective_reduce(struct caf_desc *a, const struct reduction *r,
		       int result_image, const struct caf_report *report);

#endif /* CAF_COLLECTIVE_H */
