/* SPDX-License-Identifier: GPL-2.0 */
/* What instances have recorded, each in a file, as one listing: trace_list.c. */
#ifndef MIOS_TRACE_H
#define MIOS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_file {
	int instance;
	FILE *file;		/* "lost N", then what the file trace of tracefs had */
	bool whole;		/* else its end is missing */
};

struct trace_span {
	uint64_t begin, end;	/* what was before and after is our own doing */
	double rate;		/* of the counter, in a microsecond */
};

/* Prints all in one order; @status: becomes MIOS_EXIT_FAILED with each line. */
void trace_list(const struct trace_file *files, unsigned int nr,
		const struct trace_span *span, bool json, int *status);

#endif /* MIOS_TRACE_H */
