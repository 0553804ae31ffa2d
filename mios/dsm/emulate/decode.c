// SPDX-License-Identifier: GPL-2.0
/*
 * From bytes to a store: prefixes, opcode, operands.  Only what is certain is
 * taken: a prefix twice, one that the manuals reserve, a form that traps, are
 * refused, since refusing costs a page move and a guess costs memory.
 */
#include "decode.h"

static u8 next(struct dsm_reader *r)
{
	if (!r->left) {
		r->cut = true;
		return 0;
	}
	r->left--;
	return *r->at++;
}

/* @bytes of it, little-endian, with its sign. */
static u64 number(struct dsm_reader *r, u8 bytes)
{
	u64 v = 0;
	u8 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)next(r) << (8 * i);
	if (bytes && bytes < 8 && v >> (8 * bytes - 1))
		v |= ~0ULL << (8 * bytes);
	return v;
}

static int once(bool *seen)
{
	if (*seen)
		return -EINVAL;
	*seen = true;
	return 0;
}

static int prefix(struct dsm_reader *r, u8 byte)
{
	switch (byte) {
	case 0x66:
		return once(&r->p66);
	case 0x67:
		return once(&r->p67);
	case 0xf0:
		return once(&r->lock);
	case 0xf2:
	case 0xf3:
		if (r->rep)
			return -EINVAL;
		r->rep = byte;
		return 0;
	case 0x64:
		r->fs = true;
		return once(&r->seg);
	case 0x65:
		r->gs = true;
		return once(&r->seg);
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		return once(&r->seg);	/* mean nothing in 64-bit mode */
	}
	return 1;
}

/* Prefixes, REX last.  Returns the byte behind them, or an error. */
static int prefixes(struct dsm_reader *r)
{
	int err;
	u8 byte;

	do {
		byte = next(r);
		err = prefix(r, byte);
	} while (!err && !r->cut);
	if (r->cut || err < 0)
		return r->cut ? -ENODATA : err;
	if ((byte & 0xf0) == 0x40) {
		r->rex = byte;
		byte = next(r);
	}
	return r->cut ? -ENODATA : byte;
}

/* The address of ModRM's operand, which must lie in memory. */
static void address(struct dsm_reader *r, struct dsm_insn *in)
{
	u8 mod = r->modrm >> 6, rm = r->modrm & 7, sib;
	u8 disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	in->base = rm | (r->rex & 1 ? 8 : 0);
	in->index = DSM_REG_NONE;
	in->scale = 0;
	if (rm == 4) {
		sib = next(r);
		in->scale = sib >> 6;
		in->index = (sib >> 3 & 7) | (r->rex & 2 ? 8 : 0);
		if (in->index == 4)
			in->index = DSM_REG_NONE;
		rm = sib & 7;
		in->base = rm | (r->rex & 1 ? 8 : 0);
		if (rm == 5 && !mod)
			in->base = DSM_REG_NONE;
	} else if (rm == 5 && !mod) {
		in->base = DSM_REG_RIP;
	}
	if (rm == 5 && !mod)
		disp = 4;
	in->disp = number(r, disp);
	if (r->evex && disp == 1)
		in->disp *= in->size;
}

/* Behind the opcode: ModRM has been read, and says memory. */
static int operands(struct dsm_reader *r, struct dsm_insn *in, u8 lanes)
{
	address(r, in);
	if (r->imm)
		in->imm = number(r, r->imm);
	if (lanes)
		in->lane = (in->imm & (lanes - 1)) * in->size;
	return r->cut ? -ENODATA : 0;
}

static int modrm(struct dsm_reader *r)
{
	r->modrm = next(r);
	if (r->cut)
		return -ENODATA;
	return r->modrm >= 0xc0 ? -EINVAL : 0;
}

static int vector(struct dsm_reader *r, struct dsm_insn *in,
		  struct dsm_vector *v)
{
	u8 lanes;
	int err;

	if (r->lock)
		return -EINVAL;
	err = dsm_vector_decode(v, in, &lanes);
	if (!err)
		err = modrm(r);
	if (err)
		return err;
	in->reg = reg_field(r) | r->reg_high;
	r->imm = lanes ? 1 : 0;
	return operands(r, in, lanes);
}

/* SSE: prefixes that elsewhere change size or repeat are part of the opcode. */
static int legacy_vector(struct dsm_reader *r, struct dsm_insn *in, u8 map,
			 u8 opcode)
{
	struct dsm_vector v = {
		.map = map, .opcode = opcode, .wide = wide(r),
		.prefix = r->rep == 0xf3 ? 2 : r->rep ? 3 : r->p66,
	};

	if (r->rep && r->p66)
		return -EINVAL;
	return vector(r, in, &v);
}

/*
 * C5 and C4: the upper bits of registers are inverted, vvvv is 1111 as there
 * is no third operand.  Prefixes that VEX and EVEX replace would trap.
 */
static int vex(struct dsm_reader *r, struct dsm_insn *in, bool three)
{
	u8 a = next(r), b = three ? next(r) : a & 0x7f;
	struct dsm_vector v = { .encoding = 1 };

	r->rex = (a & 0x80 ? 0 : 4);
	v.map = 1;
	if (three) {
		r->rex |= (a & 0x40 ? 0 : 2) | (a & 0x20 ? 0 : 1);
		v.map = a & 0x1f;
	}
	v.wide = b & 0x80;
	v.length = b >> 2 & 1;
	v.prefix = b & 3;
	v.opcode = next(r);
	if (r->cut)
		return -ENODATA;
	if ((b & 0x78) != 0x78)
		return -EINVAL;
	return vector(r, in, &v);
}

/* 62: no mask (aaa, z), no broadcast (b), and the reserved bits as they are. */
static int evex(struct dsm_reader *r, struct dsm_insn *in)
{
	u8 a = next(r), b = next(r), c = next(r);
	struct dsm_vector v = {
		.encoding = 2, .map = a & 7, .wide = b & 0x80,
		.prefix = b & 3, .length = c >> 5 & 3, .opcode = next(r),
	};

	if (r->cut)
		return -ENODATA;
	r->evex = true;
	r->rex = (a & 0x80 ? 0 : 4) | (a & 0x40 ? 0 : 2) | (a & 0x20 ? 0 : 1);
	r->reg_high = a & 0x10 ? 0 : 16;
	if (a & 0x08 || (b & 0x7c) != 0x7c || (c & 0x9f) != 0x08)
		return -EINVAL;
	return vector(r, in, &v);
}

static bool vex_allowed(const struct dsm_reader *r)
{
	return !(r->rex || r->p66 || r->rep || r->lock);
}

static int movbe(struct dsm_reader *r, struct dsm_insn *in)
{
	int err = modrm(r);

	if (err || r->rep || r->lock)
		return err ? err : -EINVAL;
	in->op = DSM_OP_MOVBE;
	in->size = full_size(r);
	in->reg = reg_field(r);
	return operands(r, in, 0);
}

static bool may_lock(const struct dsm_insn *in)
{
	return (in->op >= DSM_OP_ALU && in->op != DSM_OP_SHIFT);
}

static int integer(struct dsm_reader *r, struct dsm_insn *in, u8 opcode,
		   bool second)
{
	int err;

	if (r->rep)
		return -EINVAL;
	err = modrm(r);
	if (!err)
		err = second ? dsm_two_byte(r, in, opcode) :
			       dsm_one_byte(r, in, opcode);
	if (!err)
		err = operands(r, in, 0);
	if (err)
		return err;
	if (r->lock && !may_lock(in))
		return -EINVAL;
	in->lock = r->lock || in->op == DSM_OP_XCHG;
	return 0;
}

static int second_map(struct dsm_reader *r, struct dsm_insn *in)
{
	u8 opcode = next(r);

	if (opcode == 0x38 || opcode == 0x3a) {
		bool is_movbe = opcode == 0x38;

		opcode = next(r);
		if (r->cut)
			return -ENODATA;
		if (!is_movbe)
			return legacy_vector(r, in, 3, opcode);
		return opcode == 0xf1 ? movbe(r, in) : -EINVAL;
	}
	if (r->cut)
		return -ENODATA;
	if (dsm_two_byte_known(opcode))
		return integer(r, in, opcode, true);
	return legacy_vector(r, in, 1, opcode);
}

/* push, stos, movs, and mov to an absolute address: no ModRM. */
static int implied(struct dsm_reader *r, struct dsm_insn *in, u8 opcode)
{
	bool byte = !(opcode & 1);

	in->base = DSM_REG_NONE;
	in->index = DSM_REG_NONE;
	in->reg = 0;
	in->size = byte ? 1 : full_size(r);
	in->rep = r->rep;
	if (r->lock)
		return -EINVAL;
	switch (opcode) {
	case 0xa2:
	case 0xa3:
		in->op = DSM_OP_MOV;
		in->disp = number(r, 8);
		break;
	case 0xa4:
	case 0xa5:
		in->op = DSM_OP_MOVS;
		in->base = 6;
		return r->p67 ? -EINVAL : 0;
	case 0xaa:
	case 0xab:
		in->op = DSM_OP_STOS;
		return r->p67 ? -EINVAL : 0;
	default:
		in->op = DSM_OP_PUSH;
		in->size = r->p66 && !wide(r) ? 2 : 8;
		in->reg = DSM_REG_NONE;
		if (opcode < 0x60)
			in->reg = (opcode & 7) | (r->rex & 1 ? 8 : 0);
		else
			in->imm = number(r, opcode & 2 ? 1 :
					 imm_size(in->size));
	}
	if (r->cut)
		return -ENODATA;
	return r->rep || (r->p67 && in->op == DSM_OP_MOV) ? -EINVAL : 0;
}

static int opcode_decode(struct dsm_reader *r, struct dsm_insn *in, u8 opcode)
{
	switch (opcode) {
	case 0x0f:
		return second_map(r, in);
	case 0x62:
		return vex_allowed(r) ? evex(r, in) : -EINVAL;
	case 0xc4:
	case 0xc5:
		return vex_allowed(r) ? vex(r, in, opcode == 0xc4) : -EINVAL;
	case 0x68:
	case 0x6a:
	case 0xa2 ... 0xa5:
	case 0xaa:
	case 0xab:
	case 0x50 ... 0x57:
		return implied(r, in, opcode);
	}
	return dsm_one_byte_known(opcode) ? integer(r, in, opcode, false) :
					-EINVAL;
}

int dsm_insn_decode(struct dsm_insn *in, const u8 *code, size_t len)
{
	struct dsm_reader r = { .at = code, .left = len };
	int byte, err;

	if (r.left > DSM_INSN_MAX)
		r.left = DSM_INSN_MAX;
	memset(in, 0, sizeof(*in));
	byte = prefixes(&r);
	err = byte < 0 ? byte : opcode_decode(&r, in, byte);
	/* Fifteen bytes and no end: that one would trap. */
	if (err)
		return err == -ENODATA && len >= DSM_INSN_MAX ? -EINVAL : err;
	in->length = r.at - code;
	in->fs = r.fs;
	in->gs = r.gs;
	in->addr32 = r.p67;
	in->rex = r.rex && !r.evex;
	return 0;
}
