// SPDX-License-Identifier: GPL-2.0
/*
 * A limit for the memory of a node: pages beyond it are given back, those first
 * that nobody has touched for long.  A hand goes round the pages.  What is mapped
 * it unmaps; who uses it maps it again, without asking anybody.  What it finds
 * unmapped goes: memory of a page that is not ours any more, a copy, at last
 * a page that we own, which its manager takes.  The manager's own pages stay, as
 * they have no other place.  On the service thread.
 */
#include "window_layout.h"
#include "dsm_node.h"

#define SPARE	32		/* pages */
#define SCAN	1024		/* pages in one go */
#define ROUND	1000000ULL	/* ns, at least, for all pages */
#define VAIN	100		/* rounds, until all that is here must stay */
#define REST	100000000ULL	/* ns, then */

/* What must stay may be more than is allowed; then there is some room beside it. */
static u32 limit(const struct node *n)
{
	u32 least = n->stay + n->stay / 4 + SPARE;

	return n->window.limit > least ? n->window.limit : least;
}

/* An eighth below it, as pages arrive before others have gone. */
bool evict_wanted(const struct node *n)
{
	return n->window.limit && n->window.resident > limit(n) / 8 * 7 &&
		n->now >= n->rest && node_has_room(n);
}

/* No thread asks for a page until some have gone. */
bool evict_first(const struct node *n)
{
	return n->window.limit && n->window.resident >= limit(n) &&
		n->now >= n->rest;
}

static void look(struct node *n, u32 page)
{
	struct dsm_event ev = { .type = DSM_EV_EVICT, .page = page };
	enum dsm_state state = dsm_page_state(n->dsm, page);
	int err;

	if (state == DSM_I) {
		window_drop(&n->window, page);
		n->vain = 0;
		return;
	}
	if ((state == DSM_O || state == DSM_M) && page % n->nodes == n->self) {
		n->staying++;
		return;
	}
	if (state != DSM_S && state != DSM_O && state != DSM_M)
		return;
	if (n->window.mapped[page] != DSM_NONE) {
		err = window_access(&n->window, page, DSM_NONE);
		if (err)
			node_give_up("a page cannot be unmapped", err);
	} else if (n->window.knobs & WINDOW_FORGET) {
		window_drop(&n->window, page);
	} else {
		node_step(n, &ev);
	}
}

/* What was asked of managers in one round is done before the next. */
static bool round_begins(struct node *n)
{
	if (n->now < n->round)
		return false;
	n->round = n->now + ROUND;
	n->hand = LAYOUT_OWN;
	n->stay = n->staying;
	n->staying = 0;
	if (++n->vain > VAIN) {
		n->vain = 0;
		n->rest = n->now + REST;
	}
	return true;
}

void evict_some(struct node *n)
{
	for (u32 i = 0; i < SCAN && evict_wanted(n); i++) {
		if (n->hand >= n->window.pages && !round_begins(n))
			return;
		if (n->window.held[n->hand])
			look(n, n->hand);
		n->hand++;
	}
}
