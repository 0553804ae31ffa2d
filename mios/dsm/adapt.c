// SPDX-License-Identifier: GPL-2.0
/*
 * What a node concludes from its own faults, the updates that pass by, and the
 * pages that it loses; adapt.h says what for, docs/decisions/dsm-auto.md why so.
 *
 * A store to a page that is not ours alone is an update, unless so many in a row
 * were ours (level).  Then it takes the page, which asks the readers: who still
 * reads fetches the page again.  If somebody does soon, the next question comes
 * after four times as many stores; if late, after a quarter.
 *
 * An update that frees a lock brings all who wait for it here at once.  If there
 * are many, and this node wants nothing but that lock, stores take the page
 * alone, and the owner makes it a page without updates (adapt_wish()).
 */
#include "adapt.h"
#include "knobs.h"

/* Stores in a row that take a page: 0, 4, 16, 64, 256, 1024, 4096; 16 at first. */
#define LEVEL_NEW_MAX	3	/* of pages that we have not had alone yet */
#define LEVEL_MAX	6
/* A reader comes late if we kept the page so many times as long as it took. */
#define WORTH		256
/* A lock's page: until so many trapped stores without an atomic instruction. */
#define ATOMS		8
#define STREAK		4	/* atomic instructions that trapped, in a row */
#define CROWD		4	/* other nodes that asked for the page, */
#define CROWD_AGE	32	/* in so many of our atomic instructions */

/* adapt_page.flags */
#define COPY		1	/* got by reading; nothing has happened since */
#define ASKED		2	/* for the page alone */

/* Differences count, so it may wrap: in ns after 4.6 minutes. */
static u32 time_of(u64 now)
{
	return (u32)(now >> ADAPT_TIME_SHIFT);
}

size_t adapt_size(u32 pages)
{
	return sizeof(struct adapt) + (size_t)pages * sizeof(struct adapt_page);
}

void adapt_init(struct adapt *a, const struct dsm *d,
		const struct dsm_config *cfg)
{
	memset(a, 0, adapt_size(cfg->pages));
	a->pages = cfg->pages;
	a->self = cfg->self;
	a->knobs = cfg->knobs;
	a->level = ADAPT_LEVEL_FIRST;
	for (u32 i = 0; i < a->pages; i++) {
		a->page[i].level = ADAPT_LEVEL_FIRST;
		a->page[i].access = dsm_page_access(d, i);
	}
}

static void count(struct adapt_page *p, enum adapt_count what)
{
	if (p->count[what] != 0xffff)
		p->count[what]++;
}

/* One that we never had alone is taken for what others lately were. */
static u32 enough(const struct adapt *a, const struct adapt_page *p)
{
	u8 level = p->count[ADAPT_ALONE] ? p->level : a->level;

	return level ? 1u << 2 * level : 0;
}

static u32 crowd(const struct adapt_page *p)
{
	u32 n = 0;

	for (u16 rest = p->peers; rest; rest &= rest - 1)
		n++;
	return n;
}

/* One lock that many want at the same time, and nothing else. */
static bool hot(const struct adapt *a, u32 page)
{
	const struct adapt_page *p = &a->page[page];

	return !ADAPT_KNOB(a, NO_CROWD) && p->atoms && a->last == page && a->streak >= STREAK &&
		crowd(p) >= CROWD;
}

bool adapt_alone(const struct adapt *a, u32 page)
{
	const struct adapt_page *p = &a->page[page];

	return hot(a, page) || p->run >= enough(a, p);
}

static u8 advise(const struct adapt *a, const struct dsm_event *ev)
{
	const struct adapt_page *p = &a->page[ev->page];

	if (p->access == DSM_RW)
		return ev->touch;
	if (ev->touch == DSM_WRITE && adapt_alone(a, ev->page))
		return DSM_EXCLUSIVE;
	return ev->touch;
}

static void atomic_note(struct adapt *a, u32 page)
{
	struct adapt_page *p = &a->page[page];

	p->atoms = ATOMS;
	count(p, ADAPT_ATOMICS);
	if (a->last != page)
		a->streak = 0;
	a->last = page;
	a->streak += a->streak < STREAK;
	if (p->count[ADAPT_ATOMICS] % CROWD_AGE == 0)
		p->peers = 0;
}

/*
 * The owner of what this node has touched last: without updates a manager that
 * reads gets in line, which keeps a crowd shorter.
 */
bool adapt_wish(const struct adapt *a, const struct dsm *d, struct dsm_event *ev)
{
	u32 page = a->touched;
	enum dsm_state state = dsm_page_state(d, page);

	if (state != DSM_O && state != DSM_M)
		return false;
	ev->type = DSM_EV_HINT;
	ev->page = page;
	ev->mode = hot(a, page) ? DSM_MODE_WI : DSM_MODE_MW;
	return ev->mode != dsm_page_mode(d, page);
}

/* Our store went out as an update. */
static void store_note(const struct adapt *a, struct adapt_page *p)
{
	count(p, ADAPT_STORES);
	p->run += p->run != 0xffff;
	if (p->run >= enough(a, p))
		p->mixed = 0;
}

/* What the fault told; asked: what was made of it.  It may come again. */
static void fault_note(struct adapt *a, const struct dsm_event *ev, u8 asked,
		       bool emulated)
{
	struct adapt_page *p = &a->page[ev->page];

	a->touched = ev->page;
	if (asked > DSM_WRITE && p->flags & COPY) {
		p->flags &= ~COPY;
		count(p, ADAPT_UPGRADES);
		p->upgrades += p->upgrades < ADAPT_UPGRADES_ENOUGH;
	}
	if (ev->touch == DSM_WRITE && !(p->flags & ASKED))
		p->atoms -= !!p->atoms;
	if (ev->touch == DSM_ATOMIC && !(p->flags & ASKED))
		atomic_note(a, ev->page);
	if (emulated) {
		store_note(a, p);
	} else if (asked > DSM_WRITE && !(p->flags & ASKED) &&
		   p->access != DSM_RW) {
		p->flags |= ASKED;
		p->since = a->now;
	}
	adapt_classify(a, p);
}

/* A store of another node. */
static void foreign_note(struct adapt *a, const struct dsm_write *w)
{
	struct adapt_page *p = &a->page[w->page];

	count(p, ADAPT_FOREIGN);
	if (p->run && p->mixed < ADAPT_MIXED_MAX)
		p->mixed++;
	p->run = 0;
	p->flags &= ~COPY;
	p->same = w->node != p->writer ? 0 : p->same + (p->same < 0xff);
	p->writer = w->node;
}

/* The page was ours alone, and is not any more. */
static void lost_note(struct adapt *a, struct adapt_page *p, bool reader)
{
	u32 kept = a->now - p->since;
	u32 least = p->waited < ~0u / WORTH ? p->waited * WORTH : ~0u;

	count(p, reader ? ADAPT_READERS : ADAPT_WRITERS);
	p->run = 0;
	/* Which had it at first has not waited, and knows nothing. */
	if (!reader || p->atoms || !p->waited || ADAPT_KNOB(a, NO_READERS))
		return;
	if (kept < least) {
		p->level += p->level < LEVEL_MAX;
		a->level += a->level < LEVEL_NEW_MAX;
	} else {
		p->level -= p->level > 0;
		a->level -= a->level > ADAPT_LEVEL_FIRST;
	}
}

static void access_note(struct adapt *a, u32 page, u8 access)
{
	struct adapt_page *p = &a->page[page];
	u8 before = p->access;

	p->access = access;
	if (access == DSM_RW) {
		p->waited = p->flags & ASKED ? a->now - p->since : 0;
		p->since = a->now;
		p->flags &= ~(ASKED | COPY);
		count(p, ADAPT_ALONE);
	} else if (before == DSM_RW) {
		lost_note(a, p, access == DSM_RO);
	} else if (access == DSM_NONE) {
		/* A copy that was not written: it does not migrate. */
		if (p->flags & COPY)
			p->upgrades = 0;
		p->flags &= ~COPY;
	} else if (before == DSM_NONE) {
		p->flags |= COPY;
	}
	adapt_classify(a, p);
}

/* Stores on their way to the head, or from it: no node sees one twice. */
static void updates_note(struct adapt *a, const struct dsm_event *ev)
{
	struct dsm_write w;

	for (u16 at = 0; at + sizeof(w) <= ev->len; at += sizeof(w)) {
		memcpy(&w, (const u8 *)ev->body + at, sizeof(w));
		if (w.page >= a->pages || w.node == a->self)
			continue;
		foreign_note(a, &w);
		if (a->page[w.page].class != ADAPT_UNUSED)
			adapt_classify(a, &a->page[w.page]);
	}
}

static void message_note(struct adapt *a, const struct dsm_event *ev)
{
	const struct dsm_msg *m = &ev->msg;

	if (m->type == DSM_UPD)
		updates_note(a, ev);
	else if (m->page < a->pages &&
		 (m->type <= DSM_GET_O || m->type == DSM_INV))
		a->page[m->page].peers |= 1u << m->node % 16;
}

void adapt_step(struct adapt *a, struct dsm *d, const struct dsm_event *ev,
		struct dsm_actions *out)
{
	struct dsm_event event = *ev;
	u64 emulated = dsm_statistics(d)->emulated;

	if (!a || (ev->type == DSM_EV_FAULT && ev->page >= a->pages)) {
		dsm_step(d, ev, out);
		return;
	}
	a->now = time_of(ev->now);
	if (ev->type == DSM_EV_FAULT)
		event.touch = advise(a, ev);
	dsm_step(d, &event, out);
	if (ev->type == DSM_EV_FAULT)
		fault_note(a, ev, event.touch,
			   dsm_statistics(d)->emulated != emulated);
	else if (ev->type == DSM_EV_MSG)
		message_note(a, ev);
	for (u32 i = 0; i < out->count; i++)
		if (out->act[i].type == DSM_ACT_ACCESS)
			access_note(a, out->act[i].page, out->act[i].access);
}
