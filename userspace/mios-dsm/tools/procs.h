/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes that run here, each a process: begun, waited for, ended.
 */
#ifndef PROCS_H
#define PROCS_H

#include <sys/types.h>

#include "../runtime/stats.h"

struct procs {
	uint64_t first, end;		/* their numbers */
	uint64_t left;			/* that run */
	pid_t pid[STATS_NODES];		/* 0: none, or it has ended */
	int status[STATS_NODES];
	int result;			/* exit status of the first that failed */
};

/*
 * become: what a node's process does; it does not return.  0, or 2 after a line.
 * From then on a signal that would end us ends the nodes first.
 */
int procs_start(struct procs *p, void (*become)(void *run, uint64_t node),
		void *run);
/* Waits until one has ended, or looks whether it has; stats: what they count. */
void procs_wait(struct procs *p, const struct node_stats *stats, bool look);
void procs_kill(struct procs *p);
/* Ends by that signal, if there was one. */
void procs_obey(void);

#endif /* PROCS_H */
