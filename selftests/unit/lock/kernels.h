/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test of code that runs in several kernels at once: what is explored, and what of
 * the models may be broken.  Its program is NAME-explore [--deep] [--break NAME].
 */
#ifndef _TEST_KERNELS_H
#define _TEST_KERNELS_H

#include "explore.h"

/**
 * struct kernels_test - what main() has to know
 * @common:	of all scenarios
 * @entries, @nr: which ones there are
 * @names, @breaks: rules of the models, beside the knobs of the code
 * @broken:	those that are taken out
 */
struct kernels_test {
	struct scenario common;
	const struct entry *entries;
	u32 nr;
	const char *const *names;
	u32 breaks;
	bool *broken;
};

extern const struct kernels_test kernels_test;

#endif /* _TEST_KERNELS_H */
