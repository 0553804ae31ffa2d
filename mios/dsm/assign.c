// SPDX-License-Identifier: GPL-2.0
/*
 * Who owns what after a death: every node reports the pages that it holds to
 * their manager, which names an owner or says that the page is lost.  Many
 * pages go into one message: recovery walks all of them, one manager's after
 * the other's, and what it says is appended to the last message of the same
 * kind to the same nodes.
 * Called by recovery.c.
 */
#include "engine.h"

/* Records in one message, at most; a step must have room for what follows. */
#define FATES_MAX	64

/* Messages that are looked at for room, newest first. */
#define FATES_OPEN	4

static u16 holders_size(const struct dsm *d)
{
	return (d->cfg.nodes + 63) / 64 * 8;
}

/* What one record takes; TAKE says as well who else holds the page. */
static u16 fate_size(const struct dsm *d, u8 type)
{
	return sizeof(struct dsm_fate) +
		(type == DSM_TAKE ? holders_size(d) : 0);
}

static u16 fates_room(const struct dsm *d, u8 type)
{
	u16 fit = DSM_BODY_MAX / fate_size(d, type);

	return (fit < FATES_MAX ? fit : FATES_MAX) * fate_size(d, type);
}

/* The message of this step that has room for another record, or a new one. */
static struct dsm_action *fate_open(struct step *s, u8 type,
				    const struct dsm_set *to)
{
	u16 room = fates_room(s->d, type);
	struct dsm_action *a;
	struct dsm_msg m;

	for (u32 i = 1; i <= FATES_OPEN && i <= s->out->count; i++) {
		a = &s->out->act[s->out->count - i];
		if (a->type == DSM_ACT_SEND && a->msg.type == type &&
		    !memcmp(&a->to, to, sizeof(*to)) &&
		    a->len + fate_size(s->d, type) <= room)
			return a;
	}
	if (s->out->used + room > sizeof(s->out->body)) {
		s->out->full = true;
		return NULL;
	}
	msg_init(s, &m, type, 0);
	msg_cast(s, &m, to, NULL, 0);
	a = &s->out->act[s->out->count - 1];
	a->body = s->out->used;
	s->out->used += room;
	return a;
}

static void fate_say(struct step *s, u8 type, const struct dsm_set *to,
		     const struct dsm_fate *f, const struct dsm_set *holders)
{
	struct dsm_action *a = fate_open(s, type, to);
	u16 n;

	if (!a)
		return;
	memcpy(s->out->body + a->body + a->len, f, sizeof(*f));
	if (holders)
		memcpy(s->out->body + a->body + a->len + sizeof(*f),
		       holders->word, holders_size(s->d));
	a->len += fate_size(s->d, type);
	set_for_each(n, to)
		stats_of(s->d)->bytes[type] += fate_size(s->d, type);
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

void page_report(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	u16 manager = dsm_manager(d, page);
	struct dsm_fate f = { .page = page, .owner = DSM_NOBODY,
			      .ver = p->ver };
	struct dsm_set to;

	p->inv_ver = 0;
	order_caught_up(s, page);
	if (!state_in(p, STATES_COPY))
		return;
	if (manager == d->cfg.self) {
		hold_note(d, page, manager, false, p->ver);
		return;
	}
	if (state_in(p, STATES_OWNER))
		f.owner = d->cfg.self;
	set_clear(&to);
	set_add(&to, manager);
	fate_say(s, DSM_HOLD, &to, &f, NULL);
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
	if (merge_used(s->d))
		copy_drop(s, page);
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
	struct dsm_fate f = { .page = page, .owner = owner, .ver = p->ver };
	struct dsm_set others = d->live, heir;

	set_del(&others, d->cfg.self);
	if (type == DSM_OWNED && owner != d->cfg.self &&
	    !(p->flags & PAGE_OWNED)) {
		set_clear(&heir);
		set_add(&heir, owner);
		set_del(&others, owner);
		fate_say(s, DSM_TAKE, &heir, &f, &p->acks);
	}
	if (!set_empty(&others))
		fate_say(s, type, &others, &f, NULL);
}

/* The manager decides for one of its pages. */
void page_assign(struct step *s, u32 page)
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

/* One record; false if its sender may not say so. */
static bool fate_take(struct step *s, const struct dsm_fate *f,
		      const struct dsm_set *holders)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_page *p;

	if (f->page >= d->cfg.pages)
		return false;
	p = page_at(d, f->page);
	if (m->type == DSM_HOLD) {
		if (dsm_manager(d, f->page) != d->cfg.self)
			return false;
		hold_note(d, f->page, m->src, f->owner == m->src, f->ver);
		return true;
	}
	if (dsm_manager(d, f->page) != m->src || f->owner >= d->cfg.nodes)
		return false;
	/* A second TAKE, or nothing that concerns an owner. */
	if (state_in(p, STATES_OWNER) &&
	    (m->type != DSM_OWNED || f->owner != d->cfg.self))
		return true;
	if (m->type == DSM_GONE) {
		page_gone(s, f->page);
	} else if (m->type == DSM_OWNED) {
		page_owned(s, f->page, f->owner, f->ver);
	} else {
		if (!state_in(p, STATES_COPY))
			return false;
		page_take(s, f->page, f->ver, holders);
		/* As for one that owned it before. */
		page_owned(s, f->page, d->cfg.self, f->ver);
	}
	return true;
}

void fates_take(struct step *s)
{
	struct dsm *d = s->d;
	const u8 *body = s->ev->body;
	u8 type = s->ev->msg.type;
	u16 size = fate_size(d, type);
	struct dsm_set holders;
	struct dsm_fate f;

	if (!s->ev->len || s->ev->len % size ||
	    s->ev->len > fates_room(d, type)) {
		msg_refuse(s);
		return;
	}
	set_clear(&holders);
	for (u16 at = 0; at < s->ev->len; at += size) {
		memcpy(&f, body + at, sizeof(f));
		if (type == DSM_TAKE)
			memcpy(holders.word, body + at + sizeof(f),
			       holders_size(d));
		if (!fate_take(s, &f, &holders))
			msg_refuse(s);
	}
}
