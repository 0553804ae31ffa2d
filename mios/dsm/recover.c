// SPDX-License-Identifier: GPL-2.0
/*
 * A node has died and was fenced; every survivor is told, sooner or later.
 * Four rounds make sure that each page has one owner again:
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
 * counts no more (member.c).  Where there are updates, copies may differ, since the dead node's last
 * ones reached some nodes only: all but the owner's are dropped.
 * Called by dsm_step(); long rounds are cut by DSM_ACT_AGAIN.
 */
#include "engine.h"

enum { RECOVER_NO, RECOVER_BURY, RECOVER_FLUSH, RECOVER_HOLD, RECOVER_END,
	RECOVER_ASSIGN, RECOVER_READY, RECOVER_ASK };

/* Pages that one step visits at most. */
#define WALK_MAX	4096

static void others_cast(struct step *s, u8 type, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_set others = d->live;
	const void *body = NULL;
	struct dsm_msg m;
	u16 len = 0;

	set_del(&others, d->cfg.self);
	msg_init(s, &m, type, page);
	if (type == DSM_FLUSH)
		len = view_tell(d, &body);
	if (!set_empty(&others))
		msg_cast(s, &m, &others, body, len);
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

	if (node == d->cfg.self || !set_has(&d->live, node)) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	view_bury(d, node);
	clock_bury(d);
	set_add(&d->buried, node);
	d->recovering = RECOVER_BURY;
	d->flushes = d->ends = d->readies = d->live;
	set_for_each(n, &d->live)
		if (view_same(d, n))
			set_del(&d->flushes, n);
	set_del(&d->ends, d->cfg.self);
	set_del(&d->readies, d->cfg.self);
	d->cursor = 0;
	recover_again(s);
}

/* Updates from before the death are all in: no number so old can follow. */
static void merge_forget(struct dsm *d)
{
	if (d->cfg.protocol == DSM_WI)
		return;
	/* The heads of chains lead to slots that have no number any more. */
	memset(slot_at(d, 0), 0, d->cfg.window * sizeof(struct dsm_slot));
}

/*
 * What the manager keeps of a report, in fields that only an owner uses:
 * the holders in acks; the owner, if there is one, where it always is.
 */
static void hold_note(struct dsm *d, u32 page, u16 node, bool owner, u64 ver)
{
	struct dsm_page *p = page_at(d, page);

	if (state_in(p, STATES_OWNER))
		return;
	if (owner) {
		p->owner = node;
		p->flags |= PAGE_OWNED;
	}
	if (ver > p->ver)
		p->ver = ver;
	set_add(&p->acks, node);
}

static void page_report(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	u16 manager = dsm_manager(d, page);
	struct dsm_msg m;

	p->inv_ver = 0;
	if (!state_in(p, STATES_COPY))
		return;
	if (manager == d->cfg.self) {
		hold_note(d, page, manager, false, p->ver);
		return;
	}
	msg_init(s, &m, DSM_HOLD, page);
	if (state_in(p, STATES_OWNER))
		m.flags |= DSM_F_OWNER;
	msg_send(s, &m, manager, NULL, 0);
}

/* Takes the page over; called for ourselves as for a TAKE. */
static void page_take(struct step *s, u32 page, u64 ver,
		      const struct dsm_set *holders)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);

	p->ver = ver;
	p->owner = d->cfg.self;
	p->copyset = *holders;
	set_and(&p->copyset, &d->live);
	set_del(&p->copyset, d->cfg.self);
	page_set_state(s, page, DSM_O);
}

/*
 * Somebody owns it, perhaps we.  If not, our copy stays only if no update can have reached
 * one of us alone.  The page's mode does not tell: it may have changed since.
 */
static void page_owned(struct step *s, u32 page, u16 owner, u64 ver)
{
	struct dsm_page *p = page_at(s->d, page);

	if (state_in(p, STATES_OWNER)) {
		/* A new line, its numbers above those of the old one. */
		p->seat = (ver | 1) + 1;
		p->seat_for = p->ver;
		return;
	}
	p->owner = owner;
	p->guess = p->ver = ver;
	if (s->d->cfg.protocol == DSM_WI)
		return;
	if (p->state == DSM_S)
		page_set_state(s, page, DSM_I);
	else if (p->state == DSM_SM)
		page_set_state(s, page, DSM_IM);
	else if (p->state == DSM_SO)
		page_set_state(s, page, DSM_IO);
}

static void page_gone(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	if (p->flags & PAGE_LOST)
		return;
	p->flags |= PAGE_LOST;
	page_set_state(s, page, DSM_I);
	step_act(s, DSM_ACT_LOST)->page = page;
	page_settle(s, page);
}

static void assign_tell(struct step *s, u32 page, u8 type, u16 owner)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_set others = d->live;
	struct dsm_msg m;

	set_del(&others, d->cfg.self);
	msg_init(s, &m, type, page);
	m.owner = owner;
	if (type == DSM_OWNED && owner != d->cfg.self &&
	    !(p->flags & PAGE_OWNED)) {
		m.type = DSM_TAKE;
		msg_send(s, &m, owner, p->acks.word, sizeof(p->acks.word));
		m.type = DSM_OWNED;
	}
	if (!set_empty(&others))
		msg_cast(s, &m, &others, NULL, 0);
}

/* The manager decides for one of its pages. */
static void page_assign(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	u16 heir;

	/* Who decided so may have died before all had heard it. */
	if (p->flags & PAGE_LOST) {
		assign_tell(s, page, DSM_GONE, d->cfg.self);
		return;
	}
	/* A peer may have sent an INV since we wrote down our copy. */
	if (!state_in(p, STATES_COPY))
		set_del(&p->acks, d->cfg.self);
	heir = set_next(&p->acks, 0);
	if (!(p->flags & PAGE_OWNED) && !state_in(p, STATES_OWNER))
		p->ver = (p->ver | 1) + 1;
	p->ticket = (p->ver | 1) + 1;
	if (state_in(p, STATES_OWNER)) {
		p->owner = d->cfg.self;
		assign_tell(s, page, DSM_OWNED, d->cfg.self);
		return;
	}
	if (p->flags & PAGE_OWNED)
		heir = p->owner;
	if (heir >= DSM_NODES_MAX && DSM_KNOB(d, NO_LOSS))
		heir = d->cfg.self;
	if (heir >= DSM_NODES_MAX) {
		assign_tell(s, page, DSM_GONE, d->cfg.self);
		page_gone(s, page);
		return;
	}
	assign_tell(s, page, DSM_OWNED, heir);
	if (heir == d->cfg.self)
		page_take(s, page, p->ver, &p->acks);
	else
		page_owned(s, page, heir, p->ver);
	p->flags &= ~PAGE_OWNED;
}

/*
 * Walks all pages from the cursor; false if it had to stop on the way, for
 * want of room or because the caller holds a lock meanwhile.
 */
static bool pages_walk(struct step *s, void (*visit)(struct step *, u32))
{
	struct dsm *d = s->d;

	for (u32 n = 0; d->cursor < d->cfg.pages; n++) {
		if (n == WALK_MAX || !step_room(s)) {
			step_again(s);
			return false;
		}
		visit(s, d->cursor++);
	}
	d->cursor = 0;
	return true;
}

static void page_report_one(struct step *s, u32 page)
{
	page_report(s, page);
}

static void page_assign_one(struct step *s, u32 page)
{
	if (dsm_manager(s->d, page) == s->d->cfg.self)
		page_assign(s, page);
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
	page_settle(s, page);
}

/* Goes as far as what has arrived allows. */
void recover_again(struct step *s)
{
	struct dsm *d = s->d;

	if (d->recovering == RECOVER_BURY && pages_walk(s, page_bury)) {
		set_clear(&d->buried);
		others_cast(s, DSM_FLUSH, 0);
		d->recovering = RECOVER_FLUSH;
	}
	if (d->recovering == RECOVER_FLUSH && set_empty(&d->flushes)) {
		merge_forget(d);
		d->recovering = RECOVER_HOLD;
	}
	if (d->recovering == RECOVER_HOLD && pages_walk(s, page_report_one)) {
		others_cast(s, DSM_HOLD_END, 0);
		d->recovering = RECOVER_END;
	}
	if (d->recovering == RECOVER_END && set_empty(&d->ends))
		d->recovering = RECOVER_ASSIGN;
	if (d->recovering == RECOVER_ASSIGN &&
	    pages_walk(s, page_assign_one)) {
		others_cast(s, DSM_READY, 0);
		d->recovering = RECOVER_READY;
	}
	if (d->recovering == RECOVER_READY && set_empty(&d->readies)) {
		d->recovering = RECOVER_NO;
		d->asking = true;
	}
	if (d->asking && !d->recovering && pages_walk(s, page_ask_one))
		d->asking = false;
}

void recover_msg_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p = page_at(d, m->page);
	struct dsm_set holders;
	bool manager = m->src == dsm_manager(d, m->page);

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
	if (m->type == DSM_FLUSH) {
		set_del(&d->flushes, m->src);
	} else if (m->type == DSM_HOLD_END) {
		set_del(&d->ends, m->src);
	} else if (m->type == DSM_READY) {
		set_del(&d->readies, m->src);
	} else if (m->type == DSM_HOLD) {
		hold_note(d, m->page, m->src, m->flags & DSM_F_OWNER, m->ver);
	} else if (!manager) {
		msg_refuse(s);
	} else if (state_in(p, STATES_OWNER) &&
		   (m->type != DSM_OWNED || m->owner != d->cfg.self)) {
		/* A second TAKE, or nothing that concerns an owner. */
	} else if (m->type == DSM_GONE) {
		page_gone(s, m->page);
	} else if (m->type == DSM_OWNED) {
		page_owned(s, m->page, m->owner, m->ver);
	} else if (!state_in(p, STATES_COPY) ||
		   s->ev->len != sizeof(holders.word)) {
		msg_refuse(s);
	} else {
		memcpy(holders.word, s->ev->body, sizeof(holders.word));
		page_take(s, m->page, m->ver, &holders);
	}
	recover_again(s);
}
