// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: the x86-TSO abstract machine (Owens, Sarkar, Sewell), which
 * knows nothing of the engine.  One memory, and per thread a FIFO of stores
 * not yet in memory.  A load takes each byte from the newest store of its
 * own thread that wrote it, else from memory; a fence and a locked
 * instruction wait for the FIFO to drain.  All interleavings are walked.
 *
 * Unlocked accesses that leave an aligned 8-byte word are split at the word
 * boundary, in either order: the manuals promise no atomicity there.
 */
#include <stdlib.h>
#include <string.h>

#include "litmus.h"

#define BUFFER		12
#define MEMORY		64	/* bytes per variable */
#define DEPTH		2000	/* steps of an interleaving, on our stack */

struct entry {
	uint8_t var, offset, size, pad;
	uint64_t value;
};

struct machine {
	uint8_t memory[LIT_VARS][MEMORY];
	struct lit_thread thread[LIT_THREADS];
	uint8_t length[LIT_THREADS];
	uint8_t half[LIT_THREADS];	/* a split access: parts done */
	uint64_t part[LIT_THREADS];
	struct entry buffer[LIT_THREADS][BUFFER];
};

struct search {
	const struct lit_test *t;
	struct lit_set *allowed;
	struct lit_cuts *cuts;	/* instead: wherever the living may stop */
	struct visited seen;
	bool failed;
	bool wild;		/* an access outside of all variables */
	bool endless;		/* a loop that changes something each time */
	int depth;
};

static void place_of(const struct lit_test *t, uint64_t addr, int size,
		     int *var, int *offset)
{
	*var = lit_find(t, addr, size);
	if (*var >= 0)
		*offset = addr - LIT_ADDR(*var);
}

static uint64_t load(const struct machine *m, int th, int var, int off,
		     int size)
{
	uint64_t v = 0;

	for (int b = 0; b < size; b++) {
		uint8_t byte = m->memory[var][off + b];

		for (int i = 0; i < m->length[th]; i++) {
			const struct entry *e = &m->buffer[th][i];
			int in = off + b - e->offset;

			if (e->var == var && in >= 0 && in < e->size)
				byte = e->value >> (8 * in);
		}
		v |= (uint64_t)byte << (8 * b);
	}
	return v;
}

static void memory_write(struct machine *m, int var, int off, int size,
			 uint64_t v)
{
	for (int b = 0; b < size; b++)
		m->memory[var][off + b] = v >> (8 * b);
}

static void drain(struct machine *m, int th)
{
	struct entry *e = m->buffer[th];

	memory_write(m, e->var, e->offset, e->size, e->value);
	m->length[th]--;
	memmove(e, e + 1, m->length[th] * sizeof(*e));
	memset(e + m->length[th], 0, sizeof(*e));
}

static bool buffer_put(struct machine *m, int th, int var, int off, int size,
		       uint64_t v)
{
	struct entry *e = &m->buffer[th][m->length[th]];

	if (m->length[th] == BUFFER)
		return false;
	memset(e, 0, sizeof(*e));
	e->var = var;
	e->offset = off;
	e->size = size;
	e->value = v & lit_mask(size);
	m->length[th]++;
	return true;
}

/* Bytes of the access in its first word, all if it does not leave it. */
static int first_part(const struct lit_test *t, int var, int off, int size)
{
	int at = (t->var[var].offset + off) & 7;

	return at + size > 8 ? 8 - at : size;
}

/*
 * One operation of a thread.  order: which part of a split access first.
 * False if it cannot happen now.
 */
static bool execute(const struct lit_test *t, struct machine *m, int i,
		    int order)
{
	struct lit_thread *th = &m->thread[i];
	const struct lit_op *op = &t->op[i][th->pc];
	int var = -1, off = 0, part, from, len;
	uint64_t v;
	bool writes;

	if (op->code == OP_FENCE || op->code == OP_RMW) {
		if (m->length[i] || order)
			return false;
		if (op->code == OP_FENCE) {
			th->pc++;
			return true;
		}
	}
	place_of(t, lit_address(op, th), op->size, &var, &off);
	if (var < 0)
		return false;
	if (op->code == OP_RMW) {
		v = lit_rmw(op, th, load(m, i, var, off, op->size), &writes);
		memory_write(m, var, off, op->size, v);
		th->pc++;
		return true;
	}
	part = first_part(t, var, off, op->size);
	if (part == op->size) {
		if (order)
			return false;
		from = 0;
		len = part;
	} else {
		/* half: 0 none done, 1 low part done, 2 high part done */
		if (m->half[i] ? order != (m->half[i] == 1) : false)
			return false;
		from = order ? part : 0;
		len = order ? op->size - part : part;
	}
	if (op->code == OP_STORE) {
		v = lit_operand(op, th) >> (8 * from);
		if (!buffer_put(m, i, var, off + from, len, v))
			return false;
	} else {
		v = load(m, i, var, off + from, len);
		m->part[i] |= v << (8 * from);
	}
	if (len != op->size && !m->half[i]) {
		m->half[i] = order ? 2 : 1;
		return true;
	}
	if (op->code == OP_LOAD)
		lit_reg_write(th, op->reg, op->size, m->part[i]);
	m->half[i] = 0;
	m->part[i] = 0;
	th->pc++;
	return true;
}

static void run_local(const struct lit_test *t, struct machine *m)
{
	for (int i = 0; i < t->threads; i++) {
		struct lit_thread *th = &m->thread[i];
		int fuel = 1000;	/* a loop without memory */

		while (th->pc < t->ops[i] && fuel-- &&
		       lit_op_local(&t->op[i][th->pc]))
			lit_run_local(&t->op[i][th->pc], th);
		/* What an instruction loaded is nobody's any more. */
		if (th->pc >= t->ops[i] || !th->pc ||
		    t->op[i][th->pc - 1].end)
			th->reg[LIT_TMP] = 0;
	}
}

/* What is to be seen of the machine without its dead threads. */
static void look(const struct lit_test *t, const struct machine *m,
		 uint32_t dead, struct lit_outcome *o)
{
	memset(o, 0, sizeof(*o));
	for (int i = 0; i < t->threads; i++)
		for (int r = 0; r < LIT_REGS; r++)
			if (t->used[i] >> r & 1 && !(dead >> i & 1))
				o->value[lit_slot_reg(t, i, r)] =
					m->thread[i].reg[r];
	for (int v = 0; v < t->vars; v++)
		for (int k = 0; k < t->var[v].count; k++)
			memcpy(&o->value[lit_slot_var(t, v, k)],
			       &m->memory[v][k * t->var[v].size],
			       t->var[v].size);
}

static void record(struct search *s, const struct machine *m)
{
	struct lit_outcome o;

	look(s->t, m, 0, &o);
	if (!lit_set_add(s->allowed, &o))
		s->failed = true;
}

/* Nothing of the living is on its way: they may have ended here. */
static void record_cut(struct search *s, const struct machine *m)
{
	struct lit_cuts *k = s->cuts;
	struct lit_cut c;
	int new;

	memset(&c, 0, sizeof(c));
	for (int i = 0; i < s->t->threads; i++) {
		bool dead = k->dead >> i & 1;

		if (!dead && (m->length[i] || m->half[i]))
			return;
		c.pc[i] = dead ? LIT_DEAD : m->thread[i].pc;
	}
	look(s->t, m, k->dead, &c.o);
	new = visited_add(&k->seen, &c, sizeof(c));
	if (new > 0 && k->count == k->room) {
		int room = k->room ? 2 * k->room : 256;
		void *more = realloc(k->cut, room * sizeof(c));

		if (more) {
			k->cut = more;
			k->room = room;
		} else {
			new = -1;
		}
	}
	if (new > 0)
		k->cut[k->count++] = c;
	s->failed |= new < 0;
}

static bool touches_nothing(const struct lit_test *t,
			    const struct lit_thread *th, int i)
{
	const struct lit_op *op = &t->op[i][th->pc];

	return (op->code == OP_LOAD || op->code == OP_STORE ||
		op->code == OP_RMW) &&
		lit_find(t, lit_address(op, th), op->size) < 0;
}

/* Where run_local() has given up. */
static bool loops_alone(const struct lit_test *t, const struct lit_thread *th,
			int i)
{
	return lit_op_local(&t->op[i][th->pc]);
}

static void walk(struct search *s, const struct machine *m)
{
	const struct lit_test *t = s->t;
	struct machine next;
	bool over = true;
	int new = visited_add(&s->seen, m, sizeof(*m));

	if (new < 0)
		s->failed = true;
	if (s->depth == DEPTH)
		s->failed = s->endless = true;
	if (new <= 0 || s->failed)
		return;
	s->depth++;
	if (s->cuts)
		record_cut(s, m);
	for (int i = 0; i < t->threads; i++) {
		if (m->length[i]) {
			over = false;
			next = *m;
			drain(&next, i);
			walk(s, &next);
		}
		if (m->thread[i].pc >= t->ops[i])
			continue;
		over = false;
		if (touches_nothing(t, &m->thread[i], i))
			s->failed = s->wild = true;
		if (loops_alone(t, &m->thread[i], i))
			s->failed = s->endless = true;
		for (int order = 0; order < 2; order++) {
			next = *m;
			if (!execute(t, &next, i, order))
				continue;
			run_local(t, &next);
			walk(s, &next);
		}
	}
	if (over && !s->cuts)
		record(s, m);
	s->depth--;
}

static bool search(struct search *s)
{
	const struct lit_test *t = s->t;
	struct machine m;

	memset(&m, 0, sizeof(m));
	for (int v = 0; v < t->vars; v++)
		for (int k = 0; k < t->var[v].count; k++)
			memory_write(&m, v, k * t->var[v].size,
				     t->var[v].size, t->var[v].init[k]);
	for (int i = 0; i < t->threads; i++)
		lit_thread_init(t, i, &m.thread[i]);
	run_local(t, &m);
	if (visited_init(&s->seen))
		return false;
	walk(s, &m);
	visited_free(&s->seen);
	return !s->failed;
}

int lit_oracle(const struct lit_test *t, struct lit_set *allowed,
	       uint64_t *states)
{
	struct search s = { .t = t, .allowed = allowed };
	bool good;

	allowed->count = 0;
	allowed->overflow = false;
	good = search(&s);
	*states = s.seen.count;
	return good ? 0 : s.wild ? -2 : s.endless ? -3 : -1;
}

bool lit_oracle_cuts(const struct lit_test *t, uint32_t dead,
		     struct lit_cuts *cuts)
{
	struct search s = { .t = t, .cuts = cuts };
	bool good;

	memset(cuts, 0, sizeof(*cuts));
	cuts->dead = dead;
	if (visited_init(&cuts->seen))
		return false;
	good = search(&s);
	visited_free(&cuts->seen);
	return good;
}

bool lit_cuts_have(const struct lit_cuts *cuts, const struct lit_cut *c,
		   uint32_t mask)
{
	for (int i = 0; i < cuts->count; i++) {
		const struct lit_cut *at = &cuts->cut[i];
		bool same = !memcmp(at->pc, c->pc, sizeof(c->pc));

		for (int v = 0; v < LIT_VALUES && same; v++)
			same = !(mask >> v & 1) ||
				at->o.value[v] == c->o.value[v];
		if (same)
			return true;
	}
	return false;
}

void lit_cuts_free(struct lit_cuts *cuts)
{
	free(cuts->cut);
	memset(cuts, 0, sizeof(*cuts));
}
