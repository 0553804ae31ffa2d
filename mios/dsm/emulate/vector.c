// SPDX-License-Identifier: GPL-2.0
/*
 * Stores of vector registers: a table, since size and alignment follow from
 * prefix, length and W in no other way.  Masked stores and scatters are not
 * in it; neither is MMX.
 */
#include "decode.h"

enum { NP = 1 << 0, P66 = 1 << 1, PF3 = 1 << 2, PF2 = 1 << 3 };
enum { LEGACY = 1 << 0, VEX = 1 << 1, EVEX = 1 << 2 };

enum kind {
	FULL,			/* the whole register */
	ALIGNED,		/* the whole register, or it traps */
	PIECE,			/* size bytes of the lowest 128 bits */
	HIGH,			/* 8 bytes of the upper half of these */
	BY_W,			/* 4 bytes, or 8 with W */
	QUARTER,		/* size bytes of a longer register */
};

/* What W must be when there is VEX or EVEX. */
enum w { ANY, EVEX_W0, EVEX_W1, VEX_W0 };

static const struct entry {
	u8 map;
	u8 opcode;
	u8 prefixes;
	u8 encodings;
	u8 kind;
	u8 size;
	u8 w;
	bool lanes;		/* the immediate chooses a piece */
} known[] = {
	/* movups, movupd, movss, movsd */
	{ 1, 0x11, NP, LEGACY | VEX | EVEX, FULL, 16, EVEX_W0, false },
	{ 1, 0x11, P66, LEGACY | VEX | EVEX, FULL, 16, EVEX_W1, false },
	{ 1, 0x11, PF3, LEGACY | VEX | EVEX, PIECE, 4, EVEX_W0, false },
	{ 1, 0x11, PF2, LEGACY | VEX | EVEX, PIECE, 8, EVEX_W1, false },
	/* movlps, movlpd, movhps, movhpd */
	{ 1, 0x13, NP, LEGACY | VEX | EVEX, PIECE, 8, EVEX_W0, false },
	{ 1, 0x13, P66, LEGACY | VEX | EVEX, PIECE, 8, EVEX_W1, false },
	{ 1, 0x17, NP, LEGACY | VEX | EVEX, HIGH, 8, EVEX_W0, false },
	{ 1, 0x17, P66, LEGACY | VEX | EVEX, HIGH, 8, EVEX_W1, false },
	/* movaps, movapd, movntps, movntpd */
	{ 1, 0x29, NP, LEGACY | VEX | EVEX, ALIGNED, 16, EVEX_W0, false },
	{ 1, 0x29, P66, LEGACY | VEX | EVEX, ALIGNED, 16, EVEX_W1, false },
	{ 1, 0x2b, NP, LEGACY | VEX | EVEX, ALIGNED, 16, EVEX_W0, false },
	{ 1, 0x2b, P66, LEGACY | VEX | EVEX, ALIGNED, 16, EVEX_W1, false },
	/* movd, movq */
	{ 1, 0x7e, P66, LEGACY | VEX | EVEX, BY_W, 0, ANY, false },
	{ 1, 0xd6, P66, LEGACY | VEX | EVEX, PIECE, 8, EVEX_W1, false },
	/* movdqa, movdqu, vmovdqu8, movntdq */
	{ 1, 0x7f, P66, LEGACY | VEX | EVEX, ALIGNED, 16, ANY, false },
	{ 1, 0x7f, PF3, LEGACY | VEX | EVEX, FULL, 16, ANY, false },
	{ 1, 0x7f, PF2, EVEX, FULL, 16, ANY, false },
	{ 1, 0xe7, P66, LEGACY | VEX | EVEX, ALIGNED, 16, EVEX_W0, false },
	/* pextrb, pextrw, pextrd, extractps */
	{ 3, 0x14, P66, LEGACY | VEX | EVEX, PIECE, 1, VEX_W0, true },
	{ 3, 0x15, P66, LEGACY | VEX | EVEX, PIECE, 2, VEX_W0, true },
	{ 3, 0x16, P66, LEGACY | VEX | EVEX, BY_W, 0, ANY, true },
	{ 3, 0x17, P66, LEGACY | VEX | EVEX, PIECE, 4, ANY, true },
	/* vextractf128 and its like */
	{ 3, 0x19, P66, VEX | EVEX, QUARTER, 16, VEX_W0, true },
	{ 3, 0x39, P66, VEX | EVEX, QUARTER, 16, VEX_W0, true },
	{ 3, 0x1b, P66, EVEX, QUARTER, 32, ANY, true },
	{ 3, 0x3b, P66, EVEX, QUARTER, 32, ANY, true },
	{ .map = 0 },		/* the end */
};

static bool w_fits(const struct entry *e, const struct dsm_vector *v)
{
	bool vex = v->encoding == 1, evex = v->encoding == 2;

	switch (e->w) {
	case EVEX_W0:
		return !evex || !v->wide;
	case EVEX_W1:
		return !evex || v->wide;
	case VEX_W0:
		return !vex || !v->wide;
	}
	return true;
}

static int fill_in(const struct entry *e, const struct dsm_vector *v,
		   struct dsm_insn *in, u8 *lanes)
{
	u8 whole = 16 << v->length;

	in->op = DSM_OP_VECTOR;
	in->size = e->size;
	in->align = 0;
	in->lane = 0;
	if (e->kind == FULL || e->kind == ALIGNED)
		in->size = whole;
	else if (e->kind == QUARTER ? e->size >= whole : v->length)
		return -EINVAL;
	if (e->kind == ALIGNED)
		in->align = whole;
	if (e->kind == HIGH)
		in->lane = 8;
	if (e->kind == BY_W)
		in->size = v->wide ? 8 : 4;
	*lanes = e->lanes ? whole / in->size : 0;
	return 0;
}

int dsm_vector_decode(const struct dsm_vector *v, struct dsm_insn *in,
		      u8 *lanes)
{
	const struct entry *e;

	if (v->length > 2)
		return -EINVAL;
	for (e = known; e->map; e++) {
		if (e->map == v->map && e->opcode == v->opcode &&
		    e->prefixes >> v->prefix & 1 &&
		    e->encodings >> v->encoding & 1)
			return w_fits(e, v) ? fill_in(e, v, in, lanes) :
					      -EINVAL;
	}
	return -EINVAL;
}
