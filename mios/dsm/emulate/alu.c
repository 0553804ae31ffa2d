// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic of emulated instructions and the flags that it leaves.  Those
 * that the manuals call undefined have whatever value is the simplest.
 */
#include "emulate.h"

static u64 mask(u8 size)
{
	return size < 8 ? (1ULL << (8 * size)) - 1 : ~0ULL;
}

static u64 top(u8 size)
{
	return 1ULL << (8 * size - 1);
}

static void set(u64 *flags, u64 flag, bool on)
{
	*flags = on ? *flags | flag : *flags & ~flag;
}

/* Zero, sign and parity (of the lowest byte) of a result. */
static void set_szp(u64 *flags, u64 v, u8 size)
{
	u8 p = v ^ v >> 4;

	v &= mask(size);
	set(flags, DSM_ZF, !v);
	set(flags, DSM_SF, v & top(size));
	set(flags, DSM_PF, !(0x6996 >> (p & 15) & 1));
}

static u64 add(u64 a, u64 b, bool carry, u8 size, u64 *flags)
{
	u64 v = (a + b + carry) & mask(size);

	set(flags, DSM_CF, v < a || (carry && v == a));
	set(flags, DSM_AF, (a ^ b ^ v) & 16);
	set(flags, DSM_OF, (a ^ v) & (b ^ v) & top(size));
	return v;
}

static u64 subtract(u64 a, u64 b, bool borrow, u8 size, u64 *flags)
{
	u64 v = (a - b - borrow) & mask(size);

	set(flags, DSM_CF, a < b || (borrow && a == b));
	set(flags, DSM_AF, (a ^ b ^ v) & 16);
	set(flags, DSM_OF, (a ^ b) & (a ^ v) & top(size));
	return v;
}

static u64 logical(u64 v, u64 *flags)
{
	*flags &= ~(DSM_CF | DSM_OF);
	return v;
}

u64 dsm_alu(u8 which, u64 a, u64 b, u8 size, u64 *flags)
{
	bool carry = *flags & DSM_CF;
	u64 v;

	a &= mask(size);
	b &= mask(size);
	switch (which) {
	case DSM_ALU_ADD:
		v = add(a, b, false, size, flags);
		break;
	case DSM_ALU_ADC:
		v = add(a, b, carry, size, flags);
		break;
	case DSM_ALU_SBB:
		v = subtract(a, b, carry, size, flags);
		break;
	case DSM_ALU_OR:
		v = logical(a | b, flags);
		break;
	case DSM_ALU_AND:
		v = logical(a & b, flags);
		break;
	case DSM_ALU_XOR:
		v = logical(a ^ b, flags);
		break;
	default:
		v = subtract(a, b, false, size, flags);
	}
	set_szp(flags, v, size);
	return v;
}

static u64 rotate(bool right, u64 v, u8 count, u8 size, u64 *flags)
{
	u8 bits = 8 * size, left = count % bits;

	if (right)
		left = (bits - left) % bits;
	if (left)
		v = (v << left | v >> (bits - left)) & mask(size);
	if (right) {
		set(flags, DSM_CF, v & top(size));
		set(flags, DSM_OF, (v ^ v << 1) & top(size));
	} else {
		set(flags, DSM_CF, v & 1);
		set(flags, DSM_OF, !(v & top(size)) != !(v & 1));
	}
	return v;
}

/* 0 rol, 1 ror, 4 shl, 5 shr, 7 sar.  A count of 0 changes no flag. */
u64 dsm_shift(u8 which, u64 a, u8 count, u8 size, u64 *flags)
{
	u64 v = a & mask(size);
	long long signed_a;

	count &= size == 8 ? 63 : 31;
	if (!count)
		return v;
	if (which < 4)
		return rotate(which == 1, v, count, size, flags);
	a = v;
	switch (which) {
	case 4:
		v = (count < 64 ? v << count : 0) & mask(size);
		set(flags, DSM_CF, count <= 8 * size &&
		    a >> (8 * size - count) & 1);
		set(flags, DSM_OF, !(v & top(size)) != !(*flags & DSM_CF));
		break;
	case 5:
		v >>= count;
		set(flags, DSM_CF, a >> (count - 1) & 1);
		set(flags, DSM_OF, a & top(size));
		break;
	default:
		signed_a = a & top(size) ? a | ~mask(size) : a;
		v = signed_a >> count & mask(size);
		set(flags, DSM_CF, signed_a >> (count - 1) & 1);
		set(flags, DSM_OF, false);
	}
	set_szp(flags, v, size);
	return v;
}

/* The sixteen conditions of setcc, as the opcode's low bits number them. */
bool dsm_condition(u8 which, u64 flags)
{
	bool less = !(flags & DSM_SF) != !(flags & DSM_OF), yes = false;

	switch (which >> 1) {
	case 0:
		yes = flags & DSM_OF;
		break;
	case 1:
		yes = flags & DSM_CF;
		break;
	case 2:
		yes = flags & DSM_ZF;
		break;
	case 3:
		yes = flags & (DSM_CF | DSM_ZF);
		break;
	case 4:
		yes = flags & DSM_SF;
		break;
	case 5:
		yes = flags & DSM_PF;
		break;
	case 6:
		yes = less;
		break;
	case 7:
		yes = less || flags & DSM_ZF;
		break;
	}
	return yes != (which & 1);
}
