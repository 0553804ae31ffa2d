/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far a run has got, for people at a terminal: a line now and then, at ever
 * longer intervals.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "../../runtime/stats.h"

struct progress {
	uint64_t next, pause;			/* ms */
	uint64_t ms, faults, stall, bytes;	/* at the last line */
};

/* Has a look, if it is time for one; left: so many nodes run here. */
void progress_look(struct progress *p, const struct stats_head *head, void *at,
		   uint64_t left);

#endif /* PROGRESS_H */
