// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer's cluster: lays out a state, carries out what the engines
 * ask for, lists what may happen next and makes it happen.
 */
#include <string.h>

#include "world.h"

/* What a frame holds that the node has no right to read. */
#define SCRAP	0xdeadULL

struct dsm *world_engine(const struct world *w, struct world_state *s, int node)
{
	return (struct dsm *)((u8 *)(s + 1) + node * w->stride);
}

struct world_msg *world_msgs(const struct world *w, struct world_state *s)
{
	return (struct world_msg *)((u8 *)(s + 1) + w->nodes * w->stride);
}

size_t world_size(const struct world *w, const struct world_state *s)
{
	return sizeof(*s) + w->nodes * w->stride +
		s->msgs * sizeof(struct world_msg);
}

static void broken(struct world *w, const char *what, int page)
{
	if (!*w->broken)
		snprintf(w->broken, sizeof(w->broken), "%s, page %d", what,
			 page);
}

void world_limit(struct world *w, const char *what, int count)
{
	if (*w->broken)
		return;
	snprintf(w->broken, sizeof(w->broken), "more than %d %s", count,
		 what);
	w->limit = true;
}

/* Where DMA goes on, a page can be written until it is unpinned. */
static void check_pins(struct world *w, struct world_state *s, int node)
{
	struct dsm *d = world_engine(w, s, node);

	for (int page = 0; page < w->pages; page++)
		if (s->pinned[node][page] &&
		    (dsm_page_state(d, page) != DSM_M ||
		     s->access[node][page] != DSM_RW))
			broken(w, "pinned, but not writable", page);
}

/* One writer, or any number of readers; one owner. */
void world_check(struct world *w, struct world_state *s)
{
	for (int n = 0; n < w->nodes; n++)
		if (!(s->dead >> n & 1))
			check_pins(w, s, n);
	for (int page = 0; page < w->pages; page++) {
		int writers = 0, readers = 0, owners = 0;

		for (int n = 0; n < w->nodes; n++) {
			enum dsm_state st = dsm_page_state(
				world_engine(w, s, n), page);

			if (s->dead >> n & 1)
				continue;
			writers += s->access[n][page] == DSM_RW;
			readers += s->access[n][page] == DSM_RO;
			owners += st == DSM_O || st == DSM_M ||
				st == DSM_OI || st == DSM_OC;
		}
		if (writers > 1 || (writers && readers))
			broken(w, "a writer and others with access", page);
		if (owners > 1)
			broken(w, "two owners", page);
	}
}

static void install(struct world *w, struct world_state *s, int node, int page,
		    const struct world_msg *m)
{
	for (int i = 0; i < w->words; i++)
		if (w->at[i].page == page)
			s->mem[node][i] = m->word[i];
}

static void apply(struct world *w, struct world_state *s, int node,
		  const struct dsm_action *a)
{
	for (int i = 0; i < w->words; i++) {
		if (w->at[i].page != a->page || w->at[i].word != a->word)
			continue;
		for (int b = 0; b < 8; b++) {
			u64 byte = 0xffULL << (8 * b);

			if (a->mask >> b & 1)
				s->mem[node][i] = (s->mem[node][i] & ~byte) |
					(a->value & byte);
		}
	}
}

static int thread_of(const struct world *w, int node, int cpu)
{
	for (int i = 0; i < w->t->threads; i++)
		if (w->node_of[i] == node && w->cpu_of[i] == cpu)
			return i;
	return -1;
}

static void carry_out(struct world *w, struct world_state *s, int node,
		      const struct dsm_actions *out, const struct dsm_action *a,
		      const struct world_msg *data)
{
	int th = thread_of(w, node, a->cpu);

	switch (a->type) {
	case DSM_ACT_ACCESS:
		if (a->access < s->access[node][a->page])
			cpu_drain_node(w, s, node, a->page);
		s->access[node][a->page] = a->access;
		break;
	case DSM_ACT_SEND:
		(w->send ? w->send : net_send)(w, s, node, a,
					       out->body + a->body);
		break;
	case DSM_ACT_INSTALL:
		install(w, s, node, a->page, data);
		break;
	case DSM_ACT_APPLY:
		apply(w, s, node, a);
		break;
	case DSM_ACT_RETRY:
		if (th >= 0)
			s->cpu[th].blocked = 0;
		break;
	case DSM_ACT_DONE:
		s->cpu[th].blocked = 0;
		/* cpu_run() completes its own: it knows the registers. */
		if (w->faulting == th)
			s->cpu[th].th.pc++;
		else
			cpu_emulated(w, s, th);
		break;
	case DSM_ACT_LOST:
		s->lost[node] |= 1 << a->page;
		for (int n = 0; n < w->nodes; n++)
			if (s->access[n][a->page])
				broken(w, "lost, but held by a survivor",
				       a->page);
		break;
	case DSM_ACT_ERROR:
		if (th >= 0)
			s->cpu[th].lost = 1;
		break;
	}
}

/* Tidies up: the frame of a page that is not here holds nothing. */
static void scrub(struct world *w, struct world_state *s, int node)
{
	const struct dsm *d = world_engine(w, s, node);

	for (int i = 0; i < w->words; i++) {
		enum dsm_state st = dsm_page_state(d, w->at[i].page);

		if (st == DSM_I || st == DSM_IS || st == DSM_IM || st == DSM_IO)
			s->mem[node][i] = SCRAP;
	}
}

struct dsm_actions world_actions;
#define actions world_actions

u8 world_seen[DSM_STATES][W_CAUSES][DSM_STATES];

static void note(const struct world *w, struct dsm *d,
		 const struct dsm_event *ev, const u8 *before)
{
	int cause = ev->type == DSM_EV_MSG ? W_CAUSES - DSM_MSGS +
		ev->msg.type : ev->type;

	for (int page = 0; page < w->pages; page++) {
		u8 now = dsm_page_state(d, page);

		if (now != before[page])
			world_seen[before[page]][cause][now] = 1;
	}
}

void world_step(struct world *w, struct world_state *s, int node,
		const struct dsm_event *ev, const struct world_msg *data)
{
	struct dsm *d = world_engine(w, s, node);
	struct dsm_event next = *ev;
	u8 before[W_PAGES];
	bool again;

	for (int page = 0; page < w->pages; page++)
		before[page] = dsm_page_state(d, page);
	if (w->now) {
		next.now = w->now;
		next.tx_idle = w->idle >> node & 1;
	}
	do {
		dsm_step(d, &next, &actions);
		w->steps++;
		again = false;
		if (actions.full)
			broken(w, "too many actions", 0);
		for (u32 i = 0; i < actions.count; i++) {
			carry_out(w, s, node, &actions, &actions.act[i],
				  data);
			again |= actions.act[i].type == DSM_ACT_AGAIN;
		}
		memset(&next, 0, sizeof(next));
		next.type = DSM_EV_AGAIN;
		next.now = w->now;
	} while (again);
	note(w, d, ev, before);
	for (int page = 0; page < w->pages; page++)
		if (s->access[node][page] != dsm_page_access(d, page))
			broken(w, "access differs from the state", page);
	scrub(w, s, node);
	/* Statistics are no part of the state. */
	memset((u8 *)d + dsm_state_size(d), 0,
	       w->stride - dsm_state_size(d));
}

static void words_find(struct world *w)
{
	for (int v = 0; v < w->t->vars; v++) {
		const struct lit_var *var = &w->t->var[v];

		for (int b = 0; b < var->size * var->count; b++) {
			int off = var->offset + b, i;
			int page = var->page + off / DSM_PAGE_SIZE;
			int word = off % DSM_PAGE_SIZE / 8;

			for (i = 0; i < w->words; i++)
				if (w->at[i].page == page &&
				    w->at[i].word == word)
					break;
			if (i < w->words)
				continue;
			if (i == W_WORDS || page >= W_PAGES) {
				broken(w, "too many words or pages", page);
				return;
			}
			w->at[i].page = page;
			w->at[i].word = word;
			w->words++;
			if (page >= w->pages)
				w->pages = page + 1;
		}
	}
}

static void values_init(struct world *w, struct world_state *s)
{
	for (int v = 0; v < w->t->vars; v++) {
		const struct lit_var *var = &w->t->var[v];

		for (int b = 0; b < var->size * var->count; b++) {
			int off = var->offset + b;
			u64 byte = var->init[b / var->size] >>
				(8 * (b % var->size)) & 0xff;

			for (int i = 0; i < w->words; i++)
				if (w->at[i].page == var->page +
				    off / DSM_PAGE_SIZE &&
				    w->at[i].word ==
				    off % DSM_PAGE_SIZE / 8)
					for (int n = 0; n < w->nodes; n++)
						s->mem[n][i] |= byte <<
							(8 * (off & 7));
		}
	}
}

static void config_fill(const struct world *w, struct dsm_config *c, int node)
{
	memset(c, 0, sizeof(*c));
	c->nodes = w->nodes;
	c->self = node;
	c->cpus = 2;
	c->protocol = w->protocol;
	c->order = w->order;
	c->pages = w->pages;
	c->chunk = 1;
	c->requests = w->asks ? w->asks * w->nodes : 6;
	c->inflight = 6;
	c->batch = 3;
	c->run = w->run ? w->run : 100;
	c->window = 32;
	c->lease = w->lease ? w->lease : 1;
	c->knobs = w->knobs;
	c->probowners = w->probowners;
}

static int engine_init(struct world *w, struct world_state *s, int node,
		       u32 life)
{
	struct dsm *d = world_engine(w, s, node);
	struct dsm_config c;
	struct dsm_set copyset;
	int err;

	config_fill(w, &c, node);
	c.life = life;
	err = dsm_init(d, &c);
	if (err) {
		snprintf(w->broken, sizeof(w->broken), err == -EPROTO ?
			 "protocol refuses this network's order" :
			 "configuration impossible");
		return -1;
	}
	for (int p = 0; p < w->pages && !life; p++) {
		set_clear(&copyset);
		for (int n = 0; n < w->nodes && w->shared[p]; n++)
			if (n != w->owner[p])
				set_add(&copyset, n);
		if (dsm_place(d, p, w->owner[p], &copyset, w->mode[p])) {
			broken(w, "placement impossible", p);
			return -1;
		}
		s->access[node][p] = dsm_page_access(d, p);
	}
	return 0;
}

/*
 * What its earlier life has sent is shut out by the link from now on, which
 * knows lives; what others sent to that is gone already.
 */
void world_join(struct world *w, struct world_state *s, int node)
{
	struct dsm_event ev = { .type = DSM_EV_UP, .node = node, .life = 1 };

	net_forget(w, s, node);
	s->dead &= ~(1 << node);
	s->back |= 1 << node;
	s->up[node] = 1 << node;
	s->told[node] = 1 << node;
	s->lost[node] = 0;
	if (engine_init(w, s, node, 1))
		return;
	scrub(w, s, node);
	world_step(w, s, node, &ev, NULL);
}

int world_init(struct world *w, struct world_state *s)
{
	struct dsm_config c;

	w->words = 0;
	w->pages = 1;
	w->broken[0] = 0;
	w->faulting = -1;
	w->limit = false;
	words_find(w);
	config_fill(w, &c, 0);
	w->stride = (dsm_size(&c) + 7) & ~7ULL;
	memset(s, 0, W_STATE);
	if (*w->broken || !dsm_size(&c) ||
	    sizeof(*s) + w->nodes * w->stride +
	    8 * sizeof(struct world_msg) > W_STATE) {
		broken(w, "cluster too large to explore", 0);
		return -1;
	}
	values_init(w, s);
	for (int n = 0; n < w->nodes; n++) {
		if (engine_init(w, s, n, 0))
			return -1;
		scrub(w, s, n);
	}
	for (int i = 0; i < w->t->threads; i++) {
		lit_thread_init(w->t, i, &s->cpu[i].th);
		s->cpu[i].th.pc = -1;
		cpu_emulated(w, s, i);
	}
	s->evictions = w->evictions;
	s->hints = w->hints;
	s->deaths = w->deaths;
	s->expiries = w->expiries;
	s->guesses = w->guesses;
	s->pins = w->pins;
	s->joins = w->joins;
	return 0;
}

/* Final memory: the owner's, with which every copy must agree. */
u8 world_outcome(struct world *w, struct world_state *s, struct lit_outcome *o)
{
	const struct lit_test *t = w->t;
	u8 gone = 0;
	u64 final[W_WORDS] = { 0 };

	memset(o, 0, sizeof(*o));
	for (int i = 0; i < w->words; i++) {
		int owner = -1, page = w->at[i].page;

		for (int n = 0; n < w->nodes; n++) {
			enum dsm_state st = dsm_page_state(
				world_engine(w, s, n), page);

			if (!(s->dead >> n & 1) &&
			    (st == DSM_O || st == DSM_M))
				owner = n;
		}
		if (owner < 0) {
			if (!s->crashed)
				broken(w, "no owner at the end", page);
			gone |= 1 << page;
			continue;
		}
		final[i] = s->mem[owner][i];
		for (int n = 0; n < w->nodes; n++)
			if (!(s->dead >> n & 1) && s->access[n][page] &&
			    s->mem[n][i] != final[i])
				broken(w, "copies differ at the end", page);
	}
	for (int i = 0; i < t->threads; i++)
		for (int r = 0; r < LIT_REGS; r++)
			if (t->used[i] >> r & 1 &&
			    !(s->crashed >> w->node_of[i] & 1))
				o->value[lit_slot_reg(t, i, r)] =
					s->cpu[i].th.reg[r];
	for (int v = 0; v < t->vars; v++)
		for (int b = 0; b < t->var[v].size * t->var[v].count; b++) {
			int off = t->var[v].offset + b;
			int page = t->var[v].page + off / DSM_PAGE_SIZE;
			int word = off % DSM_PAGE_SIZE / 8;
			int slot = lit_slot_var(t, v, b / t->var[v].size);

			for (int i = 0; i < w->words; i++)
				if (w->at[i].page == page &&
				    w->at[i].word == word)
					o->value[slot] |= (final[i] >>
						(8 * (off & 7)) & 0xff) <<
						(8 * (b % t->var[v].size));
		}
	return gone;
}
