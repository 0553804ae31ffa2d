// SPDX-License-Identifier: GPL-2.0
/*
 * Who lives, as this node has been told, and as each other node had been
 * told when it sent its last FLUSH.  Survivors may hear of several deaths in
 * any order: a round of recovery belongs to one list of the living and the
 * dead, and goes on among those whose lists are equal.  A list only grows
 * (each number in it counts what happened to a node), so two nodes that have
 * been told the same end with equal lists, whatever came first.
 * Called by recover.c.
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

/* Even: the node lives; odd: it does not. */
void view_bury(struct dsm *d, u16 node)
{
	view_at(d, d->cfg.self)[node]++;
	set_del(&d->live, node);
}

/*
 * What a FLUSH says of its sender's list is kept, even if it is ahead of
 * ours: it is not said again when we have been told, too.
 */
bool view_take(struct step *s)
{
	struct dsm *d = s->d;

	if (s->ev->len != view_size(d))
		return false;
	if (DSM_KNOB(d, NO_AHEAD) &&
	    memcmp(view_at(d, d->cfg.self), s->ev->body, view_size(d)))
		return true;
	memcpy(view_at(d, s->ev->msg.src), s->ev->body, view_size(d));
	return true;
}

/* What a FLUSH says of ours. */
u16 view_tell(struct dsm *d, const void **body)
{
	*body = view_at(d, d->cfg.self);
	return view_size(d);
}
