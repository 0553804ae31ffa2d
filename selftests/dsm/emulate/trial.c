// SPDX-License-Identifier: GPL-2.0
/*
 * The forms of instructions, and one of a form with its operands by lot.
 * Written from the manuals, apart from the decoder: what one of them has
 * wrong, the other need not have.
 */
#include "trial.h"

enum {
	BYTE = 1 << 0,		/* one byte wide */
	SIZED = 1 << 1,		/* 2, 4 or 8 bytes, by 66 and W */
	IMM8 = 1 << 2,
	IMM = 1 << 3,		/* as wide as the operand, at most 4 */
	LOCK = 1 << 4,
	ATOMIC = 1 << 5,	/* locked without saying so */
	BITS = 1 << 6,		/* a register chooses the bit */
	COMPARE = 1 << 7,
	PAIR = 1 << 8,
	VECTOR = 1 << 9,
	ALIGNED = 1 << 10,
	WHOLE = 1 << 11,	/* of the vector's length */
	LONG = 1 << 12,		/* not of 128 bits */
	BY_W = 1 << 13,
	STRING = 1 << 14,
	PUSH = 1 << 15,
	MOFFS = 1 << 16,
	NO66 = 1 << 17,
	WIDE = 1 << 18,		/* EVEX has W set */
	NOVEX = 1 << 19,	/* EVEX only */
	NOLEGACY = 1 << 20,
	SOURCE = 1 << 21,	/* memory is read, the stack written */
	LONGEST = 1 << 22,	/* of 512 bits only */
};

#define REG	8		/* ModRM names a register */

static const struct form {
	const char *name;
	u8 map;			/* 0, 1: 0f, 2: 0f 38, 3: 0f 3a */
	u8 opcode;
	u8 which;		/* in ModRM, or REG */
	u8 pp;			/* mandatory: 0x66, 0xf3, 0xf2 */
	u8 size;
	u32 is;
	unsigned int needs;
} forms[] = {
#include "forms.h"
};

#define FORMS	((int)(sizeof(forms) / sizeof(forms[0])))

int form_count(void)
{
	return FORMS;
}

/* What has been chosen for one trial. */
struct choice {
	const struct form *f;
	struct trial *t;
	u8 encoding;		/* 0 legacy, 1 VEX, 2 EVEX */
	u8 length;		/* of the vector: 0, 1, 2 */
	bool w, p66, lock, rep, addr32, rip;
	u8 segment;
	u8 size;
	u8 reg;
	u8 mod, base, index, scale, disp_size;
	bool has_base, has_index;
	int32_t disp;
	u64 target;
	u8 disp_at;
};

static void put(struct trial *t, u8 byte)
{
	t->code[t->len++] = byte;
}

static void put_number(struct trial *t, u64 v, u8 bytes)
{
	while (bytes--) {
		put(t, v);
		v >>= 8;
	}
}

/* Both ends of numbers are where mistakes are. */
static u64 number(void)
{
	static const u64 corner[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000,
		0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 63,
		~(1ULL << 63), ~0ULL };

	return below(3) ? random64() : corner[below(14)];
}

static void choose_size(struct choice *c)
{
	const struct form *f = c->f;

	c->size = f->size;
	c->w = below(2);
	if (f->is & SIZED) {
		c->p66 = !(f->is & NO66) && !below(3);
		c->size = c->w ? 8 : c->p66 ? 2 : 4;
	} else if (f->is & PAIR) {
		c->size = c->w ? 16 : 8;
	} else if (f->is & PUSH) {
		c->p66 = !below(4);
		c->size = c->p66 && !c->w ? 2 : 8;
	} else if (f->is & BYTE) {
		c->p66 = !below(8);
	}
}

static bool choose_encoding(struct choice *c, unsigned int features)
{
	const struct form *f = c->f;

	if (!(f->is & VECTOR))
		return true;
	c->encoding = below(3);
	if (f->is & NOVEX)
		c->encoding = 2;
	else if (f->is & NOLEGACY && !c->encoding)
		c->encoding = 1;
	if ((c->encoding == 1 && !(features & AVX)) ||
	    (c->encoding == 2 && !(features & AVX512)))
		return false;
	if (f->is & (WHOLE | LONG))
		c->length = c->encoding ? below(c->encoding + 1) : 0;
	if (f->is & LONG && !c->length)
		c->length = 1;
	if (f->is & LONGEST)
		c->length = 2;
	if (f->is & WHOLE)
		c->size = 16 << c->length;
	if (c->encoding == 2 && f->map == 1 && !(f->is & BY_W) &&
	    f->opcode != 0x7f)
		c->w = f->is & WIDE;
	if (c->encoding == 1 && f->map == 3 && !(f->is & BY_W))
		c->w = false;
	if (f->is & BY_W)
		c->size = c->w ? 8 : 4;
	return true;
}

static void choose_target(struct choice *c)
{
	u64 at = 256 + below(AREA_SIZE - 512);

	if (below(2))
		at = 4096 - c->size - 2 + below(c->size + 4);
	if (c->f->is & ALIGNED || (c->f->is & PAIR && c->size == 16))
		at &= ~(u64)(c->size - 1);
	if ((c->lock || c->f->is & ATOMIC) && at < 4096 &&
	    at + c->size > 4096)
		at = 4096;
	c->target = AREA + at;
}

/* Registers that the instruction itself gives a meaning may not be bases. */
static bool taken(const struct choice *c, u8 reg)
{
	u32 is = c->f->is;

	return (is & BITS && reg == c->reg) ||
	       (is & (COMPARE | PAIR) && (reg == 0 || reg == 2)) ||
	       (is & SOURCE && reg == 4);
}

static void choose_form_of_address(struct choice *c)
{
	do {
		c->base = below(16);
	} while (taken(c, c->base));
	do {
		c->index = below(16);
	} while (c->index == 4 || c->index == c->base || taken(c, c->index));
	c->has_base = below(8);
	c->has_index = below(3);
	c->scale = below(4);
	c->segment = below(6) ? 0 : below(3) ? 0x64 + below(2) : (u8)
		     "\x26\x2e\x36\x3e"[below(4)];
	c->addr32 = c->segment != 0x64 && !below(5);
	c->rip = c->segment != 0x64 && !below(8);
	if (!c->has_base && !c->has_index && c->segment == 0x64)
		c->has_base = true;
	c->mod = below(3);
	if (!c->mod && (c->base & 7) == 5)
		c->mod = 1;
	c->disp_size = c->mod == 1 ? 1 : c->mod == 2 ? 4 : 0;
	if (!c->has_base || c->rip) {
		c->mod = 0;
		c->disp_size = 4;
	}
	c->disp = c->disp_size == 1 ? (int8_t)random64() :
		  c->disp_size ? (int32_t)random64() : 0;
}

/* The registers that make it the target. */
static void solve(struct choice *c)
{
	struct dsm_regs *r = &c->t->regs;
	u64 at = c->target, disp;

	disp = (long long)c->disp * (c->encoding == 2 && c->disp_size == 1 ?
				     c->size : 1);
	if (c->segment == 0x64)
		at -= r->fs_base;
	if (c->segment == 0x65)
		at -= r->gs_base;
	if (c->rip)
		return;
	if (c->has_base) {
		r->gpr[c->base] = at - disp - (c->has_index ?
				  r->gpr[c->index] << c->scale : 0);
		if (c->addr32)
			r->gpr[c->base] += random64() << 32;
	} else if (c->has_index) {
		c->disp &= ~7;
		c->disp |= at & ((1 << c->scale) - 1);
		r->gpr[c->index] = (at - (long long)c->disp) >> c->scale;
	} else {
		c->disp = at;
	}
}

static void put_address(struct choice *c)
{
	struct trial *t = c->t;
	u8 reg = (c->reg & 7) << 3;
	bool sib = !c->has_base || c->has_index || (c->base & 7) == 4 ||
		   !below(4);

	if (c->rip) {
		put(t, reg | 5);
	} else if (sib) {
		put(t, c->mod << 6 | reg | 4);
		put(t, c->scale << 6 | (c->has_index ? c->index & 7 : 4) << 3 |
		    (c->has_base ? c->base & 7 : 5));
	} else {
		put(t, c->mod << 6 | reg | (c->base & 7));
	}
	c->disp_at = t->len;
	put_number(t, c->disp, c->disp_size);
}

static u8 rex_bits(const struct choice *c)
{
	return (c->w ? 8 : 0) | (c->reg & 8 ? 4 : 0) |
	       (c->has_index && !c->rip && c->index & 8 ? 2 : 0) |
	       (c->has_base && !c->rip && c->base & 8 ? 1 : 0);
}

static u8 pp_bits(const struct form *f)
{
	return f->pp == 0x66 ? 1 : f->pp == 0xf3 ? 2 : f->pp ? 3 : 0;
}

/* VEX and EVEX hold the upper bits of registers inverted. */
static void put_vex(struct choice *c)
{
	u8 rex = rex_bits(c), not_rxb = (0xffu ^ rex) << 5 & 0xe0, pp = pp_bits(c->f);
	struct trial *t = c->t;

	if (c->encoding == 2) {
		put(t, 0x62);
		put(t, not_rxb | (c->reg & 16 ? 0 : 0x10) | c->f->map);
		put(t, (c->w ? 0x80 : 0) | 0x7c | pp);
		put(t, c->length << 5 | 0x08);
	} else if (c->f->map == 1 && !(rex & 0xb) && below(2)) {
		put(t, 0xc5);
		put(t, (rex & 4 ? 0 : 0x80) | 0x78 | c->length << 2 | pp);
	} else {
		put(t, 0xc4);
		put(t, not_rxb | c->f->map);
		put(t, (c->w ? 0x80 : 0) | 0x78 | c->length << 2 | pp);
	}
}

/* Legacy prefixes may come in any order, REX is the last. */
static void put_prefixes(struct choice *c)
{
	u8 all[8], n = 0, rex = rex_bits(c);

	if (c->segment)
		all[n++] = c->segment;
	if (c->addr32)
		all[n++] = 0x67;
	if (c->lock)
		all[n++] = 0xf0;
	if (!c->encoding && (c->p66 || c->f->pp == 0x66))
		all[n++] = 0x66;
	if (!c->encoding && c->f->pp && c->f->pp != 0x66)
		all[n++] = c->f->pp;
	if (c->rep)
		all[n++] = 0xf2 + below(2);
	while (n) {
		u8 i = below(n);

		put(c->t, all[i]);
		all[i] = all[--n];
	}
	if (c->encoding) {
		put_vex(c);
		return;
	}
	if (rex || !below(4))
		put(c->t, 0x40 | rex);
	if (c->f->map)
		put(c->t, 0x0f);
	if (c->f->map > 1)
		put(c->t, c->f->map == 2 ? 0x38 : 0x3a);
}

static void put_imm(struct choice *c)
{
	if (c->f->is & IMM8)
		put_number(c->t, number(), 1);
	if (c->f->is & IMM)
		put_number(c->t, number(), c->size > 4 ? 4 : c->size);
}

/* Half of the comparisons find what they expect. */
static void agree(struct choice *c, const u8 *memory)
{
	struct dsm_regs *r = &c->t->regs;
	const u8 *at = memory + (c->target - AREA);
	u8 half = c->f->is & PAIR ? c->size / 2 : c->size;

	if (!(c->f->is & (COMPARE | PAIR)) || below(2))
		return;
	memcpy(&r->gpr[0], at, half);
	if (c->f->is & PAIR)
		memcpy(&r->gpr[2], at + half, half);
}

static void choose_bit(struct choice *c)
{
	u64 *reg = &c->t->regs.gpr[c->reg];
	int bit = (int)below(4000) - 2000, bytes;

	bytes = (bit >> (c->size == 8 ? 6 : c->size == 4 ? 5 : 4)) * c->size;
	*reg = c->size == 8 ? (u64)(long long)bit :
	       c->size == 4 ? (*reg & ~0xffffffffULL) | (u32)bit :
	       (*reg & ~0xffffULL) | (bit & 0xffff);
	/* The address is that of bit 0; its bit must not cross when locked. */
	c->target -= bytes;
}

static void make_string(struct choice *c)
{
	struct dsm_regs *r = &c->t->regs;

	c->addr32 = false;
	c->segment = 0;
	c->rep = below(2);
	c->has_base = c->has_index = false;
	c->reg = 0;
	r->gpr[7] = c->target;
	r->gpr[6] = AREA + 200 + below(AREA_SIZE - 400);
	if (c->rep)
		r->gpr[1] = below(20);
	if (c->f->opcode < 0xa6 && !below(3)) {
		c->segment = 0x64 + below(2);
		r->gpr[6] -= c->segment == 0x64 ? r->fs_base : r->gs_base;
	}
	put_prefixes(c);
	put(c->t, c->f->opcode);
}

static void make_push(struct choice *c)
{
	u8 reg = below(16);

	c->addr32 = !below(6);
	c->segment = 0;
	c->has_index = false;
	c->has_base = c->f->opcode == 0x50;
	c->base = reg;
	c->rip = false;
	c->reg = 0;
	c->t->regs.gpr[4] = c->target + c->size;
	put_prefixes(c);
	put(c->t, c->f->opcode | (c->has_base ? reg & 7 : 0));
	put_imm(c);
}

static void make_moffs(struct choice *c)
{
	u64 at = c->target;

	c->addr32 = false;
	c->segment = below(3) ? 0 : 0x64 + below(2);
	if (c->segment)
		at -= c->segment == 0x64 ? c->t->regs.fs_base :
		      c->t->regs.gs_base;
	c->has_base = c->has_index = false;
	c->reg = 0;
	put_prefixes(c);
	put(c->t, c->f->opcode);
	put_number(c->t, at, 8);
}

static void make_modrm(struct choice *c, const u8 *memory)
{
	struct trial *t = c->t;
	u32 disp;

	choose_form_of_address(c);
	if (c->f->is & BITS)
		choose_bit(c);
	agree(c, memory);
	solve(c);
	if (c->f->is & SOURCE)
		t->regs.gpr[4] = AREA + 64 + below(AREA_SIZE - 128);
	put_prefixes(c);
	put(t, c->f->opcode);
	put_address(c);
	put_imm(c);
	if (!c->rip)
		return;
	disp = c->target - (c->segment == 0x65 ? GS_BASE : 0) -
	       (t->regs.rip + t->len);
	memcpy(t->code + c->disp_at, &disp, 4);
}

bool trial_make(struct trial *t, int form, unsigned int features,
		const u8 *memory)
{
	struct choice c = { .f = &forms[form], .t = t };
	struct dsm_regs *r = &t->regs;
	int i;

	if ((c.f->needs & features) != c.f->needs)
		return false;
	t->name = c.f->name;
	t->len = 0;
	for (i = 0; i < 16; i++)
		r->gpr[i] = number();
	r->rip = CODE + below(4096 - 64);
	r->flags = random64() & FLAGS;
	r->gs_base = GS_BASE;
	choose_size(&c);
	if (!choose_encoding(&c, features))
		return false;
	c.lock = c.f->is & LOCK && below(2);
	c.reg = c.f->which < REG ? c.f->which :
		below(c.encoding == 2 ? 32 : 16);
	choose_target(&c);
	if (c.f->is & STRING)
		make_string(&c);
	else if (c.f->is & PUSH && !(c.f->is & SOURCE))
		make_push(&c);
	else if (c.f->is & MOFFS)
		make_moffs(&c);
	else
		make_modrm(&c, memory);
	return t->len <= DSM_INSN_MAX;
}
