// SPDX-License-Identifier: GPL-2.0
/*
 * The CPUs' side: faults, the grant that lets an instruction go on, and the
 * lease that keeps a granted page here until one instruction has completed.
 * Called by dsm_step() and whenever a page reaches a stable state.
 *
 * An instruction may touch several pages.  The engine remembers those that
 * it faulted on since the CPU last completed one, and acquires them in
 * ascending order, holding the lower ones: no two CPUs can wait for each
 * other in a circle.
 */
#include "engine.h"

/* May an instruction that touches the page so be executed or emulated? */
bool fault_can(struct dsm *d, u32 page, u8 touch)
{
	struct dsm_page *p = page_at(d, page);

	if (p->flags & PAGE_AHEAD)
		return false;
	if (touch == DSM_READ)
		return state_in(p, STATES_COPY);
	if (p->state == DSM_M)
		return true;
	if (touch == DSM_EXCLUSIVE || p->mode == DSM_MODE_WI ||
	    p->run >= d->cfg.run)
		return false;
	if (touch == DSM_ATOMIC)
		return p->mode == DSM_MODE_SW && p->state == DSM_O &&
			update_room(d);
	if (p->mode == DSM_MODE_SW)
		return p->state == DSM_O && update_room(d);
	/*
	 * Many writers: anybody at any time, but not into a page that is
	 * on its way here, and not while its mode changes.
	 */
	return !state_in(p, STATES_FETCH | IN(OC)) && update_room(d);
}

static bool page_ask(struct step *s, u32 page, enum dsm_state next,
		     enum dsm_msg_type type)
{
	if (!request_room(s->d)) {
		s->d->crowded = true;
		return false;
	}
	page_set_state(s, page, next);
	request_send(s, page, type);
	return true;
}

/*
 * Ask for what the touch lacks; a request under way must end first.  False:
 * too many are under way, stalled_retry() comes back to it.
 */
static bool page_want(struct step *s, u32 page, u8 touch)
{
	struct dsm *d = s->d;
	struct dsm_page *p = page_at(d, page);
	bool alone = touch == DSM_EXCLUSIVE || p->mode == DSM_MODE_WI ||
		p->run >= d->cfg.run ||
		(touch == DSM_ATOMIC && d->cfg.protocol != DSM_WUPLUS);

	if (!state_in(p, STATES_STABLE) || p->flags & PAGE_AHEAD)
		return true;
	if (touch == DSM_READ) {
		/* A manager that holds a copy may as well own the page. */
		bool own = d->cfg.read_owns || (p->mode == DSM_MODE_WI &&
			dsm_manager(d, page) == d->cfg.self);

		if (own)
			return page_ask(s, page, DSM_IO, DSM_GET_O);
		return page_ask(s, page, DSM_IS, DSM_GET_S);
	}
	if (!alone && touch == DSM_WRITE && p->mode == DSM_MODE_MW) {
		/* Only the merge window holds it up. */
		update_stall(s);
		return true;
	}
	if (p->state == DSM_O) {
		if (alone)
			invalidate_start(s, page);
		else if (p->mode == DSM_MODE_MW)
			mode_start(s, page, DSM_MODE_SW);
		else
			update_stall(s);
		return true;
	}
	if (alone)
		return page_ask(s, page, p->state == DSM_S ? DSM_SM : DSM_IM,
				DSM_GET_X);
	return page_ask(s, page, p->state == DSM_S ? DSM_SO : DSM_IO,
			DSM_GET_O);
}

static void lease_drop(struct step *s, u16 cpu, u8 from)
{
	struct dsm_cpu *c = cpu_at(s->d, cpu);

	for (u8 i = from; i < c->count; i++) {
		struct dsm_page *p = page_at(s->d, c->page[i]);

		if (!c->held[i])
			continue;
		c->held[i] = false;
		p->lease--;
		page_kick(s, c->page[i]);
	}
}

/*
 * Take the pages in order; at the first that is not ours to use, let go of
 * it and all above it, and wait.
 */
void cpu_advance(struct step *s, u16 cpu)
{
	struct dsm *d = s->d;
	struct dsm_cpu *c = cpu_at(d, cpu);
	struct dsm_action *a;

	c->woken = false;
	for (u8 i = 0; i < c->count; i++) {
		if (page_at(d, c->page[i])->flags & PAGE_LOST) {
			cpu_retire(s, cpu);
			a = step_act(s, DSM_ACT_ERROR);
			a->cpu = cpu;
			return;
		}
		if (fault_can(d, c->page[i], c->touch[i])) {
			page_at(d, c->page[i])->lease += !c->held[i];
			c->held[i] = true;
			continue;
		}
		c->at = i;
		c->waits = true;
		lease_drop(s, cpu, i);
		/* Who waits for a turn to ask must not make others wait. */
		if (!page_want(s, c->page[i], c->touch[i]))
			lease_drop(s, cpu, 0);
		return;
	}
	c->waits = false;
	if (!c->leased) {
		c->leased = true;
		c->timed = false;
	}
	a = step_act(s, DSM_ACT_RETRY);
	a->cpu = cpu;
}

/*
 * The CPUs whose page has settled.  Each may set off a chain, so that many
 * that waited for one page would overflow the list of actions.
 */
void cpu_wake(struct step *s)
{
	struct dsm *d = s->d;

	for (u16 i = 0, first = d->turn; d->woken && i < d->cfg.cpus; i++) {
		u16 cpu = (first + i) % d->cfg.cpus;

		if (!cpu_at(d, cpu)->woken)
			continue;
		if (!step_room(s)) {
			step_again(s);
			return;
		}
		if (!d->crowded)
			d->turn = cpu;
		cpu_advance(s, cpu);
	}
	d->woken = false;
}

/* What they wait for may be here since they last looked. */
void cpu_wake_all(struct step *s)
{
	struct dsm *d = s->d;

	for (u16 i = 0; i < d->cfg.cpus; i++) {
		cpu_at(d, i)->woken = cpu_at(d, i)->waits;
		d->woken |= cpu_at(d, i)->waits;
	}
	cpu_wake(s);
}

/* One instruction has completed (or was given up): the pages may go. */
void cpu_retire(struct step *s, u16 cpu)
{
	struct dsm_cpu *c = cpu_at(s->d, cpu);
	u8 count = c->count;

	c->waits = false;
	c->woken = false;
	c->leased = false;
	lease_drop(s, cpu, 0);
	if (c->count == count)
		c->count = 0;
}

/*
 * A lease must not outlive its time, whatever the CPU does.  Only ticks know
 * what time it is: the first one after a grant begins it, so that it is never
 * shorter than it should be, and longer by the time between two ticks.
 */
void cpu_expire(struct step *s, u64 now)
{
	struct dsm *d = s->d;

	for (u16 i = 0; i < d->cfg.cpus; i++) {
		struct dsm_cpu *c = cpu_at(d, i);

		if (!c->leased)
			continue;
		if (!c->timed) {
			c->timed = true;
			c->since = now;
		}
		/* What finds no room ends with the next tick. */
		if (now - c->since < d->cfg.lease || !step_room(s))
			continue;
		c->leased = false;
		stats_of(d)->expired++;
		lease_drop(s, i, 0);
	}
}

/*
 * With many writers a store needs no copy, so what is known may be stronger and
 * yet not enough: for who reads first, and lost the copy while the store waited.
 */
static bool lacks_copy(struct dsm *d, const struct dsm_event *ev, u8 known)
{
	return ev->touch == DSM_READ && !fault_can(d, ev->page, DSM_READ) &&
		fault_can(d, ev->page, known);
}

/* Insert the page in order, or strengthen what is known of it. */
static void touch_add(struct step *s, struct dsm_cpu *c)
{
	const struct dsm_event *ev = s->ev;
	u8 i, j;

	for (i = 0; i < c->count && c->page[i] < ev->page; i++)
		;
	if (i < c->count && c->page[i] == ev->page) {
		if (ev->touch > c->touch[i] || lacks_copy(s->d, ev, c->touch[i]))
			c->touch[i] = ev->touch;
		return;
	}
	if (c->count == DSM_TOUCH_MAX) {
		/* No instruction needs so many: it is another one. */
		cpu_retire(s, ev->cpu);
		c->count = i = 0;
	}
	for (j = c->count++; j > i; j--) {
		c->page[j] = c->page[j - 1];
		c->touch[j] = c->touch[j - 1];
		c->held[j] = c->held[j - 1];
	}
	c->page[i] = ev->page;
	c->touch[i] = ev->touch;
	c->held[i] = false;
}

static bool emulated(struct dsm *d, const struct dsm_event *ev)
{
	return (ev->touch == DSM_WRITE || ev->touch == DSM_ATOMIC) &&
		page_at(d, ev->page)->state != DSM_M &&
		fault_can(d, ev->page, ev->touch);
}

void fault_take(struct step *s)
{
	struct dsm *d = s->d;
	const struct dsm_event *ev = s->ev;
	struct dsm_cpu *c = cpu_at(d, ev->cpu);

	if (c->writing) {
		step_act(s, DSM_ACT_FAIL);
		return;
	}
	if (page_at(d, ev->page)->flags & PAGE_LOST) {
		step_act(s, DSM_ACT_ERROR)->cpu = ev->cpu;
		cpu_retire(s, ev->cpu);
		return;
	}
	if (emulated(d, ev) && order_used(d)) {
		order_store(s);
		return;
	}
	if (emulated(d, ev)) {
		update_store(s);
		step_act(s, DSM_ACT_DONE)->cpu = ev->cpu;
		cpu_retire(s, ev->cpu);
		return;
	}
	touch_add(s, c);
	cpu_advance(s, ev->cpu);
}
