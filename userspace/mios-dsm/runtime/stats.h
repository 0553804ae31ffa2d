/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a node counts while a program runs, in memory that it shares with
 * mios-dsm run.  Written by the node's service thread alone; times in ns.
 */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>

struct node_stats {
	uint64_t reads, writes;		/* faults that the engine was told of */
	uint64_t stall, longest;	/* that threads waited for pages */
	uint64_t pages;			/* page contents sent */
	uint64_t messages;		/* of the engine */
	uint64_t frames, bytes;		/* sent, with what the link adds */
	uint64_t again, refused;	/* sent again; frames and messages refused */
	uint64_t emulated;		/* stores and atomics that did not take a page */
	uint64_t updates;		/* messages with them */
	uint64_t lost;			/* pages that died with their holder */
	uint64_t resident, most;	/* pages with memory, now and at most */
	uint64_t evicted;		/* pages given back */
	uint64_t finished;		/* the program has called mios_dsm_finish() */
};

#endif /* STATS_H */
