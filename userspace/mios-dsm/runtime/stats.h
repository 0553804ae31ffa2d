/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the nodes of a run count, in memory that they share with mios-dsm run,
 * and that mios-dsm top reads: a head, what each node counts, and what each
 * counts of each page.  The head is mios-dsm run's; all else is written by the
 * node's service thread or under its lock, but for what is marked.  Times in ns.
 */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>

#include "../../../mios/dsm/adapt.h"
#include "../../../mios/dsm/dsm.h"

#define STATS_NAME	"mios-dsm-stats"
#define STATS_MAGIC	0x74617473736f696dULL
#define STATS_VERSION	4
#define STATS_NODES	16
#define STATS_ROOTS	512
#define STATS_PATH	256

/* What threads wait for. */
enum stats_cause {
	STATS_READ,		/* a page that is not here */
	STATS_WRITE,		/* a page that others have */
	STATS_STORE,		/* a store that is emulated */
	STATS_BARRIER,		/* each other, and the pages of that */
	STATS_LOCK,
	STATS_CAUSES,
};

struct stats_head {
	uint64_t magic;
	uint32_t version, nodes, first, end;	/* first to end - 1 run here */
	uint32_t pages, protocol;
	uint64_t begin;				/* CLOCK_MONOTONIC */
};

struct node_stats {
	uint64_t reads, writes;		/* faults that the engine was told of */
	uint64_t stall, longest;	/* that threads waited for pages */
	uint64_t pages;			/* page contents sent */
	uint64_t messages;		/* of the engine */
	uint64_t frames, bytes;		/* sent, with what the link adds */
	uint64_t again, refused;	/* sent again; frames and messages refused, */
	uint64_t forged, replayed;	/* of which seal.h had no proof, or had one before */
	uint64_t emulated;		/* stores and atomics that did not take a page */
	uint64_t updates;		/* messages with them */
	uint64_t lost;			/* pages that died with their holder */
	uint64_t resident, most;	/* pages with memory, now and at most */
	uint64_t evicted;		/* pages given back */
	uint64_t finished;		/* the program has called mios_dsm_finish() */
	/* Barrier and lock: added to by the program's threads, atomically. */
	uint64_t cause[STATS_CAUSES];
	uint64_t state[DSM_STATES], mode[DSM_MODES];	/* pages, lately */
	/* What threads stopped for, by the mode of the page when they went on. */
	uint64_t stops_in[DSM_MODES], stall_in[DSM_MODES];
	uint64_t class[ADAPT_CLASSES];	/* --protocol auto: as it takes them */
	uint64_t base;			/* where the program is loaded */
	uint64_t root[STATS_ROOTS];	/* of the program, as seen lately */
	char exe[STATS_PATH];
};

struct page_stats {
	uint32_t stops;			/* times that a thread waited for it, */
	uint32_t us;			/* and how long in all */
	uint64_t pc;			/* one of these instructions */
};

static_assert(sizeof(struct stats_head) == 40, "read by another program");
static_assert(sizeof(struct page_stats) == 16, "read by another program");

static inline struct node_stats *stats_node(void *at, uint32_t node)
{
	return (struct node_stats *)((char *)at + DSM_PAGE_SIZE) + node;
}

static inline struct page_stats *stats_pages(void *at, uint32_t node,
					     uint32_t pages)
{
	struct node_stats *end = stats_node(at, STATS_NODES);

	return (struct page_stats *)end + (uint64_t)node * pages;
}

/* Of all that, most of which is never touched. */
static inline uint64_t stats_size(uint32_t nodes, uint32_t pages)
{
	return DSM_PAGE_SIZE + STATS_NODES * sizeof(struct node_stats) +
		(uint64_t)nodes * pages * sizeof(struct page_stats);
}

#endif /* STATS_H */
