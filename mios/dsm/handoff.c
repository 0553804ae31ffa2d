// SPDX-License-Identifier: GPL-2.0
/*
 * Handoffs: pages given away out of line.  An owner with a seat may give the
 * page to somebody who guessed right, once: it tells the manager (GAVE), which
 * makes it the asker's turn in line (SEAT), unless somebody has been sent to
 * the giver by then; the giver passes him on to its heir.  Without a seat
 * nobody gives out of line, so he is the next.  Called by request.c, and by
 * dsm_step() for GAVE and SEAT.
 */
#include "engine.h"

/* An owner in line may give the page away without asking the manager. */
bool handoff_allowed(const struct dsm_page *p)
{
	return p->seat_for == p->ver;
}

/*
 * The page has gone to an asker that is not in line.  Who has been sent to
 * us meanwhile, or still will be, follows it.
 */
void handoff_tell(struct step *s, u32 page, u8 heir)
{
	struct dsm_page *p = page_at(s->d, page);
	struct dsm_msg m;

	p->left = p->seat + 2;
	p->heir = heir;
	msg_init(s, &m, DSM_GAVE, page);
	m.node = heir;
	msg_send(s, &m, dsm_manager(s->d, page), NULL, 0);
}

/* At the manager: the giver's seat was the last, or its heir needs none. */
void gave_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *in = &s->ev->msg;
	struct dsm_page *p = page_at(d, in->page);
	struct dsm_msg m;

	if (dsm_manager(d, in->page) != d->cfg.self ||
	    in->node == d->cfg.self || !set_has(&d->live, in->node)) {
		msg_refuse(s);
		return;
	}
	if (d->recovering || in->ver != p->ticket + 1 ||
	    in->src != p->owner)
		return;
	p->ticket += 2;
	p->owner = in->node;
	probowner_note(d, in->page, p->ticket);
	msg_init(s, &m, DSM_SEAT, in->page);
	m.ver = p->ticket;
	msg_send(s, &m, in->node, NULL, 0);
}

/* The page that this is for may still be on its way here. */
void seat_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(d, m->page);

	if (m->src != dsm_manager(d, m->page)) {
		msg_refuse(s);
		return;
	}
	p->seat = m->ver;
	/* The number between the giver's seat and this one. */
	p->seat_for = m->ver - 1;
}

/* Sent to us because of a seat that we have left? */
bool handoff_passes(const struct dsm_page *p, const struct dsm_msg *m)
{
	return m->type != DSM_GET_S && m->flags & DSM_F_DIRECTED &&
		p->left && m->ver == p->left;
}
