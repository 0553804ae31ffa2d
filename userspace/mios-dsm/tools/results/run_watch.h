/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run_watch.c: the counts of a run that goes on in another process.
 */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../runtime/stats.h"

struct watch {
	pid_t pid;		/* of mios-dsm run */
	struct stats_head head;	/* as it was found good */
	void *at;
};

/* The run of that process, or the only one there is if 0; 0 or cli_error(). */
int watch_open(struct watch *w, pid_t pid);
/* It goes on. */
bool watch_lives(const struct watch *w);

#endif /* RUN_WATCH_H */
