/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adaptation: each node decides for itself, page by page, whether its stores
 * travel as updates or take the page alone.  adapt_step() stands in front of
 * dsm_step() of an engine with DSM_WUSEQ.  It looks at what goes in and comes
 * out, and strengthens what a fault asks for (dsm_event.touch); a fault may
 * always ask for more than it needs, so memory means what it means without.
 * Memory of the caller, without pointers, as the engine's.
 */
#ifndef DSM_ADAPT_H
#define DSM_ADAPT_H

#include "dsm.h"

/* What a page is used for, as this node sees it. */
enum adapt_class {
	ADAPT_UNUSED,		/* not touched here */
	ADAPT_PRIVATE,		/* nobody else's, or for long */
	ADAPT_PRODUCER,		/* one writes in a row, others read along */
	ADAPT_MIGRATORY,	/* who reads it then writes it */
	ADAPT_LOCK,		/* changed by atomic instructions */
	ADAPT_READ_MOSTLY,	/* stores are rare, and anybody's */
	ADAPT_FALSE_SHARING,	/* stores of several nodes in turn */
	ADAPT_CLASSES,
};

/* What decided; all counts end at 65,535. */
enum adapt_count {
	ADAPT_STORES,		/* ours, as updates */
	ADAPT_FOREIGN,		/* of others, as updates */
	ADAPT_ATOMICS,		/* ours, that had to take the page */
	ADAPT_UPGRADES,		/* read, then written before anybody else */
	ADAPT_ALONE,		/* times that we took it alone, */
	ADAPT_READERS,		/* and a reader ended that, */
	ADAPT_WRITERS,		/* or a writer */
	ADAPT_COUNTS,
};

struct adapt_page {
	u32 since;		/* asked for alone; then: alone since */
	u32 waited;		/* for it, the last time */
	u32 changed;		/* when it came into its class, */
	u16 changes;		/* for the how-manieth time */
	u16 count[ADAPT_COUNTS];
	u16 run;		/* our stores since anybody else's */
	u16 peers;		/* who has asked for it lately, by number % 16 */
	u8 level;		/* run that takes the page, see adapt.c */
	u8 atoms;		/* trapped stores until it is no lock's any more */
	u8 upgrades;		/* in a row */
	u8 mixed;		/* runs that others have cut short */
	u8 same;		/* updates of one other node in a row, */
	u8 writer;		/* the last */
	u8 access;		/* as the engine last said */
	u8 class;
	u8 flags;
	u8 pad;
};

static_assert(sizeof(struct adapt_page) == 44, "for each page of the window");

struct adapt {
	u32 pages;
	u32 knobs;
	u32 now;		/* of the event in hand */
	u32 touched;		/* page of the last fault, */
	u32 last;		/* of the last atomic instruction that trapped, */
	u16 streak;		/* so often in a row */
	u16 self;
	u16 level;		/* of pages that we never had alone */
	u16 pad;
	struct adapt_page page[];
};

/* All pages of a node: how many in each class, and what decided. */
struct adapt_sum {
	u64 pages[ADAPT_CLASSES];
	u64 changes[ADAPT_CLASSES];
	u64 last[ADAPT_CLASSES];	/* dsm_event.now of the last change */
	u64 count[ADAPT_CLASSES][ADAPT_COUNTS];
};

#define ADAPT_TIME_SHIFT	6
#define ADAPT_LEVEL_FIRST	2
#define ADAPT_UPGRADES_ENOUGH	3
#define ADAPT_MIXED_ENOUGH	2
#define ADAPT_MIXED_MAX		7

/* Engines that this stands in front of leave runs of stores to it. */
#define ADAPT_RUN	60000

size_t adapt_size(u32 pages);
/* Of an engine that has been set up. */
void adapt_init(struct adapt *a, const struct dsm *d,
		const struct dsm_config *cfg);
/* dsm_step(), with advice; without if there is no a. */
void adapt_step(struct adapt *a, struct dsm *d, const struct dsm_event *ev,
		struct dsm_actions *out);
/* Now and then; true: the event is the next one for adapt_step(). */
bool adapt_wish(const struct adapt *a, const struct dsm *d, struct dsm_event *ev);
/* Would a store to this page take it alone now? */
bool adapt_alone(const struct adapt *a, u32 page);
/* usage.c; added to sum */
void adapt_classify(const struct adapt *a, struct adapt_page *p);
void adapt_sum(const struct adapt *a, struct adapt_sum *sum);

extern const char *const adapt_class_name[ADAPT_CLASSES];
extern const char *const adapt_count_name[ADAPT_COUNTS];

#endif /* DSM_ADAPT_H */
