/* SPDX-License-Identifier: GPL-2.0 */
/* Times of mios journal, in ns since 1970: journal_since.c. */
#ifndef MIOS_JOURNAL_H
#define MIOS_JOURNAL_H

#include <stdint.h>

#define NS		1000000000ll
#define JOURNAL_MAX	(4 * NS * NS)	/* no clock is set so late */

int64_t journal_now(void);
/* What --since says; ends with a line where that is no time. */
int64_t journal_since(const char *text);

#endif /* MIOS_JOURNAL_H */
