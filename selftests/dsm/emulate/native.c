// SPDX-License-Identifier: GPL-2.0
/*
 * Executes one instruction with given registers.  A trap leads in and one
 * leads out: the signal handler exchanges the registers of the frame that the
 * kernel restores.  Behind the instruction is nothing but int3, so where it
 * traps tells how long the processor took it to be.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "trial.h"

static const int order[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static struct {
	gregset_t home;
	struct dsm_regs *regs;
	bool inside;
	int signal;
	unsigned int ymm, zmm, high;	/* offsets in an XSAVE area, or 0 */
} now;

/* XSAVE in the frame: 512 bytes of FXSAVE, then the features present. */
static void vectors_in(u8 *frame, const u8 *vec)
{
	u64 present;
	int i;

	memcpy(&present, frame + 512, 8);
	present |= 3 | (now.ymm ? 4 : 0) | (now.zmm ? 0xe0 : 0);
	memcpy(frame + 512, &present, 8);
	for (i = 0; i < 16; i++) {
		memcpy(frame + 160 + 16 * i, vec + 64 * i, 16);
		if (now.ymm)
			memcpy(frame + now.ymm + 16 * i, vec + 64 * i + 16, 16);
		if (now.zmm)
			memcpy(frame + now.zmm + 32 * i, vec + 64 * i + 32, 32);
	}
	if (now.zmm)
		memcpy(frame + now.high, vec + 64 * 16, 64 * 16);
}

static void enter(ucontext_t *uc)
{
	greg_t *g = uc->uc_mcontext.gregs;
	int i;

	memcpy(now.home, g, sizeof(now.home));
	for (i = 0; i < 16; i++)
		g[order[i]] = now.regs->gpr[i];
	g[REG_RIP] = now.regs->rip;
	g[REG_EFL] = (g[REG_EFL] & ~FLAGS) | (now.regs->flags & FLAGS);
	vectors_in((u8 *)uc->uc_mcontext.fpregs, now.regs->vec);
	now.inside = true;
}

static void leave(ucontext_t *uc, int signal)
{
	greg_t *g = uc->uc_mcontext.gregs;
	int i;

	for (i = 0; i < 16; i++)
		now.regs->gpr[i] = g[order[i]];
	now.regs->rip = g[REG_RIP] - (signal == SIGTRAP);
	now.regs->flags = g[REG_EFL] & FLAGS;
	now.signal = signal == SIGTRAP ? 0 : signal;
	memcpy(g, now.home, sizeof(now.home));
	now.inside = false;
}

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)info;
	if (now.inside)
		leave(context, signal);
	else if (signal == SIGTRAP)
		enter(context);
	else
		_exit(99);	/* the test's own fault */
}

int __attribute__((noinline)) native_run(const u8 *code, u8 len,
					 struct dsm_regs *r)
{
	u8 *at = (u8 *)r->rip;

	memcpy(at, code, len);
	memset(at + len, 0xcc, 32);
	now.regs = r;
	asm volatile("int3" : : : "memory");
	return now.signal;
}

unsigned int native_features(void)
{
	unsigned int a, b, c, d, have = 0, x;

	__cpuid(1, a, b, c, d);
	have |= (c & bit_SSE4_1 ? SSE41 : 0) | (c & bit_MOVBE ? MOVBE : 0);
	if (!(c & bit_OSXSAVE))
		return have;
	asm("xgetbv" : "=a" (x), "=d" (d) : "c" (0));
	if (c & bit_AVX && (x & 6) == 6) {
		__cpuid_count(7, 0, a, b, c, d);
		if (b & bit_AVX2)
			have |= AVX;
		if ((x & 0xe0) == 0xe0 && b & bit_AVX512F &&
		    b & bit_AVX512BW && b & bit_AVX512VL && b & bit_AVX512DQ)
			have |= AVX512;
	}
	return have;
}

static void *pages(u64 at, size_t size, int prot)
{
	void *p = mmap((void *)at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS |
		       MAP_FIXED_NOREPLACE, -1, 0);

	if (p != (void *)at) {
		perror("mmap");
		exit(1);
	}
	return p;
}

void native_setup(void)
{
	static const int signals[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGILL,
				       SIGFPE };
	struct sigaction sa = { .sa_sigaction = handler,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = 1 << 18 };
	unsigned int features = native_features(), a, c, d, i;

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		exit(1);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
	if (features & AVX)
		__cpuid_count(0xd, 2, a, now.ymm, c, d);
	if (features & AVX512) {
		__cpuid_count(0xd, 6, a, now.zmm, c, d);
		__cpuid_count(0xd, 7, a, now.high, c, d);
	}
	pages(AREA, AREA_SIZE, PROT_READ | PROT_WRITE);
	memset(pages(CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0xcc,
	       4096);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, GS_BASE))
		exit(1);
}
