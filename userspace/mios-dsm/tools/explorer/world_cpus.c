// SPDX-License-Identifier: GPL-2.0
/*
 * The explorer's CPUs: x86 as far as a litmus test sees it.  A store to a
 * writable page waits in the CPU's buffer; a trap, a locked instruction, a
 * fence and taking access away (a TLB shootdown) drain it first.
 */
#include <string.h>

#include "world.h"

/* Index in world.at of an aligned word of the test, or -1. */
static int word_at(const struct world *w, u64 addr, int *page, int *offset)
{
	int v = lit_find(w->t, addr, 1);
	int off;

	if (v < 0)
		return -1;
	off = w->t->var[v].offset + (addr - LIT_ADDR(v));
	*page = w->t->var[v].page + off / DSM_PAGE_SIZE;
	*offset = off % DSM_PAGE_SIZE;
	for (int i = 0; i < w->words; i++)
		if (w->at[i].page == *page && w->at[i].word == *offset / 8)
			return i;
	return -1;
}

static u64 mem_read(struct world *w, struct world_state *s, int node, u64 addr,
		    int size)
{
	u64 v = 0;
	int page, off, i;

	for (int b = 0; b < size; b++) {
		i = word_at(w, addr + b, &page, &off);
		v |= (s->mem[node][i] >> (8 * (off & 7)) & 0xff) << (8 * b);
	}
	return v;
}

static void mem_write(struct world *w, struct world_state *s, int node,
		      u64 addr, int size, u64 v)
{
	int page, off, i;

	for (int b = 0; b < size; b++) {
		i = word_at(w, addr + b, &page, &off);
		if (s->access[node][page] != DSM_RW)
			snprintf(w->broken, sizeof(w->broken),
				 "node %d stores to page %d without access",
				 node, page);
		s->mem[node][i] &= ~(0xffULL << (8 * (off & 7)));
		s->mem[node][i] |= (v >> (8 * b) & 0xff) << (8 * (off & 7));
	}
}

void cpu_drain(struct world *w, struct world_state *s, int thread)
{
	struct world_cpu *c = &s->cpu[thread];
	struct world_store *first = c->store;

	mem_write(w, s, w->node_of[thread], first->addr, first->size,
		  first->value);
	c->stores--;
	memmove(first, first + 1, c->stores * sizeof(*first));
	memset(&c->store[c->stores], 0, sizeof(*first));
}

void cpu_drain_node(struct world *w, struct world_state *s, int node, int page)
{
	(void)page;
	for (int i = 0; i < w->t->threads; i++)
		while (w->node_of[i] == node && s->cpu[i].stores)
			cpu_drain(w, s, i);
}

/* 1: all bytes from the buffer, 0: none, -1: some. */
static int forward(const struct world_cpu *c, u64 addr, int size, u64 *v)
{
	int got = 0;

	*v = 0;
	for (int b = 0; b < size; b++) {
		for (int i = c->stores; i-- > 0; ) {
			const struct world_store *st = &c->store[i];

			if (addr + b < st->addr ||
			    addr + b >= st->addr + st->size)
				continue;
			*v |= (st->value >> (8 * (addr + b - st->addr)) &
			       0xff) << (8 * b);
			got++;
			break;
		}
	}
	return got == size ? 1 : got ? -1 : 0;
}

static const struct lit_op *op_of(const struct world *w, struct world_state *s,
				  int thread)
{
	return &w->t->op[thread][s->cpu[thread].th.pc];
}

/*
 * A page of the access that lacks the right, or -1.  Which of two is missed
 * first is the CPU's business: the first one, or the last in every other
 * thread.
 */
static int lacking(struct world *w, struct world_state *s, int thread, u64 addr,
		   int size, u8 right)
{
	int page, off, found = -1, node = w->node_of[thread];

	for (int b = size; b-- > 0; ) {
		word_at(w, addr + b, &page, &off);
		if (s->access[node][page] < right && (found < 0 || !(thread & 1)))
			found = page;
	}
	return found;
}

static u8 right_of(const struct lit_op *op)
{
	return op->code == OP_LOAD ? DSM_RO : DSM_RW;
}

bool cpu_can(struct world *w, struct world_state *s, int thread)
{
	struct world_cpu *c = &s->cpu[thread];
	const struct lit_op *op = op_of(w, s, thread);
	u64 addr, v;

	if (c->blocked || c->lost || c->th.pc >= w->t->ops[thread])
		return false;
	if (op->code == OP_FENCE || op->code == OP_RMW)
		return !c->stores;
	addr = lit_address(op, &c->th);
	if (lit_find(w->t, addr, op->size) < 0)
		return true;	/* cpu_run() complains */
	if (op->code == OP_LOAD) {
		int fwd = forward(c, addr, op->size, &v);

		if (fwd)
			return fwd > 0;
	}
	/* A trap drains the buffer before the engine hears of it. */
	if (lacking(w, s, thread, addr, op->size, right_of(op)) >= 0)
		return !c->stores;
	return op->code == OP_LOAD || c->stores < W_BUFFER;
}

/* The instruction is over: to the next operation on memory. */
static void advance(struct world *w, struct world_state *s, int thread)
{
	struct lit_thread *th = &s->cpu[thread].th;
	int fuel = 1000;

	while (th->pc < w->t->ops[thread] && fuel-- &&
	       lit_op_local(&w->t->op[thread][th->pc]))
		lit_run_local(&w->t->op[thread][th->pc], th);
	if (th->pc >= w->t->ops[thread] || !th->pc ||
	    w->t->op[thread][th->pc - 1].end)
		th->reg[LIT_TMP] = 0;
}

void cpu_emulated(struct world *w, struct world_state *s, int thread)
{
	s->cpu[thread].th.pc++;
	advance(w, s, thread);
}

static void retire(struct world *w, struct world_state *s, int thread)
{
	struct dsm_event ev = { .type = DSM_EV_RETIRED,
				.cpu = w->cpu_of[thread] };
	int node = w->node_of[thread];

	s->cpu[thread].th.pc++;
	advance(w, s, thread);
	if (dsm_cpu_holds(world_engine(w, s, node), ev.cpu))
		world_step(w, s, node, &ev, NULL);
}

/* What the store or the locked instruction would leave in its word. */
static void describe(struct world *w, struct world_state *s, int thread,
		     struct dsm_event *ev, struct lit_thread *after)
{
	const struct lit_op *op = op_of(w, s, thread);
	u64 addr = lit_address(op, &s->cpu[thread].th), v;
	int page, off, node = w->node_of[thread];
	bool writes;

	word_at(w, addr, &page, &off);
	ev->touch = DSM_READ;
	if (op->code == OP_LOAD)
		return;
	ev->touch = DSM_EXCLUSIVE;
	if ((off & 7) + op->size > 8)
		return;
	ev->touch = op->code == OP_STORE ? DSM_WRITE : DSM_ATOMIC;
	if (op->code == OP_STORE)
		v = lit_operand(op, after);
	else
		v = lit_rmw(op, after, mem_read(w, s, node, addr, op->size),
			    &writes);
	ev->word = off / 8;
	ev->mask = ((1u << op->size) - 1) << (off & 7);
	ev->value = v << (8 * (off & 7));
}

static void fault(struct world *w, struct world_state *s, int thread, int page)
{
	struct world_cpu *c = &s->cpu[thread];
	struct lit_thread after = c->th;
	struct dsm_event ev = { .type = DSM_EV_FAULT, .page = page,
				.cpu = w->cpu_of[thread] };
	u8 pc = c->th.pc;

	describe(w, s, thread, &ev, &after);
	c->blocked = 1;
	w->faulting = thread;
	world_step(w, s, w->node_of[thread], &ev, NULL);
	w->faulting = -1;
	/* Emulated: a locked instruction's results go to registers. */
	if (c->th.pc == pc || c->blocked)
		return;
	after.pc = pc;
	c->th = after;
	cpu_emulated(w, s, thread);
}

static void native(struct world *w, struct world_state *s, int thread,
		   const struct lit_op *op, u64 addr)
{
	struct world_cpu *c = &s->cpu[thread];
	int node = w->node_of[thread];
	bool writes;
	u64 v;

	if (op->code == OP_LOAD) {
		if (!forward(c, addr, op->size, &v))
			v = mem_read(w, s, node, addr, op->size);
		lit_reg_write(&c->th, op->reg, op->size, v);
	} else if (op->code == OP_RMW) {
		v = lit_rmw(op, &c->th,
			    mem_read(w, s, node, addr, op->size), &writes);
		mem_write(w, s, node, addr, op->size, v);
	} else if (w->no_buffers) {
		mem_write(w, s, node, addr, op->size,
			  lit_operand(op, &c->th));
	} else {
		c->store[c->stores].addr = addr;
		c->store[c->stores].value = lit_operand(op, &c->th);
		c->store[c->stores++].size = op->size;
	}
}

void cpu_run(struct world *w, struct world_state *s, int thread)
{
	struct world_cpu *c = &s->cpu[thread];
	const struct lit_op *op = op_of(w, s, thread);
	int page = -1;
	u64 addr, v;

	if (op->code == OP_FENCE) {
		cpu_emulated(w, s, thread);
		return;
	}
	addr = lit_address(op, &c->th);
	if (lit_find(w->t, addr, op->size) < 0) {
		/* Only by an outcome that x86-TSO forbids: the oracle knows. */
		snprintf(w->broken, sizeof(w->broken),
			 "P%d touches no variable", thread);
		return;
	}
	if (op->code != OP_LOAD || !forward(c, addr, op->size, &v))
		page = lacking(w, s, thread, addr, op->size, right_of(op));
	if (page >= 0) {
		fault(w, s, thread, page);
		return;
	}
	native(w, s, thread, op, addr);
	retire(w, s, thread);
}
