// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on their way to the owner, waiting there until the page may
 * leave, and the answer.
 *
 * The manager gives out the seats of one line per page: even numbers, one
 * for each request for ownership that reaches it. It sends the request to
 * the node with the seat before, which owns the page or will, and keeps the
 * request until then. No request chases the page, everybody's turn comes.
 *
 * All requests try the probable owner first, which saves a hop when it is
 * right; a wrong one passes them to the manager.  handoff.c has what an owner
 * may do for an asker that is not in line.
 */
#include "engine.h"

/* Times that a read is passed on before the manager fetches the page. */
#define HOPS_MAX	2

/* A better guess at the owner. The manager does not guess. */
void owner_learn(struct dsm *d, u32 page, u8 owner, u64 ver)
{
	struct dsm_page *p = page_at(d, page);

	if (state_in(p, STATES_OWNER) || ver < p->ver)
		return;
	p->ver = ver;
	if (dsm_manager(d, page) == d->cfg.self ||
	    ver < p->guess)
		return;
	p->flags &= ~PAGE_ASTRAY;
	if (p->owner != owner || p->guess != ver) {
		p->owner = owner;
		probowner_note(d, page, ver);
	}
}

static bool is_manager(struct dsm *d, u32 page)
{
	return dsm_manager(d, page) == d->cfg.self;
}

/* The manager's part: who is to answer, and with which number. */
static u16 request_direct(struct dsm *d, struct dsm_msg *m)
{
	struct dsm_page *p = page_at(d, m->page);
	u16 to = p->owner;

	m->flags |= DSM_F_DIRECTED;
	if (m->type == DSM_GET_S)
		return to;
	p->ticket += 2;
	m->ver = p->ticket;
	p->owner = m->node;
	probowner_note(d, m->page, p->ticket);
	return to;
}

static void hop_count(struct dsm_msg *m)
{
	if (m->hops < 255)
		m->hops++;
}

static u16 owner_guess(struct dsm *d, u32 page)
{
	u16 owner = page_at(d, page)->owner;

	if (owner != d->cfg.self && set_has(&d->live, owner))
		return owner;
	return dsm_manager(d, page);
}

static u16 request_first(struct dsm *d, struct dsm_msg *m)
{
	struct dsm_page *p = page_at(d, m->page);

	if (is_manager(d, m->page))
		return request_direct(d, m);
	if (d->cfg.no_hints || p->flags & PAGE_ASTRAY)
		return dsm_manager(d, m->page);
	return owner_guess(d, m->page);
}

/*
 * May this node ask for one more page?  A request waits in one place at most,
 * so its pool holds all that others may have under way.  What a manager asks
 * for on behalf of another's read needs no room of its own: elsewhere it
 * stands for that read, which waits with the manager.
 */
bool request_room(const struct dsm *d)
{
	return d->asked < d->cfg.requests / d->cfg.nodes;
}

static void request_send_to(struct step *s, u32 page, u8 type, u16 to)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_msg m;

	msg_init(s, &m, type, page);
	p->tag = tag_next(d, p->tag);
	m.tag = p->tag;
	if (state_in(p, IN(SM) | IN(SO)))
		m.flags |= DSM_F_HAVE;
	/* recover_again() sends it; twice, and the first answer fits nothing. */
	if (d->recovering || (d->asking && recover_ahead(d, page)))
		return;
	if (to == DSM_NIL) {
		to = request_first(d, &m);
	} else if (p->mine) {
		m.flags |= DSM_F_DIRECTED;
		m.ver = p->mine;
	}
	if (to == d->cfg.self) {
		msg_refuse(s);
		return;
	}
	msg_send(s, &m, to, NULL, 0);
}

void request_send(struct step *s, u32 page, enum dsm_msg_type type)
{
	request_send_to(s, page, type, DSM_NIL);
}

/*
 * The same question again, as the page's state has it; straight to the
 * owner that has answered with a copy only, else the usual way.
 */
void request_repeat(struct step *s, u32 page, u16 to)
{
	switch (page_at(s->d, page)->state) {
	case DSM_IS:
		request_send_to(s, page, DSM_GET_S, to);
		break;
	case DSM_IM:
	case DSM_SM:
		request_send_to(s, page, DSM_GET_X, to);
		break;
	case DSM_IO:
	case DSM_SO:
		request_send_to(s, page, DSM_GET_O, to);
		break;
	}
}

static void request_defer(struct step *s, const struct dsm_msg *m)
{
	struct dsm_pool pool = request_pool(s->d);
	u16 i = queue_add(&page_at(s->d, m->page)->requests, &pool);

	if (i == DSM_NIL)
		msg_refuse(s);
	else
		request_at(s->d, i)->msg = *m;
}

void request_drop_queue(struct dsm *d, u32 page)
{
	struct dsm_pool pool = request_pool(d);

	queue_clear(&page_at(d, page)->requests, &pool);
}

/* Copyset, the counts that tell which updates the page includes, owners. */
static u16 grant_body(struct dsm *d, const struct dsm_set *copyset,
		      u8 type, u16 to, u8 *body)
{
	u16 len = 0;

	if (type != DSM_DATA_S) {
		len = (d->cfg.nodes + 63) / 64 * 8;
		memcpy(body, copyset->word, len);
	}
	len += update_counts(d, body + len);
	return len + probowner_tell(d, to, body + len);
}

static void grant_send(struct step *s, const struct dsm_msg *req, u8 type,
		       const struct dsm_set *copyset, bool data)
{
	u8 body[DSM_BODY_MAX];
	struct dsm_msg m;
	u16 len;

	/* Before the counts are read: they include what leaves now. */
	if (!DSM_KNOB(s->d, NO_FLUSH))
		update_flush(s);
	msg_init(s, &m, type, req->page);
	m.node = req->node;
	m.tag = req->tag;
	m.hops = req->hops;
	/* Who is in line for more than a copy learns its seat. */
	if (type == DSM_DATA_S && req->type != DSM_GET_S &&
	    req->flags & DSM_F_DIRECTED) {
		m.flags |= DSM_F_DIRECTED;
		m.ver = req->ver;
	}
	if (data)
		m.flags |= DSM_F_DATA;
	len = grant_body(s->d, copyset, type, req->node, body);
	msg_send(s, &m, req->node, body, len);
}

/* The page moves to req->node; who else keeps a copy depends on type. */
static void owner_give(struct step *s, const struct dsm_msg *req, u8 type)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, req->page);
	struct dsm_set copyset = p->copyset;
	bool data = !(set_has(&copyset, req->node) &&
		      req->flags & DSM_F_HAVE);
	bool in_line = req->flags & DSM_F_DIRECTED;

	set_del(&copyset, req->node);
	set_clear(&p->copyset);
	/* No CPU may write once the page's bytes are read. */
	page_set_state(s, req->page, type == DSM_DATA_X ? DSM_I : DSM_S);
	if (type == DSM_DATA_O)
		set_add(&copyset, d->cfg.self);
	p->ver = in_line ? req->ver : p->seat + 1;
	if (!is_manager(d, req->page)) {
		p->owner = req->node;
		probowner_note(d, req->page, p->ver);
	}
	p->run = 0;
	grant_send(s, req, type, &copyset, data);
	if (!in_line)
		handoff_tell(s, req->page, req->node);
}

static void copy_give(struct step *s, const struct dsm_msg *req)
{
	struct dsm_page *p = page_at(s->d, req->page);

	page_set_state(s, req->page, DSM_O);
	p->run = 0;
	set_add(&p->copyset, req->node);
	grant_send(s, req, DSM_DATA_S, &p->copyset, true);
}

/*
 * Where updates are merged, ownership moves only to a node that has a copy
 * already: a copy can be fetched again if the updates that it lacks did not fit
 * in the receiver's pool, ownership cannot.  Who has none gets a copy first.
 * What a log holds (order.c) always suffices.
 */
static void request_serve(struct step *s, const struct dsm_msg *m)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, m->page);
	bool have = m->flags & DSM_F_HAVE && set_has(&p->copyset, m->node);

	if (m->type == DSM_GET_S ||
	    (merge_used(d) && p->mode != DSM_MODE_WI && !have))
		copy_give(s, m);
	else if (m->type == DSM_GET_X)
		owner_give(s, m, DSM_DATA_X);
	else
		owner_give(s, m, DSM_DATA_O);
}

/* Not now: it stays until something changes. */
static bool request_must_wait(struct dsm *d, const struct dsm_msg *m)
{
	struct dsm_page *p = page_at(d, m->page);

	if (state_in(p, IN(OI) | IN(OC)))
		return true;
	if (state_in(p, STATES_OWNER))
		return (p->lease && !DSM_KNOB(d, NO_LEASE)) || p->pins;
	/* It was sent here because the page will come here. */
	return m->flags & DSM_F_DIRECTED &&
		(state_in(p, IN(IM) | IN(SM) | IN(IO) | IN(SO)) ||
		 (is_manager(d, m->page) && p->state == DSM_IS));
}

/*
 * A read that was sent to where the page had been given away out of line.
 * It follows the page for a while; then the manager gets in line for it.
 */
static void read_astray(struct step *s, const struct dsm_msg *m)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, m->page);

	if (is_manager(d, m->page)) {
		page_set_state(s, m->page,
			       p->state == DSM_S ? DSM_SO : DSM_IO);
		request_send(s, m->page, DSM_GET_O);
		request_defer(s, m);
		return;
	}
	msg_send(s, m, m->hops > HOPS_MAX ? dsm_manager(d, m->page) :
		 owner_guess(d, m->page), NULL, 0);
}

/* Serve it, or send it to where it can be served. */
static void request_route(struct step *s, struct dsm_msg m)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, m.page);

	if (state_in(p, IN(O) | IN(M)) && (m.type == DSM_GET_S ||
					   m.flags & DSM_F_DIRECTED ||
					   handoff_allowed(p) ||
					   DSM_KNOB(d, NO_SEAT))) {
		request_serve(s, &m);
		return;
	}
	hop_count(&m);
	if (!(m.flags & DSM_F_DIRECTED))
		msg_send(s, &m, dsm_manager(d, m.page), NULL, 0);
	else if (m.type == DSM_GET_S)
		read_astray(s, &m);
	else
		msg_refuse(s);
}

/* Not yet seen by us, who are the manager: it gets its place in line. */
static bool request_new(struct dsm *d, const struct dsm_msg *m)
{
	return is_manager(d, m->page) && !(m->flags & DSM_F_DIRECTED);
}

static void request_arrange(struct step *s, struct dsm_msg m)
{
	struct dsm *d = s->d;
	u16 to = d->cfg.self;

	if (request_new(d, &m))
		to = request_direct(d, &m);
	if (to != d->cfg.self) {
		hop_count(&m);
		msg_send(s, &m, to, NULL, 0);
	} else if (request_must_wait(d, &m) ||
		   page_at(d, m.page)->requests.first != DSM_NIL) {
		request_defer(s, &m);
	} else {
		request_route(s, m);
	}
}

/* Our heir has that seat, even if the request is our own. */
static void request_pass(struct step *s, struct dsm_msg m)
{
	hop_count(&m);
	msg_send(s, &m, page_at(s->d, m.page)->heir, NULL, 0);
}

/*
 * Our own request comes back: the manager takes us for the last in line, as
 * it has not heard yet that we gave the page away.  A read goes after it; a
 * manager gets in line instead.
 */
static void request_own(struct step *s, const struct dsm_msg *in)
{
	struct dsm_msg m = *in;

	if (page_at(s->d, m.page)->state != DSM_IS || m.type != DSM_GET_S ||
	    !(m.flags & DSM_F_DIRECTED)) {
		msg_refuse(s);
	} else if (is_manager(s->d, m.page)) {
		page_set_state(s, m.page, DSM_IO);
		request_send(s, m.page, DSM_GET_O);
	} else {
		hop_count(&m);
		read_astray(s, &m);
	}
}

void request_take(struct step *s, const struct dsm_msg *m)
{
	struct dsm *d = s->d;

	if (!set_has(&d->live, m->node)) {
		msg_refuse(s);
	} else if (d->recovering) {
		/* From before the death: asked again when it is over. */
		if (!set_has(&d->flushes, m->src) && m->node != d->cfg.self)
			request_defer(s, m);
	} else if (handoff_passes(page_at(d, m->page), m)) {
		request_pass(s, *m);
	} else if (m->node == d->cfg.self) {
		request_own(s, m);
	} else {
		request_arrange(s, *m);
		evict_finish(s, m->page);
	}
}

void request_serve_queue(struct step *s, u32 page)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_pool pool = request_pool(d);
	struct dsm_msg m;

	while (p->requests.first != DSM_NIL && !d->recovering) {
		m = request_at(d, p->requests.first)->msg;
		if (!handoff_passes(p, &m) && !request_new(d, &m) &&
		    request_must_wait(d, &m))
			return;
		if (!step_room(s)) {
			page_later(s, page);
			return;
		}
		queue_drop(&p->requests, &pool);
		if (handoff_passes(p, &m))
			request_pass(s, m);
		else if (request_new(d, &m))
			request_arrange(s, m);
		else
			request_route(s, m);
	}
}
