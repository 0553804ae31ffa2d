// SPDX-License-Identifier: GPL-2.0
/*
 * Giving a page's frame back, and keeping it where DMA needs it.  A copy is
 * simply dropped; an owner asks the manager to take the page, which fetches
 * it like any other reader, so eviction adds no way for a page to move.
 * Called by dsm_step() for the caller's wishes and for EVICT.
 */
#include "engine.h"

static void evict_drop(struct step *s, u32 page)
{
	page_at(s->d, page)->flags &= ~PAGE_EVICT;
	page_set_state(s, page, DSM_I);
	step_act(s, DSM_ACT_EVICTED)->page = page;
}

void evict_take(struct step *s)
{
	struct dsm *d = s->d;
	u32 page = s->ev->page;
	struct dsm_page *p = page_at(d, page);
	u16 manager = dsm_manager(d, page);
	struct dsm_msg m;

	if (p->lease || p->pins || !state_in(p, STATES_STABLE) ||
	    d->recovering) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	if (!state_in(p, STATES_OWNER)) {
		evict_drop(s, page);
		return;
	}
	/* The manager is where a page stays that nobody wants. */
	if (manager == d->cfg.self) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	p->flags |= PAGE_EVICT;
	msg_init(s, &m, DSM_EVICT, page);
	msg_send(s, &m, manager, NULL, 0);
}

void evict_msg_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(d, m->page);

	if (dsm_manager(d, m->page) != d->cfg.self) {
		msg_refuse(s);
		return;
	}
	/* Otherwise it is coming already, or the evictor will ask again. */
	if (!state_in(p, IN(I) | IN(S)) || p->owner == d->cfg.self ||
	    d->recovering || !request_room(d))
		return;
	page_set_state(s, m->page, p->state == DSM_S ? DSM_SO : DSM_IO);
	request_send(s, m->page, DSM_GET_O);
}

/* Called whenever a page may have left us. */
void evict_finish(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	if (p->flags & PAGE_EVICT && state_in(p, IN(I) | IN(S)) &&
	    !p->lease)
		evict_drop(s, page);
}

void pin_take(struct step *s, bool pin)
{
	u32 page = s->ev->page;
	struct dsm_page *p = page_at(s->d, page);

	if (pin ? page_allows(p) != DSM_RW || p->pins == 0xffff : !p->pins) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	if (pin) {
		p->pins++;
		return;
	}
	p->pins--;
	page_kick(s, page);
}
