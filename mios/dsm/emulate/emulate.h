/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stores that trap: what an instruction would write, without executing it.
 * The caller has the instruction's bytes and the registers; it gets the
 * address, the size and the value, and the registers as they are afterwards.
 * Nothing here touches memory but what is passed in.
 *
 *	dsm_insn_decode(&insn, code, len)	what it is
 *	dsm_store_where(&insn, &regs, &s)	where it writes and reads
 *	(the caller reads s.size bytes at s.addr or s.from, if asked)
 *	dsm_store_perform(&insn, &regs, old, &s, &after)
 *
 * Any error means: this one is not emulated, take the page exclusively and
 * let the processor execute it.  That is always right, only slower.
 *
 * For code in 64-bit mode only: the caller looks at the code segment first.
 */
#ifndef DSM_EMULATE_H
#define DSM_EMULATE_H

#include "../os.h"

#define DSM_INSN_MAX	15	/* bytes; no instruction is longer */
#define DSM_STORE_MAX	64	/* bytes that one store writes */

enum dsm_op {
	DSM_OP_MOV,		/* a register, or the immediate */
	DSM_OP_MOVBE,
	DSM_OP_VECTOR,		/* a vector register, or a piece of one */
	DSM_OP_SET,		/* a condition */
	DSM_OP_PUSH,
	DSM_OP_PUSH_MEM,
	DSM_OP_STOS,
	DSM_OP_MOVS,
	DSM_OP_ALU,		/* two operands, see dsm_insn.alu */
	DSM_OP_INC,
	DSM_OP_DEC,
	DSM_OP_NOT,
	DSM_OP_NEG,
	DSM_OP_SHIFT,		/* and rotate */
	DSM_OP_BIT,		/* bts, btr, btc */
	DSM_OP_XCHG,
	DSM_OP_XADD,
	DSM_OP_CMPXCHG,
	DSM_OP_CMPXCHG_PAIR,	/* cmpxchg8b and 16b */
};

#define DSM_REG_NONE	0xff
#define DSM_REG_RIP	0xfe
#define DSM_REG_CL	1

/* An instruction that stores, taken apart. */
struct dsm_insn {
	u8 op;
	u8 alu;			/* which of eight, as the opcode has it */
	u8 length;
	u8 size;		/* bytes in memory */
	u8 align;		/* of the address, or it traps; else 0 */
	u8 reg;			/* other operand; DSM_REG_NONE: the immediate */
	u8 lane;		/* where the piece begins in a vector */
	u8 base;
	u8 index;
	u8 scale;		/* shift */
	bool fs;
	bool gs;
	bool addr32;		/* addresses are cut to 32 bits */
	bool rex;		/* byte registers 4 to 7 are spl to dil */
	bool lock;		/* or xchg, which always is */
	bool rep;
	u64 disp;
	u64 imm;		/* both with their sign */
};

struct dsm_regs {
	u64 gpr[16];		/* in the order of the encoding */
	u64 rip;
	u64 flags;
	u64 fs_base;
	u64 gs_base;
	const u8 *vec;		/* 32 registers of 64 bytes; or NULL */
};

struct dsm_part {
	u64 addr;
	u8 size;
	u8 at;			/* in dsm_store.value */
};

/* What it writes: one piece, or two that lie on two pages. */
struct dsm_store {
	u64 addr;
	u64 from;		/* the operand is read here instead */
	u8 size;		/* 0: writes nothing (rep with a count of 0) */
	bool reads;		/* needs what is at addr */
	bool reads_from;	/* needs what is at from */
	bool atomic;		/* nobody may come between read and write */
	u8 parts;
	struct dsm_part part[2];
	u8 value[DSM_STORE_MAX];
};

/*
 * Reads at most @len bytes.  Returns 0; -EINVAL if it is not one of those
 * that are emulated; -ENODATA if the bytes end first.
 */
int dsm_insn_decode(struct dsm_insn *in, const u8 *code, size_t len);

/*
 * -EINVAL where the instruction would trap for another reason, or cannot be
 * made atomic: locked across two pages, misaligned, a wild address.
 */
int dsm_store_where(const struct dsm_insn *in, const struct dsm_regs *r,
		    struct dsm_store *s);

/*
 * Fills in s->value and @after.  @old: s->size bytes of what s->reads or
 * s->reads_from asked for.  A string instruction is performed once; its rip
 * stays until the count is used up, as an interrupt would find it.
 */
void dsm_store_perform(const struct dsm_insn *in, const struct dsm_regs *r,
		       const u8 *old, struct dsm_store *s,
		       struct dsm_regs *after);

/* Arithmetic, with the flags as the processor leaves them. */
u64 dsm_alu(u8 which, u64 a, u64 b, u8 size, u64 *flags);
u64 dsm_shift(u8 which, u64 a, u8 count, u8 size, u64 *flags);
bool dsm_condition(u8 which, u64 flags);

enum dsm_alu {
	DSM_ALU_ADD, DSM_ALU_OR, DSM_ALU_ADC, DSM_ALU_SBB,
	DSM_ALU_AND, DSM_ALU_SUB, DSM_ALU_XOR, DSM_ALU_CMP,
};

#define DSM_CF	0x001UL
#define DSM_PF	0x004UL
#define DSM_AF	0x010UL
#define DSM_ZF	0x040UL
#define DSM_SF	0x080UL
#define DSM_TF	0x100UL
#define DSM_DF	0x400UL
#define DSM_OF	0x800UL
#define DSM_RF	0x10000UL
#define DSM_AC	0x40000UL

#endif /* DSM_EMULATE_H */
