// SPDX-License-Identifier: GPL-2.0
/*
 * Probable owners: what nodes tell each other of who owns what, so that a
 * request goes to the owner at once.  Each answer to a request carries the
 * newest changes that its sender has heard of and not yet told the asker.
 * Guesses only: a false one costs a hop.  A node that hears something new
 * tells it on.
 * Called where an owner becomes known, and by request.c and grant.c for the
 * answers.
 */
#include "engine.h"

/* The owner of a page, now or soon, as of the number ver. */
void probowner_note(struct dsm *d, u32 page, u64 ver)
{
	struct dsm_page *p = page_at(d, page);

	if (!d->cfg.probowners)
		return;
	p->guess = ver;
	p->heard = ++d->heard;
	*probowner_at(d, p->heard % DSM_PROBOWNER_RING) = page;
}

/* Newest first; writes what fits and is worth telling, returns its length. */
u16 probowner_tell(struct dsm *d, u16 to, u8 *body)
{
	struct dsm_node *n = node_at(d, to);
	struct dsm_probowner item;
	struct dsm_page *p;
	u16 len = 0;

	for (u32 back = 0; back < DSM_PROBOWNER_RING &&
	     back < d->heard - n->told &&
	     len < d->cfg.probowners * sizeof(item); back++) {
		item.page = *probowner_at(d, (d->heard - back) %
					     DSM_PROBOWNER_RING);
		p = page_at(d, item.page);
		/* Else it has been heard of again since. */
		if (p->heard != d->heard - back || p->owner == to)
			continue;
		item.what = (u32)p->guess << 8 | p->owner;
		memcpy(body + len, &item, sizeof(item));
		len += sizeof(item);
	}
	n->told = d->heard;
	return len;
}

static void probowner_one(struct dsm *d, const struct dsm_probowner *item)
{
	struct dsm_page *p = page_at(d, item->page);
	u8 owner = item->what & 0xff;
	/* 24 bits of the number travel: the nearest one is meant. */
	int ahead = (int)(item->what - ((u32)p->guess << 8)) >> 8;

	if (owner == d->cfg.self || !set_has(&d->live, owner) ||
	    dsm_manager(d, item->page) == d->cfg.self ||
	    state_in(p, STATES_OWNER) || ahead <= 0)
		return;
	p->owner = owner;
	p->flags &= ~PAGE_ASTRAY;
	probowner_note(d, item->page, p->guess + ahead);
}

bool probowner_good(const struct dsm *d, const u8 *body, u16 len)
{
	struct dsm_probowner item;

	if (len % sizeof(item) || len > DSM_PROBOWNER_MAX * sizeof(item))
		return false;
	for (u16 at = 0; at < len; at += sizeof(item)) {
		memcpy(&item, body + at, sizeof(item));
		if (item.page >= d->cfg.pages)
			return false;
	}
	return true;
}

void probowner_take(struct dsm *d, const u8 *body, u16 len)
{
	struct dsm_probowner item;

	if (!d->cfg.probowners)
		return;
	/* The newest came first; it shall be the newest here, too. */
	for (u16 at = len; at; at -= sizeof(item)) {
		memcpy(&item, body + at - sizeof(item), sizeof(item));
		probowner_one(d, &item);
	}
}
