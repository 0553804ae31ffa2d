// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the mode of a page.  Only its owner does, and all nodes agree
 * before the owner goes on: a node acknowledges once the writes it made
 * under the old mode have left it, so the owner has them all when the last
 * acknowledgement is in.  Called by fault.c when an atomic needs a single
 * writer, and by dsm_step() for the caller's hints.
 */
#include "engine.h"

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

	if (state_in(p, STATES_OWNER)) {
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

void mode_ack_take(struct step *s)
{
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(s->d, m->page);

	if (p->state != DSM_OC || m->ver != p->ver ||
	    !set_has(&p->acks, m->src)) {
		msg_refuse(s);
		return;
	}
	set_del(&p->acks, m->src);
	if (set_empty(&p->acks))
		acks_done(s, m->page);
}

/* A hint is advice: refused unless the page is ours and at rest. */
void hint_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_event *ev = s->ev;
	struct dsm_page *p = page_at(d, ev->page);
	bool known = ev->mode == DSM_MODE_WI ||
		(ev->mode == DSM_MODE_MW && d->cfg.protocol != DSM_WI) ||
		(ev->mode == DSM_MODE_SW && d->cfg.protocol == DSM_WUPLUS);

	if (!known || !state_in(p, IN(O) | IN(M)) || p->lease || p->pins ||
	    p->mode == ev->mode || d->recovering) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	mode_start(s, ev->page, ev->mode);
}
