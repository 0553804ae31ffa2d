// SPDX-License-Identifier: GPL-2.0
/*
 * What the operations of a litmus test do to registers and flags.  Shared
 * by the oracle and by those who run the test on the engine, which differ
 * only in what memory is.
 */
#include <string.h>

#include "litmus.h"

uint64_t lit_mask(int size)
{
	return size >= 8 ? ~0ULL : (1ULL << (8 * size)) - 1;
}

void lit_thread_init(const struct lit_test *t, int thread,
		     struct lit_thread *th)
{
	memset(th, 0, sizeof(*th));
	memcpy(th->reg, t->reg[thread], sizeof(t->reg[thread]));
}

uint64_t lit_address(const struct lit_op *op, const struct lit_thread *th)
{
	uint64_t at = op->addr;

	if (op->base >= 0)
		at += th->reg[op->base];
	if (op->index >= 0)
		at += th->reg[op->index] * op->scale;
	return at;
}

/* As x86 does: 32 bits clear the rest, 8 and 16 bits keep it. */
void lit_reg_write(struct lit_thread *th, int reg, int size, uint64_t v)
{
	if (size >= 4)
		th->reg[reg] = v & lit_mask(size);
	else
		th->reg[reg] = (th->reg[reg] & ~lit_mask(size)) |
			(v & lit_mask(size));
}

uint64_t lit_operand(const struct lit_op *op, const struct lit_thread *th)
{
	uint64_t v = op->imm ? (uint64_t)op->value : th->reg[op->src];

	return v & lit_mask(op->size);
}

static void flags(struct lit_thread *th, uint64_t a, uint64_t b, uint64_t r,
		  int size, bool minus)
{
	uint64_t top = 1ULL << (8 * size - 1);

	th->zf = !(r & lit_mask(size));
	th->sf = r & top;
	th->cf = minus ? a < b : (r & lit_mask(size)) < a;
	th->of = minus ? ((a ^ b) & (a ^ r)) & top :
		(~(a ^ b) & (a ^ r)) & top;
}

static uint64_t compute(struct lit_thread *th, int alu, uint64_t a,
			uint64_t b, int size)
{
	uint64_t r = 0, bit = 1ULL << (b & (8 * size - 1));

	switch (alu) {
	case ALU_ADD:
	case ALU_XADD:
		r = a + b;
		flags(th, a, b, r, size, false);
		return r;
	case ALU_SUB:
	case ALU_CMP:
		r = a - b;
		flags(th, a, b, r, size, true);
		return r;
	case ALU_NEG:
		flags(th, 0, a, -a, size, true);
		return -a;
	case ALU_NOT:
		return ~a;
	case ALU_BTS:
	case ALU_BTR:
	case ALU_BTC:
		th->cf = a & bit;
		return alu == ALU_BTS ? a | bit :
			alu == ALU_BTR ? a & ~bit : a ^ bit;
	case ALU_AND:
	case ALU_TEST:
		r = a & b;
		break;
	case ALU_OR:
		r = a | b;
		break;
	case ALU_XOR:
		r = a ^ b;
		break;
	default:
		return b;
	}
	flags(th, r, 0, r, size, false);
	th->cf = false;
	th->of = false;
	return r;
}

static bool taken(const struct lit_thread *th, int cond)
{
	bool less = th->sf != th->of;

	switch (cond) {
	case COND_E:	return th->zf;
	case COND_NE:	return !th->zf;
	case COND_L:	return less;
	case COND_LE:	return less || th->zf;
	case COND_G:	return !less && !th->zf;
	case COND_GE:	return !less;
	case COND_S:	return th->sf;
	case COND_NS:	return !th->sf;
	case COND_C:	return th->cf;
	case COND_NC:	return !th->cf;
	default:	return true;
	}
}

bool lit_op_local(const struct lit_op *op)
{
	return op->code >= OP_ALU;
}

bool lit_loops(const struct lit_test *t)
{
	for (int i = 0; i < t->threads; i++)
		for (int n = 0; n < t->ops[i]; n++)
			if (t->op[i][n].code == OP_JUMP &&
			    t->op[i][n].target <= n)
				return true;
	return false;
}

void lit_run_local(const struct lit_op *op, struct lit_thread *th)
{
	uint64_t left = th->reg[op->reg] & lit_mask(op->size);
	uint64_t r;

	th->pc++;
	switch (op->code) {
	case OP_ALU:
		r = compute(th, op->alu, left, lit_operand(op, th),
			    op->size);
		if (op->alu != ALU_CMP && op->alu != ALU_TEST)
			lit_reg_write(th, op->reg, op->size, r);
		break;
	case OP_JUMP:
		if (taken(th, op->cond))
			th->pc = op->target;
		break;
	case OP_SET:
		lit_reg_write(th, op->reg, 1, taken(th, op->cond));
		break;
	case OP_CMOV:
		if (taken(th, op->cond))
			lit_reg_write(th, op->reg, op->size,
				      lit_operand(op, th));
		break;
	}
}

uint64_t lit_rmw(const struct lit_op *op, struct lit_thread *th,
		 uint64_t old, bool *writes)
{
	uint64_t mask = lit_mask(op->size), new;

	old &= mask;
	*writes = true;
	switch (op->alu) {
	case ALU_XCHG:
		new = th->reg[op->src] & mask;
		lit_reg_write(th, op->src, op->size, old);
		return new;
	case ALU_XADD:
		new = compute(th, ALU_ADD, old, th->reg[op->src] & mask,
			      op->size);
		lit_reg_write(th, op->src, op->size, old);
		return new & mask;
	case ALU_CMPXCHG:
		/* The accumulator is register 0; a failure writes back. */
		compute(th, ALU_CMP, th->reg[0] & mask, old, op->size);
		if (th->zf)
			return th->reg[op->src] & mask;
		lit_reg_write(th, 0, op->size, old);
		return old;
	default:
		return compute(th, op->alu, old, lit_operand(op, th),
			       op->size) & mask;
	}
}

int lit_find(const struct lit_test *t, uint64_t addr, int size)
{
	for (int v = 0; v < t->vars; v++) {
		uint64_t from = LIT_ADDR(v);
		uint64_t len = (uint64_t)t->var[v].size * t->var[v].count;

		if (addr >= from && addr - from < len &&
		    addr - from + size <= len)
			return v;
	}
	return -1;
}
