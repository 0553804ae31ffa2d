/* SPDX-License-Identifier: GPL-2.0 */
/* How a unit test fails: the words are what tests of its knobs look for. */
#ifndef _UNIT_TEST_H
#define _UNIT_TEST_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "%s:%d: failed: %s\n", __FILE__,	\
			__LINE__, #condition);				\
		exit(1);						\
	}								\
} while (0)

#endif /* _UNIT_TEST_H */
