// SPDX-License-Identifier: GPL-2.0
/*
 * Sequenced write-update: one node, the head, gives every trapped store its
 * place in one order for all pages; all nodes perform them in that order, and
 * a CPU goes on when its node has performed its store.
 *
 *   UPD (a store) origin to head: give it a place.
 *   UPD (ordered) head to all: the stores from number ver on; tag says how far
 *                 everybody has got.
 *   UPD (refused) head to origin: too many are under way, try again.
 *   UPD (empty)   to the head: I have got so far (ver).
 *
 * Why that is x86-TSO, even sequential consistency for what traps: let an
 * access have the number of the last store that its node has performed before
 * it; a store has its own.  Numbers do not fall along a program, since a CPU
 * waits for its store; nor along messages, since delivery is causal.  A load
 * that has not seen a store comes before it.  Accesses with the same number
 * are ordered by the messages between them, as in write-invalidate.
 * docs/decisions/dsm-one-sequencer.md has the whole.
 *
 * A log keeps the last stores.  What the sender of a page had not performed
 * when it sent it is performed from there.  And the head may die when some have
 * its last ones and others do not: in the recovery who has got furthest sends
 * them the rest.  Called by fault.c, update.c and recovery.c.
 */
#include "engine.h"

/* Of the log: how far stores may be ahead of the slowest node, */
#define LAG(d)		((d)->cfg.window / 2)
/* and how many are taken before that is said. */
#define SAY(d)		((d)->cfg.window / 8)

bool order_used(const struct dsm *d)
{
	return d->cfg.protocol == DSM_WUSEQ;
}

static struct dsm_write *log_of(struct dsm *d, u64 number)
{
	return log_at(d, number & (d->cfg.window - 1));
}

/* May a CPU send another store? */
bool order_room(const struct dsm *d)
{
	return d->number - d->stable < LAG(d);
}

static bool write_good(const struct dsm *d, const struct dsm_write *w)
{
	return w->page < d->cfg.pages && w->mask &&
		w->word < DSM_PAGE_SIZE / 8 && w->node < d->cfg.nodes;
}

/* The CPU whose store that was goes on. */
static void write_done(struct step *s, u32 index)
{
	for (u16 i = 0; i < s->d->cfg.cpus; i++) {
		struct dsm_cpu *c = cpu_at(s->d, i);

		if (!c->writing || c->write != index)
			continue;
		c->writing = false;
		step_act(s, DSM_ACT_DONE)->cpu = i;
	}
}

static void write_apply(struct step *s, const struct dsm_write *w)
{
	struct dsm_action *a = step_act(s, DSM_ACT_APPLY);

	a->page = w->page;
	a->word = w->word;
	a->mask = w->mask;
	a->value = (u64)w->high << 32 | w->low;
}

/* Its bytes come from who had performed the store before it sent them. */
static bool page_knows(const struct dsm *d, const struct dsm_page *p)
{
	return p->flags & PAGE_AHEAD && (int)(p->ahead - (u32)d->number) >= 0;
}

/* The store has the next number, here as at every other node. */
static void write_perform(struct step *s, const struct dsm_write *w)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, w->page);
	bool ours = w->node == d->cfg.self;

	d->number++;
	*log_of(d, d->number) = *w;
	if (!ours)
		p->run = 0;
	else if (p->run < d->cfg.run)
		p->run++;
	/* To a page on its way here it is done then, from the log. */
	if (state_in(p, STATES_COPY) && !page_knows(d, p) &&
	    !(ours && DSM_KNOB(d, NO_WAIT)))
		write_apply(s, w);
	if (ours)
		write_done(s, w->clock);
}

/* The records that the body has, or one of ours, or of the log. */
static void order_cast(struct step *s, const struct dsm_set *to, u64 first,
		       const struct dsm_write *w, u16 count)
{
	struct dsm_msg m;

	msg_init(s, &m, DSM_UPD, 0);
	m.mode = 0;
	m.flags = DSM_F_ORDER;
	m.ver = first;
	m.tag = (u32)s->d->stable;
	if (!set_empty(to))
		msg_cast(s, &m, to, w, count * sizeof(*w));
}

static void others(const struct dsm *d, struct dsm_set *to)
{
	*to = d->live;
	set_del(to, d->cfg.self);
}

/* The head's part. */
static void order_give(struct step *s, const struct dsm_write *w)
{
	struct dsm_set to;

	others(s->d, &to);
	order_cast(s, &to, s->d->number + 1, w, 1);
	write_perform(s, w);
	if (set_empty(&to))
		s->d->stable = s->d->number;
}

static void write_fill(struct dsm *d, const struct dsm_event *ev,
		       struct dsm_write *w)
{
	w->page = ev->page;
	w->clock = ++d->writes;
	w->word = ev->word;
	w->mask = ev->mask;
	w->node = d->cfg.self;
	w->low = (u32)ev->value;
	w->high = ev->value >> 32;
}

/* The event is a store that fault_can() allows. */
void order_store(struct step *s)
{
	struct dsm *d = s->d;
	struct dsm_cpu *c = cpu_at(d, s->ev->cpu);
	struct dsm_write w;
	struct dsm_msg m;

	write_fill(d, s->ev, &w);
	stats_of(d)->emulated++;
	cpu_retire(s, s->ev->cpu);
	c->writing = true;
	c->write = w.clock;
	if (d->head == d->cfg.self) {
		order_give(s, &w);
		return;
	}
	msg_init(s, &m, DSM_UPD, w.page);
	m.mode = 0;
	m.ver = 0;
	msg_send(s, &m, d->head, &w, sizeof(w));
	if (!DSM_KNOB(d, NO_WAIT))
		return;
	if (state_in(page_at(d, w.page), STATES_COPY))
		write_apply(s, &w);
	write_done(s, w.clock);
}

/* Faults again: its store has no place, and will not get one. */
static void write_again(struct dsm *d, struct dsm_cpu *c)
{
	c->writing = false;
	c->waits = c->woken = true;
	d->woken = true;
}

void order_retry(struct dsm *d)
{
	for (u16 i = 0; i < d->cfg.cpus; i++)
		if (cpu_at(d, i)->writing)
			write_again(d, cpu_at(d, i));
}

/* The head: how far everybody has got. */
static void stable_find(struct step *s)
{
	struct dsm *d = s->d;
	u64 least = d->number;
	struct dsm_set to;
	u16 n;

	others(d, &to);
	set_for_each(n, &to)
		if (node_at(d, n)->heard < least)
			least = node_at(d, n)->heard;
	d->stable = least;
	/* Those who wait for it may not hear of it by a store. */
	if (least - d->said < SAY(d))
		return;
	d->said = least;
	order_cast(s, &to, d->number + 1, NULL, 0);
}

/* A store of another node, for its place; or how far that node has got. */
static bool head_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	struct dsm_node *n = node_at(d, m->src);
	struct dsm_write w;
	struct dsm_set to;

	if (s->ev->len && s->ev->len != sizeof(w))
		return false;
	/* Its sender will be told of the death, and try again after it. */
	if (d->recovering && set_has(&d->flushes, m->src))
		return true;
	if (d->head != d->cfg.self)
		return false;
	if (!s->ev->len) {
		if (m->ver < n->heard || m->ver > d->number)
			return false;
		n->heard = m->ver;
		stable_find(s);
		return true;
	}
	memcpy(&w, s->ev->body, sizeof(w));
	if (!write_good(d, &w) || w.node != m->src)
		return false;
	if (d->number - d->stable < d->cfg.window - 1) {
		order_give(s, &w);
		return true;
	}
	set_clear(&to);
	set_add(&to, m->src);
	order_cast(s, &to, w.clock, NULL, 0);
	s->out->act[s->out->count - 1].msg.hops = 1;
	return true;
}

/* Tells the head that its stores have arrived. */
static void order_say(struct step *s)
{
	struct dsm *d = s->d;
	struct dsm_msg m;

	if (d->number - d->said < SAY(d) || d->recovering)
		return;
	d->said = d->number;
	msg_init(s, &m, DSM_UPD, 0);
	m.mode = 0;
	m.ver = d->number;
	msg_send(s, &m, d->head, NULL, 0);
}

/* One that the head could not take. */
static bool refused_take(struct step *s)
{
	for (u16 i = 0; i < s->d->cfg.cpus; i++)
		if (cpu_at(s->d, i)->writing &&
		    cpu_at(s->d, i)->write == s->ev->msg.ver)
			write_again(s->d, cpu_at(s->d, i));
	cpu_wake(s);
	return true;
}

/*
 * Stores in order.  In a recovery they come from who has got furthest, too, and
 * some may have arrived before.
 */
static bool order_follow(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_msg *m = &s->ev->msg;
	u16 count = s->ev->len / sizeof(struct dsm_write);
	struct dsm_write w;
	u64 stable;

	if (!d->recovering &&
	    (m->src != d->head || d->head == d->cfg.self))
		return false;
	/* Its number is the how-manieth store of ours, which may be any. */
	if (m->hops)
		return refused_take(s);
	if (s->ev->len % sizeof(w) || count > DSM_BATCH_MAX ||
	    m->ver > d->number + 1)
		return false;
	for (u16 i = 0; i < count; i++) {
		memcpy(&w, (const u8 *)s->ev->body + i * sizeof(w), sizeof(w));
		if (!write_good(d, &w))
			return false;
		if (m->ver + i == d->number + 1)
			write_perform(s, &w);
	}
	stable = d->stable + (u32)(m->tag - (u32)d->stable);
	if (m->src == d->head && stable <= d->number)
		d->stable = stable;
	order_say(s);
	return true;
}

void order_take(struct step *s)
{
	bool placed = s->ev->msg.flags & DSM_F_ORDER;
	bool good = placed ? order_follow(s) : head_take(s);

	if (!good)
		msg_refuse(s);
	else if (s->d->recovering)
		recover_again(s);
}

/*
 * All FLUSHes are here, and say how far each node has got.  The first of those
 * that have got furthest sends the others what they lack.
 */
static void order_forward(struct step *s, u64 least)
{
	struct dsm *d = s->d;
	struct dsm_write w[DSM_BATCH_MAX];
	u64 next = least + 1;
	struct dsm_set to;
	u16 count;

	if (d->number - least >= d->cfg.window)
		next = d->number - d->cfg.window + 1;
	others(d, &to);
	while (next <= d->number) {
		for (count = 0; count < DSM_BATCH_MAX &&
		     next + count <= d->number; count++)
			w[count] = *log_of(d, next + count);
		order_cast(s, &to, next, w, count);
		next += count;
	}
}

/* What a FLUSH says: who was born again and never settled has no number. */
u64 order_number(const struct dsm *d)
{
	return d->fresh ? ORDER_NONE : d->number;
}

/*
 * Has this node got as far as everybody?  Then a new count may begin.  One that
 * was born again has no copies that could lack anything.
 */
bool order_level(struct step *s)
{
	struct dsm *d = s->d;
	u64 least, most;
	u16 n, first = DSM_NOBODY;

	if (!order_used(d))
		return true;
	node_at(d, d->cfg.self)->flushed = order_number(d);
	most = 0;
	least = ORDER_NONE;
	set_for_each(n, &d->live) {
		u64 number = node_at(d, n)->flushed;

		if (number == ORDER_NONE)
			continue;
		if (first == DSM_NOBODY || number > most)
			first = n;
		most = number > most ? number : most;
		least = number < least ? number : least;
	}
	if (d->fresh)
		d->number = most;
	if (d->number < most)
		return false;
	if (first == d->cfg.self && least < most && !DSM_KNOB(d, NO_LEVEL))
		order_forward(s, least);
	set_for_each(n, &d->live)
		node_at(d, n)->heard = d->number;
	d->stable = d->said = d->number;
	d->head = set_next(&d->live, 0);
	return true;
}

/* How many stores the sender of a page has performed. */
static u32 count_of(const u8 *count)
{
	u32 number;

	memcpy(&number, count, sizeof(number));
	return number;
}

static bool count_ahead(const struct dsm *d, u32 count)
{
	return (int)(count - (u32)d->number) > 0;
}

/* A page has arrived: what its sender had not performed yet, and we have. */
void order_replay(struct step *s, u32 page, const u8 *count)
{
	struct dsm *d = s->d;
	u32 lack = (u32)d->number - count_of(count);

	if (count_ahead(d, count_of(count)))
		return;
	for (u64 i = d->number - lack + 1; i <= d->number; i++)
		if (log_of(d, i)->page == page)
			write_apply(s, log_of(d, i));
}

/*
 * Delivery is causal, but in a recovery nobody waits any more for what the
 * dead have sent.
 */
bool order_good(struct step *s, const u8 *count)
{
	u32 lack;

	if (!order_used(s->d))
		return true;
	lack = (u32)s->d->number - count_of(count);
	return count_ahead(s->d, count_of(count)) ? s->d->recovering :
		lack < s->d->cfg.window && lack <= s->d->number;
}

/*
 * A page from somebody who has got further than we, by stores of a head that
 * died: CPUs may not see it until the others have told us those.
 */
void order_ahead(struct step *s, u32 page, const u8 *count)
{
	struct dsm_page *p = page_at(s->d, page);

	if (!order_used(s->d) || !count_ahead(s->d, count_of(count)))
		return;
	if (page_allows(p) != DSM_NONE)
		step_access(s, page, DSM_NONE);
	p->flags |= PAGE_AHEAD;
	/* Without bytes it is our copy, which knows what we know. */
	p->ahead = state_in(p, STATES_FETCH) ? count_of(count) :
		(u32)s->d->number;
}

/*
 * In a recovery, when all have got equally far.  If that is not far enough, who
 * knew the rest has died as well, and the page with him.
 */
void order_caught_up(struct step *s, u32 page)
{
	struct dsm_page *p = page_at(s->d, page);

	if (!(p->flags & PAGE_AHEAD))
		return;
	p->flags &= ~PAGE_AHEAD;
	if (!count_ahead(s->d, p->ahead)) {
		if (page_allows(p) != DSM_NONE)
			step_access(s, page, page_allows(p));
		return;
	}
	p->flags |= PAGE_AHEAD;
	if (state_in(p, STATES_OWNER))
		page_set_state(s, page, DSM_I);
	else
		copy_drop(s, page);
	p->flags &= ~PAGE_AHEAD;
}
