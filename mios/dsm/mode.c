// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the mode of a page.  Only its owner does, and all nodes agree
 * before the owner goes on: a node acknowledges once the writes it made
 * under the old mode have left it, so the owner has them all when the last
 * acknowledgement is in.  Called by fault.c when an atomic needs a single
 * writer, and by dsm_step() for the caller's hints.
 */
#include "engine.h"

bool mode_known(u8 protocol, u8 mode)
{
	return mode == DSM_MODE_WI ||
		(mode == DSM_MODE_MW && protocol != DSM_WI) ||
		(mode == DSM_MODE_SW && protocol == DSM_WUPLUS);
}

/* The page is ours, in O or M. */
void mode_start(struct step *s, u32 page, u8 mode)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_msg m;

	page_set_state(s, page, DSM_OC);
	p->next_mode = mode;
	p->acks = d->live;
	set_del(&p->acks, d->cfg.self);
	if (DSM_KNOB(d, MANY_WRITERS))
		set_clear(&p->acks);
	if (set_empty(&p->acks)) {
		acks_done(s, page);
		return;
	}
	msg_init(s, &m, DSM_MODE, page);
	m.mode = mode;
	msg_cast(s, &m, &p->acks, NULL, 0);
}

void mode_take(struct step *s)
{
	const struct dsm_msg *in = &s->ev->msg;
	struct dsm_page *p = page_at(s->d, in->page);
	struct dsm_msg m;

	if (s->d->cfg.protocol == DSM_WI || state_in(p, STATES_OWNER)) {
		msg_refuse(s);
		return;
	}
	if (in->ver >= p->ver) {
		p->mode = in->mode;
		p->run = 0;
		owner_learn(s->d, in->page, in->src, in->ver);
	}
	/* msg_send() lets pending writes go first. */
	msg_init(s, &m, DSM_MODE_ACK, in->page);
	m.ver = in->ver;
	msg_send(s, &m, in->src, NULL, 0);
}

/* A hint is advice: refused unless the page is ours and at rest. */
void hint_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_event *ev = s->ev;
	struct dsm_page *p = page_at(d, ev->page);

	if (!mode_known(d->cfg.protocol, ev->mode) || p->mode == ev->mode ||
	    !state_in(p, IN(O) | IN(M)) || p->lease || p->pins ||
	    d->recovering) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	mode_start(s, ev->page, ev->mode);
}
