// SPDX-License-Identifier: GPL-2.0
/*
 * What a store that has been taken apart does: its address, its value, and
 * the registers behind it.  Tested against the processor itself
 * (selftests/dsm/57-emulate).
 */
#include "emulate.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define PAGE		4096ULL
#define LAST_ADDRESS	(1ULL << 47)	/* first one that is no user's */

static u64 low(u64 v, u8 size)
{
	return size < 8 ? v & ((1ULL << (8 * size)) - 1) : v;
}

/* Without REX the byte registers 4 to 7 are ah, ch, dh and bh. */
static bool is_high(const struct dsm_insn *in, u8 reg, u8 size)
{
	return size == 1 && !in->rex && reg >= 4 && reg < 8;
}

static u64 reg_get(const struct dsm_insn *in, const struct dsm_regs *r, u8 reg,
		   u8 size)
{
	if (is_high(in, reg, size))
		return low(r->gpr[reg - 4] >> 8, 1);
	return low(r->gpr[reg], size);
}

/* 32 bits clear the upper half, fewer leave the rest alone. */
static void reg_put(const struct dsm_insn *in, struct dsm_regs *r, u8 reg,
		    u8 size, u64 v)
{
	u64 keep = size < 4 ? ~0ULL << (8 * size) : 0;

	if (is_high(in, reg, size))
		r->gpr[reg - 4] = (r->gpr[reg - 4] & ~0xff00ULL) |
				  low(v, 1) << 8;
	else
		r->gpr[reg] = (r->gpr[reg] & keep) | low(v, size);
}

static u64 value_get(const u8 *bytes, u8 size)
{
	u64 v = 0;
	u8 i;

	for (i = 0; i < size; i++)
		v |= (u64)bytes[i] << (8 * i);
	return v;
}

static void value_put(u8 *bytes, u8 size, u64 v)
{
	u8 i;

	for (i = 0; i < size; i++)
		bytes[i] = v >> (8 * i);
}

/* Words of a bit string lie before and behind the address, too. */
static u64 bit_offset(const struct dsm_insn *in, const struct dsm_regs *r)
{
	long long bit;

	if (in->op != DSM_OP_BIT || in->reg == DSM_REG_NONE)
		return 0;
	bit = r->gpr[in->reg];
	if (in->size == 4)
		bit = (int)bit;
	if (in->size == 2)
		bit = (short)bit;
	/* Rounded down: a bit before the address is in the word before it. */
	return (bit >> (in->size == 8 ? 6 : in->size == 4 ? 5 : 4)) * in->size;
}

static u64 effective(const struct dsm_insn *in, const struct dsm_regs *r)
{
	u64 at = in->disp + bit_offset(in, r);

	if (in->base == DSM_REG_RIP)
		at += r->rip + in->length;
	else if (in->base != DSM_REG_NONE)
		at += r->gpr[in->base];
	if (in->index != DSM_REG_NONE)
		at += r->gpr[in->index] << in->scale;
	if (in->addr32)
		at = low(at, 4);
	if (in->fs)
		at += r->fs_base;
	if (in->gs)
		at += r->gs_base;
	return at;
}

static bool reads_memory(const struct dsm_insn *in)
{
	return in->op >= DSM_OP_ALU;
}

static void addresses(const struct dsm_insn *in, const struct dsm_regs *r,
		      struct dsm_store *s)
{
	switch (in->op) {
	case DSM_OP_PUSH_MEM:
		s->from = effective(in, r);
		s->reads_from = true;
		s->addr = r->gpr[RSP] - in->size;
		break;
	case DSM_OP_PUSH:
		s->addr = r->gpr[RSP] - in->size;
		break;
	case DSM_OP_MOVS:
		s->from = effective(in, r);
		s->reads_from = true;
		s->addr = r->gpr[RDI];
		break;
	case DSM_OP_STOS:
		s->addr = r->gpr[RDI];
		break;
	default:
		s->addr = effective(in, r);
	}
}

static bool wild(u64 addr, u8 size)
{
	return addr > LAST_ADDRESS - size;
}

static void cut_in_parts(struct dsm_store *s)
{
	u64 first = PAGE - (s->addr & (PAGE - 1));

	s->parts = 1;
	s->part[0].addr = s->addr;
	s->part[0].size = s->size;
	s->part[0].at = 0;
	if (first >= s->size)
		return;
	s->parts = 2;
	s->part[0].size = first;
	s->part[1].addr = s->addr + first;
	s->part[1].size = s->size - first;
	s->part[1].at = first;
}

int dsm_store_where(const struct dsm_insn *in, const struct dsm_regs *r,
		    struct dsm_store *s)
{
	memset(s, 0, sizeof(*s));
	/* A debugger wants its trap, and who checks alignment wants that. */
	if (r->flags & (DSM_TF | DSM_AC))
		return -EINVAL;
	if (in->op == DSM_OP_VECTOR && !r->vec)
		return -EINVAL;
	if (in->rep && !r->gpr[RCX])
		return 0;
	s->size = in->size;
	addresses(in, r, s);
	if (wild(s->addr, s->size) || wild(s->from, s->size))
		return -EINVAL;
	if (in->align && s->addr & (in->align - 1))
		return -EINVAL;
	s->reads = reads_memory(in);
	s->atomic = in->lock;
	cut_in_parts(s);
	return s->atomic && s->parts > 1 ? -EINVAL : 0;
}

/* A string instruction: on to the next element, and out behind the last. */
static void string_step(const struct dsm_insn *in, struct dsm_regs *r)
{
	u64 step = r->flags & DSM_DF ? -(u64)in->size : in->size;

	if (in->rep && !r->gpr[RCX]) {
		r->rip += in->length;
		return;
	}
	r->gpr[RDI] += step;
	if (in->op == DSM_OP_MOVS)
		r->gpr[RSI] += step;
	if (!in->rep || !--r->gpr[RCX])
		r->rip += in->length;
}

static u64 bit_op(const struct dsm_insn *in, const struct dsm_regs *r, u64 old,
		  u64 *flags)
{
	u64 bit = in->reg == DSM_REG_NONE ? in->imm : r->gpr[in->reg];

	bit = 1ULL << (bit & (8 * in->size - 1));
	*flags = old & bit ? *flags | DSM_CF : *flags & ~DSM_CF;
	switch (in->alu) {
	case 1:
		return old | bit;
	case 2:
		return old & ~bit;
	}
	return old ^ bit;
}

/* inc and dec keep the carry. */
static u64 by_one(const struct dsm_insn *in, u64 old, u64 *flags)
{
	u64 carry = *flags & DSM_CF, v;

	v = dsm_alu(in->op == DSM_OP_INC ? DSM_ALU_ADD : DSM_ALU_SUB, old, 1,
		    in->size, flags);
	*flags = (*flags & ~DSM_CF) | carry;
	return v;
}

/* If they differ, memory is written too: with what is there. */
static u64 compare_exchange(const struct dsm_insn *in,
			    const struct dsm_regs *r, u64 old,
			    struct dsm_regs *after)
{
	dsm_alu(DSM_ALU_CMP, r->gpr[RAX], old, in->size, &after->flags);
	if (after->flags & DSM_ZF)
		return reg_get(in, r, in->reg, in->size);
	reg_put(in, after, RAX, in->size, old);
	return old;
}

static void cmpxchg_pair(const struct dsm_insn *in, const struct dsm_regs *r,
			 const u8 *old, u8 *value, struct dsm_regs *after)
{
	u8 half = in->size / 2;
	u64 a = value_get(old, half), d = value_get(old + half, half);

	if (a == low(r->gpr[RAX], half) && d == low(r->gpr[RDX], half)) {
		after->flags |= DSM_ZF;
		value_put(value, half, r->gpr[RBX]);
		value_put(value + half, half, r->gpr[RCX]);
		return;
	}
	after->flags &= ~DSM_ZF;
	after->gpr[RAX] = a;
	after->gpr[RDX] = d;
	memcpy(value, old, in->size);
}

/* Read, compute, write: what ends up in memory. */
static u64 modify(const struct dsm_insn *in, const struct dsm_regs *r, u64 old,
		  struct dsm_regs *after)
{
	u64 other = in->reg == DSM_REG_NONE ? in->imm :
		    reg_get(in, r, in->reg, in->size), v;
	u64 *flags = &after->flags;

	switch (in->op) {
	case DSM_OP_ALU:
		return dsm_alu(in->alu, old, other, in->size, flags);
	case DSM_OP_INC:
	case DSM_OP_DEC:
		return by_one(in, old, flags);
	case DSM_OP_NOT:
		return ~old;
	case DSM_OP_NEG:
		return dsm_alu(DSM_ALU_SUB, 0, old, in->size, flags);
	case DSM_OP_SHIFT:
		other = in->reg == DSM_REG_CL ? r->gpr[RCX] : in->imm;
		return dsm_shift(in->alu, old, other, in->size, flags);
	case DSM_OP_BIT:
		return bit_op(in, r, old, flags);
	case DSM_OP_XADD:
		v = dsm_alu(DSM_ALU_ADD, old, other, in->size, flags);
		reg_put(in, after, in->reg, in->size, old);
		return v;
	case DSM_OP_CMPXCHG:
		return compare_exchange(in, r, old, after);
	}
	reg_put(in, after, in->reg, in->size, old);	/* xchg */
	return other;
}

static u64 swapped(u64 v, u8 size)
{
	u8 bytes[8], i;

	for (i = 0; i < size; i++)
		bytes[i] = v >> (8 * (size - 1 - i));
	return value_get(bytes, size);
}

/* What a plain store writes, if it fits into a register. */
static u64 plain(const struct dsm_insn *in, const struct dsm_regs *r)
{
	u64 v = in->reg == DSM_REG_NONE ? in->imm :
		reg_get(in, r, in->reg, in->size);

	if (in->op == DSM_OP_MOVBE)
		return swapped(v, in->size);
	if (in->op == DSM_OP_SET)
		return dsm_condition(in->alu, r->flags);
	return v;
}

void dsm_store_perform(const struct dsm_insn *in, const struct dsm_regs *r,
		       const u8 *old, struct dsm_store *s,
		       struct dsm_regs *after)
{
	*after = *r;
	after->flags &= ~DSM_RF;
	if (in->op == DSM_OP_STOS || in->op == DSM_OP_MOVS)
		string_step(in, after);
	else
		after->rip += in->length;
	if (in->op == DSM_OP_PUSH || in->op == DSM_OP_PUSH_MEM)
		after->gpr[RSP] -= in->size;
	if (!s->size)
		return;
	if (in->op == DSM_OP_VECTOR)
		memcpy(s->value, r->vec + 64 * in->reg + in->lane, s->size);
	else if (s->reads_from)
		memcpy(s->value, old, s->size);
	else if (in->op == DSM_OP_CMPXCHG_PAIR)
		cmpxchg_pair(in, r, old, s->value, after);
	else if (s->reads)
		value_put(s->value, s->size,
			  modify(in, r, value_get(old, s->size), after));
	else
		value_put(s->value, s->size, plain(in, r));
}
