// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel has put a thread's registers when it delivers a signal.
 * Vectors lie in the frame as XSAVE writes them, each part where CPUID says.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <string.h>

#include "registers.h"

#define VECTORS		32
#define MAGIC		0x46505853	/* FP_XSTATE_MAGIC1 */
#define AT_XMM		160
#define AT_MAGIC	464		/* software's bytes: magic, size, features */
#define AT_PRESENT	512		/* what is not in its first state */

/* Parts of the XSAVE area, by number: halves and quarters of the registers. */
enum { PART_YMM = 2, PART_ZMM = 6, PART_HIGH = 7, PARTS };

static u32 part_at[PARTS];

/* Of one thread: the frame that registers_get() was given. */
static __thread const u8 *frame;
static __thread u8 vector[VECTORS][64];

void registers_start(void)
{
	unsigned int a, b, c, d;

	for (u32 i = PART_YMM; i < PARTS; i++)
		if (__get_cpuid_count(0xd, i, &a, &b, &c, &d))
			part_at[i] = b;
}

/* The order of an instruction's encoding. */
static const u8 place[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

void registers_get(struct dsm_regs *r, const ucontext_t *u)
{
	const greg_t *g = u->uc_mcontext.gregs;

	memset(r, 0, sizeof(*r));
	for (u32 i = 0; i < 16; i++)
		r->gpr[i] = g[place[i]];
	r->rip = g[REG_RIP];
	r->flags = g[REG_EFL];
	/* The C library's: a thread's block begins with its own address. */
	__asm__("mov %%fs:0, %0" : "=r" (r->fs_base));
	frame = (const u8 *)u->uc_mcontext.fpregs;
}

void registers_set(ucontext_t *u, const struct dsm_regs *r)
{
	greg_t *g = u->uc_mcontext.gregs;

	for (u32 i = 0; i < 16; i++)
		g[place[i]] = r->gpr[i];
	g[REG_RIP] = r->rip;
	g[REG_EFL] = r->flags;
}

/* A part that is there and not in its first state, which is zeros; or NULL. */
static const u8 *part(u32 i)
{
	u32 magic;
	u64 present;

	memcpy(&magic, frame + AT_MAGIC, sizeof(magic));
	memcpy(&present, frame + AT_PRESENT, sizeof(present));
	if (magic != MAGIC || !(present >> i & 1) || !part_at[i])
		return NULL;
	return frame + part_at[i];
}

void registers_vectors(struct dsm_regs *r)
{
	const u8 *ymm = part(PART_YMM), *zmm = part(PART_ZMM);
	const u8 *high = part(PART_HIGH);

	memset(vector, 0, sizeof(vector));
	for (u32 i = 0; i < 16; i++) {
		memcpy(vector[i], frame + AT_XMM + 16 * i, 16);
		if (ymm)
			memcpy(vector[i] + 16, ymm + 16 * i, 16);
		if (zmm)
			memcpy(vector[i] + 32, zmm + 32 * i, 32);
		if (high)
			memcpy(vector[16 + i], high + 64 * i, 64);
	}
	r->vec = vector[0];
}
