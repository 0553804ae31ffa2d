/* SPDX-License-Identifier: GPL-2.0 */
/* The same work on several nodes at once: mios boot, restart, stop, kill. */
#ifndef MIOS_PARALLEL_H
#define MIOS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"

struct parallel {
	const char *command;	/* "boot" */
	const char *what;	/* that waiting is for: "node" */
	/* in a process of its own, whose exit status it returns */
	int (*work)(const void *context, unsigned int node);
	const void *context;
	uint64_t first;		/* before the others, which are left alone if one fails */
	bool anyway;		/* not left alone */
	struct output output;
};

int parallel_run(const struct parallel *parallel, uint64_t nodes);

#endif /* MIOS_PARALLEL_H */
