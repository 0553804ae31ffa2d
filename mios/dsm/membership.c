// SPDX-License-Identifier: GPL-2.0
/*
 * Who lives, as this node has been told, and as each other node had been
 * told when it sent its last FLUSH.  Survivors may hear of several deaths, and
 * of nodes that were born again, in any order: a round of recovery belongs to
 * one list of the living and the dead, and goes on among those whose lists are
 * equal.  The numbers in a list only grow, so two nodes that have been told
 * the same end with equal lists, whatever came first.
 * Called by recovery.c.
 */
#include "engine.h"

static size_t view_size(const struct dsm *d)
{
	return d->cfg.nodes * sizeof(u32);
}

/* Has it sent FLUSH for the very round that we are in? */
bool view_same(struct dsm *d, u16 node)
{
	return !memcmp(view_at(d, d->cfg.self), view_at(d, node),
		       view_size(d));
}

/*
 * A node has died, or was born again: twice its incarnation, and one more if
 * that is dead.  False if it is no news.  What the former life left behind in
 * our pages is to be buried.
 */
bool view_learn(struct dsm *d, u16 node, u32 life, bool up)
{
	u32 *known = &view_at(d, d->cfg.self)[node];
	u32 now = 2 * life + !up;

	if (life >= DSM_LIFE_MAX || now <= *known)
		return false;
	*known = now;
	if (set_has(&d->live, node))
		set_add(&d->buried, node);
	set_del(&d->live, node);
	if (up)
		set_add(&d->live, node);
	/* It has heard nothing of what we told it before. */
	node_at(d, node)->told = 0;
	return true;
}

/*
 * What a FLUSH says of its sender's list is kept, even if it is ahead of
 * ours: it is not said again when we have been told, too.
 */
bool view_take(struct step *s)
{
	struct dsm *d = s->d;

	if (s->ev->len != view_size(d) + (order_used(d) ? sizeof(u64) : 0))
		return false;
	if (DSM_KNOB(d, NO_AHEAD) &&
	    memcmp(view_at(d, d->cfg.self), s->ev->body, view_size(d)))
		return true;
	memcpy(view_at(d, s->ev->msg.src), s->ev->body, view_size(d));
	if (order_used(d))
		memcpy(&node_at(d, s->ev->msg.src)->flushed,
		       (const u8 *)s->ev->body + view_size(d), sizeof(u64));
	return true;
}

/* What a FLUSH says of ours. */
u16 view_tell(struct dsm *d, u8 *body)
{
	u64 number;

	memcpy(body, view_at(d, d->cfg.self), view_size(d));
	if (!order_used(d))
		return view_size(d);
	number = order_number(d);
	memcpy(body + view_size(d), &number, sizeof(number));
	return view_size(d) + sizeof(u64);
}
