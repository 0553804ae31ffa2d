/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the example programs share.  Each has one source for both: nodes with
 * libmios-dsm (begin_nodes.c), and threads of one process (begin_threads.c), whose memory
 * the hardware keeps coherent.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>
#include <stdlib.h>

#include "../runtime/mios_dsm.h"

/*
 * Runs on every node, or as every thread; size is what the user asked for.
 * Returns 0 if what it has computed is right.
 */
int program(int size);
extern const char program_name[];
extern const int program_size;		/* unless the user says another */

/* Nothing goes on after an error: other nodes see that this one ends. */
static inline void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: node %d: %s failed (%d)\n", program_name,
		mios_dsm_node(), what, err);
	exit(3);
}

/* Root r of all nodes is what node 0 has allocated. */
static inline void *shared(int r, size_t size, int home)
{
	if (!mios_dsm_node()) {
		mios_dsm_root()[r] = mios_dsm_malloc(size, home);
		if (!mios_dsm_root()[r])
			must(-1, "allocation");
	}
	must(mios_dsm_barrier(), "barrier");
	return mios_dsm_root()[r];
}

/* This node's part of n things: the first, and the one behind the last. */
static inline int part_begin(int n)
{
	return (long)n * mios_dsm_node() / mios_dsm_nodes();
}

static inline int part_end(int n)
{
	return (long)n * (mios_dsm_node() + 1) / mios_dsm_nodes();
}

#endif /* PROGRAM_H */
