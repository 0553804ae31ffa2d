// SPDX-License-Identifier: GPL-2.0
/*
 * Stores of general registers and immediates, and what reads, computes and
 * writes: by opcode, of the first map and of the one behind 0f.
 */
#include "decode.h"

static int two_operands(struct dsm_reader *r, struct dsm_insn *in, u8 op,
			bool byte)
{
	in->op = op;
	in->size = byte ? 1 : full_size(r);
	in->reg = reg_field(r);
	return 0;
}

/* Opcodes whose second operand is an immediate of @imm bytes. */
static int with_imm(struct dsm_reader *r, struct dsm_insn *in, u8 op, bool byte,
		    bool short_imm)
{
	in->op = op;
	in->size = byte ? 1 : full_size(r);
	in->reg = DSM_REG_NONE;
	r->imm = short_imm ? 1 : imm_size(in->size);
	return 0;
}

/* F6, F7, FE, FF and the shifts: which one is in ModRM. */
static int group(struct dsm_reader *r, struct dsm_insn *in, u8 opcode)
{
	u8 which = r->modrm >> 3 & 7;
	bool byte = !(opcode & 1);

	two_operands(r, in, DSM_OP_NOT, byte);
	in->reg = DSM_REG_NONE;
	switch (opcode & ~1) {
	case 0xf6:
		in->op = which == 2 ? DSM_OP_NOT : DSM_OP_NEG;
		return which == 2 || which == 3 ? 0 : -EINVAL;
	case 0xfe:
		if (which == 6 && !byte) {
			in->op = DSM_OP_PUSH_MEM;
			in->size = r->p66 && !wide(r) ? 2 : 8;
			return 0;
		}
		in->op = which ? DSM_OP_DEC : DSM_OP_INC;
		return which < 2 ? 0 : -EINVAL;
	}
	in->op = DSM_OP_SHIFT;
	in->alu = which;
	if (which == 2 || which == 3 || which == 6)
		return -EINVAL;		/* through carry; the undocumented */
	if (opcode <= 0xc1)
		r->imm = 1;
	else if (opcode <= 0xd1)
		in->imm = 1;
	else
		in->reg = DSM_REG_CL;
	return 0;
}

int dsm_one_byte(struct dsm_reader *r, struct dsm_insn *in, u8 opcode)
{
	bool byte = !(opcode & 1);
	u8 which = r->modrm >> 3 & 7;

	if (opcode < 0x40) {
		in->alu = opcode >> 3;
		return two_operands(r, in, DSM_OP_ALU, byte);
	}
	switch (opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		in->alu = which;
		if (which == DSM_ALU_CMP)
			return -EINVAL;
		return with_imm(r, in, DSM_OP_ALU, byte, opcode == 0x83);
	case 0x86:
	case 0x87:
		return two_operands(r, in, DSM_OP_XCHG, byte);
	case 0x88:
	case 0x89:
		return two_operands(r, in, DSM_OP_MOV, byte);
	case 0xc6:
	case 0xc7:
		return which ? -EINVAL :
			       with_imm(r, in, DSM_OP_MOV, byte, byte);
	}
	return group(r, in, opcode);
}

/* Has it a ModRM byte, and may it be a store? */
bool dsm_one_byte_known(u8 opcode)
{
	if (opcode < 0x38)
		return !(opcode & 6);
	return (opcode >= 0x80 && opcode <= 0x83 && opcode != 0x82) ||
	       (opcode >= 0x86 && opcode <= 0x89) ||
	       opcode == 0xc0 || opcode == 0xc1 ||
	       opcode == 0xc6 || opcode == 0xc7 ||
	       (opcode >= 0xd0 && opcode <= 0xd3) ||
	       opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe;
}

int dsm_two_byte(struct dsm_reader *r, struct dsm_insn *in, u8 opcode)
{
	bool byte = !(opcode & 1);
	u8 which = r->modrm >> 3 & 7;

	switch (opcode) {
	case 0xab:
	case 0xb3:
	case 0xbb:
		two_operands(r, in, DSM_OP_BIT, false);
		in->alu = opcode >> 3 & 3;
		return 0;
	case 0xba:
		in->alu = which & 3;
		return which < 5 ? -EINVAL :
			with_imm(r, in, DSM_OP_BIT, false, true);
	case 0xb0:
	case 0xb1:
		return two_operands(r, in, DSM_OP_CMPXCHG, byte);
	case 0xc0:
	case 0xc1:
		return two_operands(r, in, DSM_OP_XADD, byte);
	case 0xc3:
		return r->p66 ? -EINVAL :
			two_operands(r, in, DSM_OP_MOV, false);
	case 0xc7:
		in->op = DSM_OP_CMPXCHG_PAIR;
		in->size = wide(r) ? 16 : 8;
		in->align = wide(r) ? 16 : 0;
		return which != 1 || r->p66 ? -EINVAL : 0;
	}
	if ((opcode & 0xf0) != 0x90)
		return -EINVAL;
	in->op = DSM_OP_SET;
	in->alu = opcode & 15;
	in->size = 1;
	return 0;
}

bool dsm_two_byte_known(u8 opcode)
{
	return (opcode & 0xf0) == 0x90 || opcode == 0xab ||
	       opcode == 0xb0 || opcode == 0xb1 || opcode == 0xb3 ||
	       opcode == 0xba || opcode == 0xbb || opcode == 0xc0 ||
	       opcode == 0xc1 || opcode == 0xc3 || opcode == 0xc7;
}
