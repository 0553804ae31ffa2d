// SPDX-License-Identifier: GPL-2.0
/*
 * What a request brings home: copies, ownership, and the invalidation of
 * all other copies before the first write.  Called by dsm_step() for DATA_*,
 * INV and INV_ACK, and by whoever owns a page and wants it alone.
 */
#include "engine.h"

/* Copies that overtook us so often: fetch the page to write instead. */
#define TRIES_MAX	3

static bool grant_fits(struct dsm *d, const struct dsm_msg *m)
{
	struct dsm_page *p = page_at(d, m->page);

	if (m->node != d->cfg.self || m->tag != p->tag)
		return false;
	if (state_in(p, STATES_FETCH) && !(m->flags & DSM_F_DATA))
		return false;
	switch (m->type) {
	case DSM_DATA_S:
		return state_in(p, STATES_FETCH);
	case DSM_DATA_X:
		return state_in(p, IN(IM) | IN(SM));
	default:
		return state_in(p, IN(IO) | IN(SO));
	}
}

bool dsm_page_awaits(const struct dsm *d, const struct dsm_msg *m)
{
	struct dsm *all = (struct dsm *)d;

	return (m->type == DSM_DATA_S || m->type == DSM_DATA_X ||
		m->type == DSM_DATA_O) && m->page < d->cfg.pages &&
		m->flags & DSM_F_DATA && grant_fits(all, m) &&
		state_in(page_at(all, m->page), STATES_FETCH);
}

/* Splits the body; false if it is not as long as it must be. */
static bool grant_parse(struct step *s, struct dsm_set *copyset,
			const u8 **counts)
{
	struct dsm *d = s->d;
	u16 bits = (d->cfg.nodes + 63) / 64 * 8;
	u16 want = 0;

	set_clear(copyset);
	*counts = s->ev->body;
	if (s->ev->msg.type != DSM_DATA_S)
		want = bits;
	want += update_counts_size(d);
	if (s->ev->len < want ||
	    !probowner_good(d, *counts + want, s->ev->len - want))
		return false;
	probowner_take(d, *counts + want, s->ev->len - want);
	if (s->ev->msg.type == DSM_DATA_S)
		return true;
	memcpy(copyset->word, s->ev->body, bits);
	set_and(copyset, &d->live);
	set_del(copyset, d->cfg.self);
	*counts += bits;
	return true;
}

/* The copy was invalidated before it arrived, or updates were lost. */
static void grant_again(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);
	u16 to = DSM_NIL;

	stats_of(s->d)->retried++;
	p->flags &= ~PAGE_POISON;
	flight_drop(s->d, page);
	/* Requests to write wait in line: nothing overtakes the answer. */
	if (p->state != DSM_IS)
		to = s->ev->msg.src;
	else if (++p->tries > TRIES_MAX)
		page_set_state(s, page, DSM_IM);
	request_repeat(s, page, to);
}

static void grant_install(struct step *s, const u8 *counts)
{
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(s->d, m->page);
	struct dsm_stats *st = stats_of(s->d);

	st->misses++;
	st->misses_two_hops += !m->hops;
	st->owned += m->type != DSM_DATA_S;
	st->owned_two_hops += m->type != DSM_DATA_S && !m->hops;
	if (p->owner == m->src)
		p->flags &= ~PAGE_ASTRAY;
	else
		p->flags |= PAGE_ASTRAY;
	if (m->ver >= p->ver)
		p->mode = m->mode;
	order_ahead(s, m->page, counts);
	p->tries = 0;
	p->run = 0;
	if (!state_in(p, STATES_FETCH))
		return;
	step_act(s, DSM_ACT_INSTALL)->page = m->page;
	flight_apply(s, m->page, m->src, counts);
}

static void copy_take(struct step *s, const u8 *counts)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(d, m->page);
	enum dsm_state before = p->state;

	/* Zero: we are not in line, but may ask as we did. */
	p->mine = m->flags & DSM_F_DIRECTED ? m->ver : 0;
	if ((m->ver < p->inv_ver && !DSM_KNOB(d, OLD_COPY)) ||
	    p->flags & PAGE_POISON) {
		grant_again(s, m->page);
		return;
	}
	grant_install(s, counts);
	if (before == DSM_IS) {
		owner_learn(d, m->page, m->src, m->ver);
		page_set_state(s, m->page, DSM_S);
	} else {
		/* A copy first, see request_serve(). */
		page_set_state(s, m->page,
			       before == DSM_IM ? DSM_SM : DSM_SO);
		request_repeat(s, m->page, m->src);
	}
	page_settle(s, m->page);
}

void grant_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(d, m->page);
	struct dsm_set copyset;
	const u8 *counts;

	if (!grant_fits(d, m) || !grant_parse(s, &copyset, &counts) ||
	    !order_good(s, counts)) {
		msg_refuse(s);
		return;
	}
	if (m->type == DSM_DATA_S) {
		copy_take(s, counts);
		return;
	}
	grant_install(s, counts);
	p->ver = m->ver;
	/* Out of line, DSM_SEAT brings it; perhaps it is here already. */
	if (!(m->ver & 1))
		p->seat = p->seat_for = m->ver;
	if (dsm_manager(d, m->page) != d->cfg.self) {
		p->owner = d->cfg.self;
		probowner_note(d, m->page, m->ver);
	}
	p->flags &= ~PAGE_EVICT;
	p->copyset = copyset;
	if (m->type == DSM_DATA_X) {
		invalidate_start(s, m->page);
		return;
	}
	page_set_state(s, m->page, DSM_O);
	page_settle(s, m->page);
}

static void inv_send(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);
	struct dsm_msg m;

	msg_init(s, &m, DSM_INV, page);
	if (s->d->cfg.serial)
		msg_send(s, &m, set_next(&p->acks, 0), NULL, 0);
	else
		msg_cast(s, &m, &p->acks, NULL, 0);
}

/* We own the page and want no other copy: from O, or with a DATA_X. */
void invalidate_start(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);

	page_set_state(s, page, DSM_OI);
	p->acks = p->copyset;
	set_clear(&p->copyset);
	if (!set_empty(&p->acks))
		inv_send(s, page);
	if (set_empty(&p->acks) || DSM_KNOB(d, NO_ACK)) {
		set_clear(&p->acks);
		acks_done(s, page);
	}
}

void acks_done(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	p->run = 0;
	if (p->state == DSM_OC)
		p->mode = p->next_mode;
	page_set_state(s, page,
		       set_empty(&p->copyset) ? DSM_M : DSM_O);
	page_settle(s, page);
}

/* Our copy is void, if we have one; what was asked for stays so. */
void copy_drop(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	if (p->state == DSM_S)
		page_set_state(s, page, DSM_I);
	else if (p->state == DSM_SM)
		page_set_state(s, page, DSM_IM);
	else if (p->state == DSM_SO)
		page_set_state(s, page, DSM_IO);
}

/* Drop the copy, then say so: no CPU can read it once the ack is out. */
void inv_do(struct step *s, u32 page, u8 from, u64 ver)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_msg m;

	owner_learn(d, page, from, ver);
	if (ver > p->inv_ver)
		p->inv_ver = ver;
	if (!DSM_KNOB(d, STALE_COPY))
		copy_drop(s, page);
	msg_init(s, &m, DSM_INV_ACK, page);
	m.ver = ver;
	msg_send(s, &m, from, NULL, 0);
}

void inv_take(struct step *s)
{
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(s->d, m->page);

	if (state_in(p, STATES_OWNER) || p->flags & PAGE_INV) {
		msg_refuse(s);
		return;
	}
	if (p->lease && !DSM_KNOB(s->d, NO_LEASE)) {
		p->flags |= PAGE_INV;
		p->inv_from = m->src;
		p->inv_pending = m->ver;
		return;
	}
	inv_do(s, m->page, m->src, m->ver);
}

/*
 * One of those who were asked has answered; the last one ends the page's
 * state, which this is for.  True if others have not answered yet.
 */
bool acks_one(struct step *s, enum dsm_state state)
{
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(s->d, m->page);

	if (p->state != state || m->ver != p->ver ||
	    !set_has(&p->acks, m->src)) {
		msg_refuse(s);
		return false;
	}
	set_del(&p->acks, m->src);
	if (!set_empty(&p->acks))
		return true;
	acks_done(s, m->page);
	return false;
}

void inv_ack_take(struct step *s)
{
	if (acks_one(s, DSM_OI) && s->d->cfg.serial)
		inv_send(s, s->ev->msg.page);
}
