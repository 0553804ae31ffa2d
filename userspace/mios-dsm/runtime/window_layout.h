/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the window is laid out: pages of the library's own, then one arena for
 * each node, whose pages begin there, then one whose pages begin at all nodes
 * in turn.  The same on every node.
 */
#ifndef WINDOW_LAYOUT_H
#define WINDOW_LAYOUT_H

#include "../../../mios/dsm/dsm.h"

#define LAYOUT_LOCKS	64
/* As mios-dsm run and the nodes' notes number it, behind the engine's. */
#define LAYOUT_AUTO	DSM_PROTOCOLS
/* Each on a page of its own, as each is used by others. */
enum {
	LAYOUT_ARRIVED,		/* barrier: who has come, */
	LAYOUT_ROUND,		/* and how often all have */
	LAYOUT_REDUCE,
	LAYOUT_ARENAS,		/* how much of each is taken */
	LAYOUT_ROOT,		/* the program's: where it begins to look */
	LAYOUT_LOCK,
	LAYOUT_OWN = LAYOUT_LOCK + LAYOUT_LOCKS,
};

/* Only the library touches it. */
static inline bool layout_own(u32 page)
{
	return page < LAYOUT_OWN && page != LAYOUT_ROOT;
}

/* Pages of an arena. */
static inline u32 layout_arena(u32 pages, u16 nodes)
{
	return (pages - LAYOUT_OWN) / (nodes + 1u);
}

static inline u32 layout_arena_at(u32 pages, u16 nodes, u16 arena)
{
	return LAYOUT_OWN + arena * layout_arena(pages, nodes);
}

/* Where a page begins; what is its manager's own needs no place. */
static inline u16 layout_home(u32 pages, u16 nodes, u32 page, u16 manager)
{
	u32 arena = page < LAYOUT_OWN ? nodes :
		(page - LAYOUT_OWN) / layout_arena(pages, nodes);

	return arena < nodes ? arena : manager;
}

#endif /* WINDOW_LAYOUT_H */
