// SPDX-License-Identifier: GPL-2.0
/*
 * A node has died and was fenced, or was born again with nothing; everybody
 * is told, sooner or later.  Four rounds make sure that each page has one
 * owner and its manager knows it:
 *
 *   FLUSH     all to all: these have died; what I sent before this is out;
 *             requests that arrive before it are dropped, their senders
 *             ask again.
 *   HOLD...   to the manager: I hold this page, I own it or not; then
 *   HOLD_END  to all.
 *   TAKE      manager to a holder, if no owner is left: you own it now.
 *   GONE      manager to all, if no holder is left: the page is lost.
 *   OWNED     manager to all, in the other cases: this node owns it.
 *   READY     manager to all: my pages are settled.
 *
 * Who hears of another death begins anew, and what was said in the old round
 * counts no more (membership.c).  Where there are updates, copies may differ,
 * since the dead node's last ones reached some nodes only: all but the owner's
 * are dropped.
 * Called by dsm_step(); long rounds are cut by DSM_ACT_AGAIN.
 */
#include "engine.h"

enum { RECOVER_NO, RECOVER_BURY, RECOVER_FLUSH, RECOVER_HOLD, RECOVER_END,
	RECOVER_ASSIGN, RECOVER_READY };

/* Pages that one step visits at most. */
#define WALK_MAX	4096

static void others_cast(struct step *s, u8 type)
{
	struct dsm *d = s->d;
	struct dsm_set others = d->live;
	u8 body[DSM_BODY_MAX];
	struct dsm_msg m;
	u16 len = 0;

	set_del(&others, d->cfg.self);
	msg_init(s, &m, type, 0);
	if (type == DSM_FLUSH)
		len = view_tell(d, body);
	if (!set_empty(&others))
		msg_cast(s, &m, &others, body, len);
}

/* The next page with the same manager. */
static u64 page_after(const struct dsm *d, u64 page)
{
	u64 next = page + 1;

	return next % d->cfg.chunk ? next :
		next + (u64)(d->cfg.nodes - 1) * d->cfg.chunk;
}

static void walk_begin(struct dsm *d)
{
	d->home = 0;
	d->cursor = 0;
}

/* The pages of the next manager, in the order in which nodes were numbered. */
static void walk_home(struct dsm *d)
{
	d->home++;
	d->cursor = (u64)d->home * d->cfg.chunk;
}

/* Will the walk under way still come to this page? */
bool recover_ahead(const struct dsm *d, u32 page)
{
	u32 home = page / d->cfg.chunk % d->cfg.nodes;

	return home > d->home || (home == d->home && page >= d->cursor);
}

/*
 * Walks all pages, or those that we manage, one manager's after the other's,
 * so that what is said of them goes out in few messages.  False if it had to
 * stop on the way, for want of room or because the caller holds a lock.
 */
static bool pages_walk(struct step *s, bool own,
		       void (*visit)(struct step *, u32))
{
	struct dsm *d = s->d;
	u32 page, n = 0;

	while (d->home < d->cfg.nodes) {
		if (d->cursor >= d->cfg.pages ||
		    (own && dsm_manager(d, d->cursor) != d->cfg.self)) {
			walk_home(d);
			continue;
		}
		if (n++ == WALK_MAX || !step_room(s)) {
			step_again(s);
			return false;
		}
		page = d->cursor;
		d->cursor = page_after(d, page);
		visit(s, page);
	}
	walk_begin(d);
	return true;
}

/* The dead hold no copies, and nobody waits for them. */
static void page_bury(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);

	request_drop_queue(d, page);
	set_minus(&p->copyset, &d->buried);
	if (set_has(&d->buried, p->inv_from))
		p->flags &= ~PAGE_INV;
	p->flags &= ~PAGE_OWNED;
	p->left = 0;
	if (!state_in(p, STATES_OWNER))
		set_clear(&p->acks);
	if (!state_in(p, IN(OI) | IN(OC)))
		return;
	set_minus(&p->acks, &d->buried);
	if (set_empty(&p->acks))
		acks_done(s, page);
}

/*
 * Collections that end with the death may be many: FLUSH goes out when every
 * page has been visited, perhaps steps later.  Nobody can have ended the
 * round before that, so no request is lost in between.
 */
void recover_start(struct step *s)
{
	struct dsm *d = s->d;
	u16 node = s->ev->node, n;
	bool up = s->ev->type == DSM_EV_UP;
	bool join = up && node == d->cfg.self && d->joining;

	if (!join && (node == d->cfg.self ||
		      !view_learn(d, node, s->ev->life, up))) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	if (join)
		d->joining = false;
	if (up && DSM_KNOB(d, NO_ROUND)) {
		d->recovering = RECOVER_NO;
		return;
	}
	d->recovering = RECOVER_BURY;
	d->flushes = d->ends = d->readies = d->live;
	set_for_each(n, &d->live)
		if (view_same(d, n))
			set_del(&d->flushes, n);
	set_del(&d->ends, d->cfg.self);
	set_del(&d->readies, d->cfg.self);
	walk_begin(d);
	recover_again(s);
}

/* A later life: everything is as in a recovery that has not begun yet. */
void recover_join(struct dsm *d)
{
	view_at(d, d->cfg.self)[d->cfg.self] = 2 * d->cfg.life;
	d->joining = true;
	d->recovering = RECOVER_BURY;
}

/*
 * What was kept for a page in flight goes: the dead node's last updates may
 * have reached us and not the owner, and all others are in its copy.
 */
static void page_ask_one(struct step *s, u32 page)
{
	page_at(s->d, page)->flags &= ~(PAGE_ASTRAY | PAGE_POISON);
	flight_drop(s->d, page);
	request_repeat(s, page, DSM_NIL);
	page_kick(s, page);
}

/* Goes as far as what has arrived allows. */
void recover_again(struct step *s)
{
	struct dsm *d = s->d;

	if (d->joining)
		return;
	if (d->recovering == RECOVER_BURY && pages_walk(s, false, page_bury)) {
		set_clear(&d->buried);
		others_cast(s, DSM_FLUSH);
		d->recovering = RECOVER_FLUSH;
	}
	if (d->recovering == RECOVER_FLUSH && set_empty(&d->flushes) &&
	    order_level(s)) {
		clock_forget(d);
		d->recovering = RECOVER_HOLD;
	}
	if (d->recovering == RECOVER_HOLD && pages_walk(s, false, page_report)) {
		others_cast(s, DSM_HOLD_END);
		d->recovering = RECOVER_END;
	}
	if (d->recovering == RECOVER_END && set_empty(&d->ends))
		d->recovering = RECOVER_ASSIGN;
	if (d->recovering == RECOVER_ASSIGN &&
	    pages_walk(s, true, page_assign)) {
		others_cast(s, DSM_READY);
		d->recovering = RECOVER_READY;
	}
	if (d->recovering == RECOVER_READY && set_empty(&d->readies)) {
		d->recovering = RECOVER_NO;
		d->asking = true;
		d->fresh = false;
		order_retry(d);
	}
	if (d->asking && !d->recovering &&
	    pages_walk(s, false, page_ask_one)) {
		d->asking = false;
		cpu_wake_all(s);
	}
}

void recover_msg_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;

	if (m->type == DSM_FLUSH && !view_take(s)) {
		msg_refuse(s);
		return;
	}
	/* Of another round: one of us has not heard of a death yet. */
	if (!d->recovering || !view_same(d, m->src)) {
		if (m->type != DSM_FLUSH)
			msg_refuse(s);
		return;
	}
	if (m->type == DSM_FLUSH)
		set_del(&d->flushes, m->src);
	else if (m->type == DSM_HOLD_END)
		set_del(&d->ends, m->src);
	else if (m->type == DSM_READY)
		set_del(&d->readies, m->src);
	else
		fates_take(s);
	recover_again(s);
}
