/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the decoder: the bytes being read, and what the
 * prefixes have said.
 */
#ifndef DSM_DECODE_H
#define DSM_DECODE_H

#include "emulate.h"

struct dsm_reader {
	const u8 *at;
	size_t left;
	bool cut;
	/* prefixes */
	bool p66, p67, lock, seg, fs, gs, evex;
	u8 rep;			/* 0, or 0xf2 or 0xf3 */
	u8 rex;
	u8 reg_high;		/* bit 4 of a vector register */
	u8 modrm;
	u8 imm;			/* bytes of the immediate that follows */
};

static inline bool wide(const struct dsm_reader *r)
{
	return r->rex & 8;
}

/* The operand's size, unless the opcode says one byte. */
static inline u8 full_size(const struct dsm_reader *r)
{
	return wide(r) ? 8 : r->p66 ? 2 : 4;
}

static inline u8 imm_size(u8 size)
{
	return size > 4 ? 4 : size;
}

static inline u8 reg_field(const struct dsm_reader *r)
{
	return (r->modrm >> 3 & 7) | (r->rex & 4 ? 8 : 0);
}

/*
 * Opcodes of the first map and of 0f: with a ModRM byte, and perhaps a store?
 * Then what it is; r->imm says how long an immediate follows.
 */
bool dsm_one_byte_known(u8 opcode);
bool dsm_two_byte_known(u8 opcode);
int dsm_one_byte(struct dsm_reader *r, struct dsm_insn *in, u8 opcode);
int dsm_two_byte(struct dsm_reader *r, struct dsm_insn *in, u8 opcode);

/* For vector instructions only, after prefixes and opcode map. */
struct dsm_vector {
	u8 map;			/* 1: 0f, 3: 0f 3a */
	u8 opcode;
	u8 prefix;		/* mandatory: 0 none, 1 66, 2 f3, 3 f2 */
	u8 encoding;		/* 0 legacy, 1 VEX, 2 EVEX */
	u8 length;		/* 0: 128 bits, 1: 256, 2: 512 */
	bool wide;		/* W */
};

/*
 * Fills in op, size and align, and in @lanes how many pieces an immediate
 * may choose from (0: there is none).  -EINVAL if it is not a known store.
 */
int dsm_vector_decode(const struct dsm_vector *v, struct dsm_insn *in,
		      u8 *lanes);

#endif /* DSM_DECODE_H */
