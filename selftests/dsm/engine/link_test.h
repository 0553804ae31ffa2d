/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the link layer share.
 */
#ifndef LINK_TEST_H
#define LINK_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsm_link.h"

#define PAD	46	/* what Ethernet makes of anything shorter */

static inline void expect(bool good, const char *what)
{
	if (good)
		return;
	printf("%s\n", what);
	exit(1);
}

/* linkhand_test.c */
void link_by_hand(void);

#endif /* LINK_TEST_H */
