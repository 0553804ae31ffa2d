// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's frame: laying out its memory, taking one event at a time and
 * writing down actions.  dsm_step() is the only way in that changes
 * anything.  No lock: the caller serialises the calls on one engine.
 */
#include "engine.h"

u16 dsm_manager(const struct dsm *d, u32 page)
{
	u16 n = page / d->cfg.chunk % d->cfg.nodes;

	/* The next live node stands in for a dead one. */
	while (!set_has(&d->live, n))
		n = (n + 1) % d->cfg.nodes;
	return n;
}

enum dsm_order dsm_needs(enum dsm_protocol protocol)
{
	return protocol == DSM_WI ? DSM_ORDER_FIFO : DSM_ORDER_CAUSAL;
}

static bool config_good(const struct dsm_config *c)
{
	return c->nodes >= 1 && c->nodes <= DSM_NODES_MAX &&
		c->self < c->nodes && c->life < DSM_LIFE_MAX &&
		(!c->life || c->nodes > 1) && c->cpus >= 1 &&
		c->cpus <= DSM_CPUS_MAX && c->protocol < DSM_PROTOCOLS &&
		c->order <= DSM_ORDER_TOTAL &&
		mode_known(c->protocol, c->mode) &&
		c->pages >= 1 && c->pages < DSM_NO_PAGE && c->chunk >= 1 &&
		c->requests >= c->nodes && c->requests < DSM_NIL && c->inflight < DSM_NIL &&
		c->probowners <= DSM_PROBOWNER_MAX &&
		c->batch >= 1 && c->batch <= DSM_BATCH_MAX &&
		c->window >= 2 && c->window <= 1u << 24 &&
		/* Else the first writer waits for a number that never comes. */
		(c->protocol == DSM_WI || c->window >= 2u * c->nodes) &&
		/* All that the log knows of a page must fit into one step. */
		(c->protocol != DSM_WUSEQ ||
		 (c->window >= 8 && c->window <= ORDER_LOG_MAX)) &&
		!(c->window & (c->window - 1));
}

/* Fills in the offsets; all parts are multiples of eight bytes. */
static u64 layout(struct dsm *d, const struct dsm_config *c)
{
	u64 at = (sizeof(*d) + 7) & ~7ULL;

	d->off_cpu = at;
	at += (u64)c->cpus * sizeof(struct dsm_cpu);
	d->off_node = at;
	at += (u64)c->nodes * sizeof(struct dsm_node);
	d->off_request = at;
	at += ((u64)c->requests * sizeof(struct dsm_request) + 7) & ~7ULL;
	d->off_flight = at;
	at += (u64)c->inflight * sizeof(struct dsm_flight);
	d->off_batch = at;
	at += ((u64)c->batch * sizeof(struct dsm_write) + 7) & ~7ULL;
	d->off_slot = at;
	d->off_head = at;
	if (c->protocol == DSM_WU || c->protocol == DSM_WUPLUS) {
		at += (u64)c->window * sizeof(struct dsm_slot);
		d->off_head = at;
		at += (u64)c->window * sizeof(u64);
	}
	d->off_log = at;
	if (c->protocol == DSM_WUSEQ)
		at += (u64)c->window * sizeof(struct dsm_write);
	d->off_probowner = at;
	if (c->probowners)
		at += DSM_PROBOWNER_RING * sizeof(u32);
	d->off_view = at;
	at += ((u64)c->nodes * c->nodes * sizeof(u32) + 7) & ~7ULL;
	d->off_page = at;
	at += (u64)c->pages * sizeof(struct dsm_page);
	d->off_stats = at;
	at += sizeof(struct dsm_stats);
	d->size = at;
	return at;
}

size_t dsm_size(const struct dsm_config *cfg)
{
	struct dsm d;
	u64 size;

	if (!config_good(cfg))
		return 0;
	size = layout(&d, cfg);
	/* Where addresses have 32 bits it may be too much. */
	return size == (size_t)size ? size : 0;
}

static void pools_init(struct dsm *d)
{
	struct dsm_pool requests = request_pool(d), flights = flight_pool(d);

	pool_init(&requests, d->cfg.requests);
	pool_init(&flights, d->cfg.inflight);
}

static void page_place(struct dsm *d, u32 page, u16 owner,
		       const struct dsm_set *copyset, u8 mode)
{
	struct dsm_page *p = page_at(d, page);
	bool alone = set_empty(copyset);

	memset(p, 0, sizeof(*p));
	p->requests = (struct dsm_queue){ DSM_NIL, DSM_NIL };
	p->flights = p->requests;
	p->owner = owner;
	p->mode = mode;
	if (owner == d->cfg.self) {
		p->state = alone ? DSM_M : DSM_O;
		p->copyset = *copyset;
	} else if (set_has(copyset, d->cfg.self)) {
		p->state = DSM_S;
	}
}

int dsm_init(struct dsm *d, const struct dsm_config *cfg)
{
	struct dsm_set none;
	size_t size = dsm_size(cfg);
	u32 page;

	if (!size)
		return -EINVAL;
#ifndef DSM_KNOBS
	if (cfg->knobs)
		return -EINVAL;
#endif
	if (cfg->order < dsm_needs(cfg->protocol))
		return -EPROTO;
	memset(d, 0, size);
	d->cfg = *cfg;
	layout(d, cfg);
	d->todo = DSM_NO_PAGE;
	for (u16 n = 0; n < cfg->nodes; n++)
		set_add(&d->live, n);
	pools_init(d);
	set_clear(&none);
	for (page = 0; page < cfg->pages; page++)
		page_place(d, page, cfg->life ? !cfg->self :
			   dsm_manager(d, page), &none, cfg->mode);
	if (cfg->life)
		recover_join(d);
	d->fresh = cfg->life;
	return 0;
}

int dsm_place(struct dsm *d, u32 page, u16 owner,
	      const struct dsm_set *copyset, u8 mode)
{
	if (page >= d->cfg.pages || owner >= d->cfg.nodes || d->cfg.life ||
	    !mode_known(d->cfg.protocol, mode) || set_has(copyset, owner))
		return -EINVAL;
	page_place(d, page, owner, copyset, mode);
	return 0;
}

struct dsm_action *step_act(struct step *s, enum dsm_action_type type)
{
	struct dsm_action *a = &s->out->act[s->out->count];

	/* step_room() keeps callers away from the end; this is the backstop. */
	if (s->out->count < DSM_ACTIONS_MAX - 1)
		s->out->count++;
	else
		s->out->full = true;
	memset(a, 0, sizeof(*a));
	a->type = type;
	return a;
}

/*
 * Enough left for the longest chain that one request or one page can set
 * off: work that comes in unbounded numbers is put off when it is not.
 */
bool step_room(const struct step *s)
{
	return s->out->count < DSM_ACTIONS_MAX / 2 &&
		s->out->used < sizeof(s->out->body) / 2;
}

void step_again(struct step *s)
{
	step_act(s, DSM_ACT_AGAIN);
}

void step_access(struct step *s, u32 page, enum dsm_access access)
{
	struct dsm_action *a = step_act(s, DSM_ACT_ACCESS);

	a->page = page;
	a->access = access;
}

void msg_init(struct step *s, struct dsm_msg *m, u8 type, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->page = page;
	m->mode = p->mode;
	m->ver = p->ver;
	m->node = s->d->cfg.self;
}

void msg_cast(struct step *s, const struct dsm_msg *m,
	      const struct dsm_set *to, const void *body, u16 len)
{
	struct dsm_stats *st = stats_of(s->d);
	struct dsm_action *a;
	bool reply = m->type >= DSM_DATA_S && m->type <= DSM_DATA_O;
	u16 n, count = 0;

	/*
	 * Nothing may overtake the writes that happened before it: not a
	 * reply, whose page may hold a flag that the reader acts upon.
	 */
	if (m->type != DSM_UPD && !(reply && DSM_KNOB(s->d, NO_FLUSH)))
		update_flush(s);
	a = step_act(s, DSM_ACT_SEND);
	a->page = m->page;
	a->msg = *m;
	a->msg.src = s->d->cfg.self;
	a->to = *to;
	if (len && s->out->used + len <= sizeof(s->out->body)) {
		a->body = s->out->used;
		a->len = len;
		memcpy(s->out->body + a->body, body, len);
		s->out->used += len;
	}
	set_for_each(n, to)
		count++;
	st->sent[m->type] += count;
	st->bytes[m->type] += count * (sizeof(*m) + len);
	if (m->flags & DSM_F_DATA)
		st->pages_sent += count;
}

void msg_send(struct step *s, const struct dsm_msg *m, u16 to,
	      const void *body, u16 len)
{
	struct dsm_set one;

	set_clear(&one);
	set_add(&one, to);
	msg_cast(s, m, &one, body, len);
}

void msg_refuse(struct step *s)
{
	stats_of(s->d)->refused++;
}

/* Changes the state and tells the caller if CPUs may do less or more. */
void page_set_state(struct step *s, u32 page, enum dsm_state state)
{
	struct dsm_page *p = page_at(s->d, page);
	u8 before = page_allows(p);

	s->d->asked -= state_in(p, STATES_ASKED);
	p->state = state;
	s->d->asked += state_in(p, STATES_ASKED);
	if (page_allows(p) != before)
		step_access(s, page, page_allows(p));
}

/* A page has reached a stable state: whoever waited for it may go on. */
void page_settle(struct step *s, u32 page)
{
	struct dsm *d = s->d;

	for (u16 i = 0; i < d->cfg.cpus; i++) {
		struct dsm_cpu *c = cpu_at(d, i);

		if (!c->waits || c->page[c->at] != page)
			continue;
		c->woken = true;
		d->woken = true;
	}
	cpu_wake(s);
	/* Who waited here has its turn before the page goes elsewhere. */
	if (d->woken)
		page_later(s, page);
	else
		page_kick(s, page);
}

/* There was no room to write down what the page's turn sets off. */
void page_later(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	step_again(s);
	if (p->flags & PAGE_TODO)
		return;
	p->flags |= PAGE_TODO;
	p->todo = s->d->todo;
	s->d->todo = page;
}

/* Serves what had to wait for the page: an invalidation, requests. */
void page_kick(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	if (p->lease && !DSM_KNOB(s->d, NO_LEASE))
		return;
	if (p->flags & PAGE_INV) {
		p->flags &= ~PAGE_INV;
		inv_do(s, page, p->inv_from, p->inv_pending);
	}
	request_serve_queue(s, page);
	evict_finish(s, page);
}

static void message_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;

	if (m->type >= DSM_MSGS || m->src >= d->cfg.nodes ||
	    m->src == d->cfg.self || !set_has(&d->live, m->src) ||
	    m->node >= d->cfg.nodes || m->page >= d->cfg.pages ||
	    !mode_known(d->cfg.protocol, m->mode) ||
	    s->ev->len > DSM_BODY_MAX) {
		msg_refuse(s);
		return;
	}
	switch (m->type) {
	case DSM_GET_S:
	case DSM_GET_X:
	case DSM_GET_O:
		request_take(s, m);
		break;
	case DSM_DATA_S:
	case DSM_DATA_X:
	case DSM_DATA_O:
		grant_take(s);
		break;
	case DSM_INV:
		inv_take(s);
		break;
	case DSM_INV_ACK:
		inv_ack_take(s);
		break;
	case DSM_EVICT:
		evict_msg_take(s);
		break;
	case DSM_GAVE:
		gave_take(s);
		break;
	case DSM_SEAT:
		seat_take(s);
		break;
	case DSM_UPD:
		update_take(s);
		break;
	case DSM_MODE:
		mode_take(s);
		break;
	case DSM_MODE_ACK:
		acks_one(s, DSM_OC);
		break;
	default:
		recover_msg_take(s);
		break;
	}
}

/*
 * Somebody's clock has moved, the transmit queue has room again, or a page
 * that was asked for is here, which may be the last thing that happens: CPUs
 * that wait for it may go on.
 */
static void stalled_retry(struct step *s)
{
	struct dsm *d = s->d;

	if (!(d->stalled && update_room(d)) &&
	    !(d->crowded && request_room(d)))
		return;
	d->stalled = false;
	d->crowded = false;
	cpu_wake_all(s);
}

static void again_take(struct step *s)
{
	struct dsm *d = s->d;

	cpu_wake(s);
	while (d->todo != DSM_NO_PAGE && !d->woken && step_room(s)) {
		u32 page = d->todo;
		struct dsm_page *p = page_at(d, page);

		d->todo = p->todo;
		p->todo = 0;
		p->flags &= ~PAGE_TODO;
		page_kick(s, page);
	}
	if (d->todo != DSM_NO_PAGE)
		step_again(s);
	recover_again(s);
}

void dsm_lease(struct dsm *d, u64 lease)
{
	d->cfg.lease = lease;
}

static bool event_good(const struct dsm *d, const struct dsm_event *ev)
{
	return ev->cpu < d->cfg.cpus && ev->page < d->cfg.pages &&
		ev->node < d->cfg.nodes && ev->mode < DSM_MODES &&
		ev->touch <= DSM_EXCLUSIVE &&
		ev->word < DSM_PAGE_SIZE / 8;
}

void dsm_step(struct dsm *d, const struct dsm_event *ev,
	      struct dsm_actions *out)
{
	struct step s = { .d = d, .ev = ev, .out = out };

	out->count = 0;
	out->used = 0;
	out->full = false;
	if (!event_good(d, ev)) {
		step_act(&s, DSM_ACT_FAIL);
		return;
	}
	d->tx_full = ev->tx_full;
	switch (ev->type) {
	case DSM_EV_FAULT:
		fault_take(&s);
		break;
	case DSM_EV_RETIRED:
		cpu_retire(&s, ev->cpu);
		break;
	case DSM_EV_MSG:
		message_take(&s);
		stalled_retry(&s);
		break;
	case DSM_EV_TICK:
		cpu_expire(&s, ev->now);
		update_flush(&s);
		update_announce(&s);
		stalled_retry(&s);
		break;
	case DSM_EV_TX_IDLE:
		update_flush(&s);
		stalled_retry(&s);
		break;
	case DSM_EV_EVICT:
		evict_take(&s);
		break;
	case DSM_EV_HINT:
		hint_take(&s);
		break;
	case DSM_EV_PIN:
	case DSM_EV_UNPIN:
		pin_take(&s, ev->type == DSM_EV_PIN);
		break;
	case DSM_EV_DOWN:
	case DSM_EV_UP:
		recover_start(&s);
		break;
	case DSM_EV_AGAIN:
		again_take(&s);
		break;
	default:
		step_act(&s, DSM_ACT_FAIL);
		break;
	}
}
