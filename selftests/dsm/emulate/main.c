// SPDX-License-Identifier: GPL-2.0
/*
 * The emulator against the processor: random instructions of each form, and
 * such ones with a byte changed, are executed and emulated; memory, registers
 * and flags must be the same.
 *
 *	emulate ROUNDS SEED
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trial.h"

static u8 start[AREA_SIZE], emulated[AREA_SIZE], vectors[32 * 64];

static void dump(const struct trial *t)
{
	int i;

	printf("%s:", t->name);
	for (i = 0; i < t->len; i++)
		printf(" %02x", t->code[i]);
	printf("\n");
}

static bool fail(const struct trial *t, const char *what)
{
	printf("FAILED: ");
	dump(t);
	printf("FAILED: %s\n", what);
	return false;
}

static bool inside(u64 addr, u8 size)
{
	return addr >= AREA && addr + size <= AREA + AREA_SIZE;
}

/* One round of it in the test's copy of memory; 1: it leaves that. */
static int emulate_once(const struct dsm_insn *in, struct dsm_regs *r)
{
	u8 old[DSM_STORE_MAX];
	struct dsm_store s;
	struct dsm_regs after;
	u64 from;
	int i, err = dsm_store_where(in, r, &s);

	if (err)
		return err;
	from = s.reads_from ? s.from : s.addr;
	if (s.size && !(inside(s.addr, s.size) && inside(from, s.size)))
		return 1;
	if (s.reads || s.reads_from)
		memcpy(old, emulated + (from - AREA), s.size);
	dsm_store_perform(in, r, old, &s, &after);
	for (i = 0; i < s.parts; i++)
		memcpy(emulated + (s.part[i].addr - AREA),
		       s.value + s.part[i].at, s.part[i].size);
	*r = after;
	return 0;
}

static int emulate(const struct dsm_insn *in, struct dsm_regs *r)
{
	u64 rip = r->rip;
	int err, rounds = 0;

	do {
		err = emulate_once(in, r);
		if (!err && ++rounds > 100)
			return 1;
	} while (!err && r->rip == rip);
	return err;
}

static bool same(const struct trial *t, const struct dsm_regs *native,
		 const struct dsm_regs *ours, u64 undefined)
{
	char text[160];
	int i;

	for (i = 0; i < 16; i++) {
		if (native->gpr[i] == ours->gpr[i])
			continue;
		snprintf(text, sizeof(text), "register %d is %#llx, not %#llx",
			 i, (unsigned long long)ours->gpr[i],
			 (unsigned long long)native->gpr[i]);
		return fail(t, text);
	}
	if (native->rip != ours->rip)
		return fail(t, "another length, or rip");
	if ((native->flags ^ ours->flags) & FLAGS & ~undefined) {
		snprintf(text, sizeof(text), "flags are %#llx, not %#llx",
			 (unsigned long long)ours->flags,
			 (unsigned long long)native->flags);
		return fail(t, text);
	}
	if (memcmp((void *)AREA, emulated, AREA_SIZE))
		return fail(t, "memory differs");
	return true;
}

/* @may_refuse: it has been changed, so it may be anything. */
static bool compare(struct trial *t, bool may_refuse, u64 *executed)
{
	struct dsm_regs ours = t->regs, native = t->regs;
	struct dsm_insn in;
	int signal, err = dsm_insn_decode(&in, t->code, t->len);
	u64 undefined;

	if (!err) {
		undefined = trial_undefined(&in, &t->regs);
		err = emulate(&in, &ours);
	}
	if (err) {
		memcpy(emulated, (void *)AREA, AREA_SIZE);
		return may_refuse || fail(t, "is not emulated");
	}
	++*executed;
	signal = native_run(t->code, in.length, &native);
	if (signal)
		return fail(t, "the processor refuses it");
	return same(t, &native, &ours, undefined);
}

static void refill(void)
{
	int i;

	for (i = 0; i < AREA_SIZE; i += 8)
		*(u64 *)(start + i) = below(4) ? random64() : 0;
	for (i = 0; i < (int)sizeof(vectors); i += 8)
		*(u64 *)(vectors + i) = random64();
	memcpy((void *)AREA, start, AREA_SIZE);
	memcpy(emulated, start, AREA_SIZE);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100000, i;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, fs;
	u64 plain = 0, changed = 0;
	unsigned int features = native_features();
	struct trial t = { 0 };

	setlinebuf(stdout);
	native_setup();
	random_seed(seed);
	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &fs))
		return 1;
	t.regs.fs_base = fs;
	t.regs.vec = vectors;
	for (i = 0; i < rounds; i++) {
		if (i % 4096 == 0)
			refill();
		if (!trial_make(&t, i % form_count(), features,
				(void *)AREA))
			continue;
		if (!compare(&t, false, &plain))
			return 1;
		trial_change(&t);
		if (!compare(&t, true, &changed))
			return 1;
	}
	printf("%llu of %d forms as the processor does them, %llu changed",
	       (unsigned long long)plain, form_count(),
	       (unsigned long long)changed);
	printf("; features %#x, seed %llu\n", features,
	       (unsigned long long)seed);
	return !plain || !changed;
}
