// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers by lot, changes to a trial by lot, and what of its outcome is left
 * to the processor.
 */
#include "trial.h"

static u64 state;

void random_seed(u64 seed)
{
	state = (seed + 1) * 0xd1342543de82ef95ULL;
	state ^= state >> 29;
}

u64 random64(void)
{
	u64 z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u32 below(u32 n)
{
	return (random64() >> 32) % n;
}

/* Another bit somewhere, or a prefix that should not be there at all. */
void trial_change(struct trial *t)
{
	static const u8 prefixes[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x64,
				       0x65, 0x2e, 0x40, 0x48, 0x4f };

	if (below(3)) {
		t->code[below(t->len)] ^= 1 << below(8);
		return;
	}
	memmove(t->code + 1, t->code, t->len++);
	t->code[0] = prefixes[below(sizeof(prefixes))];
	if (below(2)) {
		u8 first = t->code[0];

		t->code[0] = t->code[1];
		t->code[1] = first;
	}
}

u64 trial_undefined(const struct dsm_insn *in, const struct dsm_regs *r)
{
	u8 count = in->reg == DSM_REG_CL ? r->gpr[1] : in->imm;

	if (in->op == DSM_OP_BIT)
		return DSM_OF | DSM_SF | DSM_AF | DSM_PF;
	if (in->op == DSM_OP_ALU && (in->alu == DSM_ALU_OR ||
				     in->alu == DSM_ALU_AND ||
				     in->alu == DSM_ALU_XOR))
		return DSM_AF;
	if (in->op != DSM_OP_SHIFT)
		return 0;
	count &= in->size == 8 ? 63 : 31;
	if (!count)
		return 0;
	return (in->alu < 4 ? 0 : DSM_AF) | (count == 1 ? 0 : DSM_OF) |
	       (count >= 8 * in->size && in->alu != 7 && in->alu >= 4 ?
		DSM_CF : 0);
}
