// SPDX-License-Identifier: GPL-2.0
/*
 * Write-update: trapped writes leave in batches to all nodes and are merged
 * there.  A page that is on its way here gets the updates which its sender
 * had not yet seen.  Called from fault.c for local writes, from dsm_step()
 * for received ones, and from msg_cast() before anything else is sent.
 */
#include "engine.h"

/* Updates kept for one page in flight; more, and it is fetched again. */
#define FLIGHT_MAX	24

static u64 write_seq(const struct dsm *d, u64 clock, u16 node)
{
	return clock * d->cfg.nodes + node;
}

/*
 * May another write have a number?  Not if its slot in a merge buffer could
 * still be needed: every node's future writes must lie inside the window.
 */
bool update_room(struct dsm *d)
{
	u64 next = write_seq(d, d->clock + 1, d->cfg.self);
	u16 n;

	if (d->recovering || d->tx_full)
		return false;
	if (order_used(d))
		return order_room(d);
	set_for_each(n, &d->live) {
		u64 least = write_seq(d, node_at(d, n)->heard + 1, n);

		if (n != d->cfg.self && next >= least + d->cfg.window)
			return false;
	}
	return true;
}

/*
 * No honest write is beyond this: its writer has heard no later clock of us
 * than announced, and update_room() makes it wait for one.
 */
static u64 clock_limit(const struct dsm *d)
{
	return d->announced + 1 +
		(d->cfg.window + d->cfg.nodes - 1) / d->cfg.nodes;
}

/*
 * Honest clocks are all within the limit.  Who claims more, or has been told
 * more by a hostile peer, is followed a window at a time, so that every
 * node's next UPD is close to its last: the wire has the low 32 bits only.
 */
static void clock_follow(struct dsm *d)
{
	u64 limit = clock_limit(d);
	u64 clock = d->ahead < limit ? d->ahead : limit;

	if (clock > d->clock)
		d->clock = clock;
}

/*
 * A round of recovery: all updates from before are in, and nobody writes until
 * it is over.  Clocks begin anew, as that of a node that was born again has
 * to; what only a dead node claimed is forgotten with them.
 */
void clock_forget(struct dsm *d)
{
	if (!merge_used(d))
		return;
	memset(slot_at(d, 0), 0, d->cfg.window * sizeof(struct dsm_slot));
	memset(head_at(d, 0), 0, d->cfg.window * sizeof(u64));
	d->clock = d->announced = d->ahead = 0;
	for (u16 n = 0; n < d->cfg.nodes; n++) {
		node_at(d, n)->heard = 0;
		node_at(d, n)->got = 0;
	}
}

/* Others answer what they receive: do not sit on what they wait for. */
void update_stall(struct step *s)
{
	s->d->stalled = true;
	stats_of(s->d)->window_stalls++;
	update_flush(s);
}

static void update_cast(struct step *s)
{
	struct dsm *d = s->d;
	struct dsm_set others = d->live;
	struct dsm_msg m;

	set_del(&others, d->cfg.self);
	msg_init(s, &m, DSM_UPD, 0);
	m.mode = 0;
	m.ver = 0;
	m.tag = (u32)d->clock;
	d->announced = d->clock;
	if (!set_empty(&others))
		msg_cast(s, &m, &others, batch_at(d, 0),
			 d->pending * sizeof(struct dsm_write));
}

void update_flush(struct step *s)
{
	struct dsm *d = s->d;

	if (!d->pending)
		return;
	node_at(d, d->cfg.self)->got++;
	update_cast(s);
	memset(batch_at(d, 0), 0, d->pending * sizeof(struct dsm_write));
	d->pending = 0;
}

/*
 * Goes after the others' clocks.  A node that only listens holds up their
 * windows, so it speaks when a quarter of one has passed: a writer that
 * waits for it has gone further, and what it last heard from that writer has
 * made it speak.  A full queue delays that until some tick.
 */
void update_announce(struct step *s)
{
	struct dsm *d = s->d;

	if (!merge_used(d))
		return;
	clock_follow(d);
	/* In a recovery others may have begun anew already. */
	if (d->tx_full || d->recovering ||
	    (d->clock - d->announced) * d->cfg.nodes < d->cfg.window / 4)
		return;
	stats_of(d)->announced++;
	update_flush(s);
	if (d->announced != d->clock)
		update_cast(s);
}

static void write_apply(struct step *s, u32 page, u16 word, u8 mask,
			u64 value)
{
	struct dsm_action *a;

	if (!mask) {
		stats_of(s->d)->merged_away++;
		return;
	}
	a = step_act(s, DSM_ACT_APPLY);
	a->page = page;
	a->word = word;
	a->mask = mask;
	a->value = value;
}

/* The event is a write that fault_can() allows. */
void update_store(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_event *ev = s->ev;
	struct dsm_page *p = page_at(d, ev->page);
	struct dsm_write *w = batch_at(d, d->pending++);
	u8 mask;

	d->clock++;
	stats_of(d)->emulated++;
	mask = merge_insert(d, write_seq(d, d->clock, d->cfg.self),
			    ev->page, ev->word, ev->mask);
	if (state_in(p, STATES_COPY))
		write_apply(s, ev->page, ev->word, mask, ev->value);
	w->page = ev->page;
	w->clock = d->clock;
	w->word = ev->word;
	w->mask = ev->mask;
	w->node = 0;
	w->low = (u32)ev->value;
	w->high = ev->value >> 32;
	if (p->run < d->cfg.run)
		p->run++;
	/*
	 * An idle wire costs nothing.  A busy one collects what follows;
	 * the caller reports when it falls idle.
	 */
	if (ev->tx_idle || d->pending == d->cfg.batch)
		update_flush(s);
}

static void flight_keep(struct dsm *d, struct dsm_page *p, u8 src,
			const struct dsm_write *w, u8 mask)
{
	struct dsm_pool pool = flight_pool(d);
	struct dsm_flight *f;
	u16 i, length = 0;

	/*
	 * What this write hides of those that wait stays hidden even if it
	 * is discarded itself, because the page holds it already.
	 */
	for (i = p->flights.first; i != DSM_NIL; i = f->next, length++) {
		f = flight_at(d, i);
		if (f->word == w->word)
			f->mask &= ~mask;
	}
	i = length < FLIGHT_MAX ? queue_add(&p->flights, &pool) : DSM_NIL;
	if (i == DSM_NIL) {
		p->flags |= PAGE_POISON;
		return;
	}
	f = flight_at(d, i);
	f->src = src;
	f->mask = mask;
	f->word = w->word;
	f->index = node_at(d, src)->got;
	f->value = (u64)w->high << 32 | w->low;
}

void flight_drop(struct dsm *d, u32 page)
{
	struct dsm_pool pool = flight_pool(d);

	queue_clear(&page_at(d, page)->flights, &pool);
}

/* Of the counts in a message that brings a page: one for each node, or one. */
u16 update_counts_size(const struct dsm *d)
{
	return order_used(d) ? 4 : merge_used(d) ? 4 * d->cfg.nodes : 0;
}

u16 update_counts(struct dsm *d, u8 *body)
{
	u32 number = (u32)d->number;

	if (order_used(d))
		memcpy(body, &number, 4);
	if (!merge_used(d))
		return update_counts_size(d);
	for (u16 n = 0; n < d->cfg.nodes; n++)
		memcpy(body + 4 * n, &node_at(d, n)->got, 4);
	return 4 * d->cfg.nodes;
}

/*
 * The page has arrived.  Its sender had received the first counts[n]
 * updates of node n (all of its own): they are in the page, and to write
 * them again could bury what was written over them.  The rest is missing.
 */
void flight_apply(struct step *s, u32 page, u8 src, const u8 *counts)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	struct dsm_pool pool = flight_pool(d);

	if (order_used(d))
		order_replay(s, page, counts);
	while (p->flights.first != DSM_NIL) {
		struct dsm_flight *f = flight_at(d, p->flights.first);
		u32 count;
		bool in_page;

		memcpy(&count, counts + 4 * f->src, 4);
		in_page = (int)(f->index - count) <= 0;
		if (f->src == src && DSM_KNOB(d, KEEP_N1))
			in_page = false;
		if (!in_page)
			write_apply(s, page, f->word, f->mask, f->value);
		queue_drop(&p->flights, &pool);
	}
}

/* How far src has come, by the low bits of its clock, since it last spoke. */
static u32 clock_since(struct dsm *d, u8 src, u32 low)
{
	return low - (u32)node_at(d, src)->heard;
}

static void update_one(struct step *s, const struct dsm_write *w, u8 src)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, w->page);
	u64 clock = node_at(d, src)->heard + clock_since(d, src, w->clock);
	u8 mask;

	mask = merge_insert(d, write_seq(d, clock, src), w->page, w->word,
			    w->mask);
	p->run = 0;
	if (state_in(p, STATES_COPY))
		write_apply(s, w->page, w->word, mask,
			    (u64)w->high << 32 | w->low);
	else if (state_in(p, STATES_FETCH) && mask)
		flight_keep(d, p, src, w, mask);
}

/*
 * A sender's clock moves by its own writes in a batch and by what
 * clock_follow() allows; its writes have numbers since its last UPD, within
 * the window.
 */
static bool update_good(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_event *ev = s->ev;
	u8 src = ev->msg.src;
	u32 all = clock_since(d, src, ev->msg.tag), since;
	u64 limit = clock_limit(d);
	struct dsm_write w;

	if (!merge_used(d) || ev->len % sizeof(w) ||
	    ev->len / sizeof(w) > DSM_BATCH_MAX ||
	    all > limit - d->announced + DSM_BATCH_MAX)
		return false;
	for (u16 at = 0; at < ev->len; at += sizeof(w)) {
		memcpy(&w, (const u8 *)ev->body + at, sizeof(w));
		since = clock_since(d, src, w.clock);
		if (w.page >= d->cfg.pages || !w.mask ||
		    w.word >= DSM_PAGE_SIZE / 8 || !since || since > all ||
		    node_at(d, src)->heard + since > limit)
			return false;
	}
	return true;
}

void update_take(struct step *s)
{
	const struct dsm_event *ev = s->ev;
	struct dsm_node *n = node_at(s->d, ev->msg.src);
	struct dsm_write w;

	if (order_used(s->d)) {
		order_take(s);
		return;
	}
	if (!update_good(s)) {
		msg_refuse(s);
		return;
	}
	if (ev->len)
		n->got++;
	for (u16 at = 0; at < ev->len; at += sizeof(w)) {
		memcpy(&w, (const u8 *)ev->body + at, sizeof(w));
		update_one(s, &w, ev->msg.src);
	}
	n->heard += clock_since(s->d, ev->msg.src, ev->msg.tag);
	if (n->heard > s->d->ahead)
		s->d->ahead = n->heard;
	update_announce(s);
}
