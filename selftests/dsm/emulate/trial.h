/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions that store, drawn by lot: made here without the decoder under
 * test, with registers that lead them into the test's two pages of memory.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate.h"

#define AREA		0x10000000ULL	/* in reach of 32-bit addresses */
#define AREA_SIZE	8192
#define CODE		0x20000000ULL	/* in reach of rip-relative ones */
#define GS_BASE		0x12340ULL
#define FLAGS		(DSM_CF | DSM_PF | DSM_AF | DSM_ZF | DSM_SF | DSM_OF | \
			 DSM_DF)

struct trial {
	const char *name;
	u8 code[32];
	u8 len;
	struct dsm_regs regs;
};

u64 random64(void);
void random_seed(u64 seed);
u32 below(u32 n);

/* What this processor has, as bits of enum feature. */
enum feature { SSE41 = 1, AVX = 2, AVX512 = 4, MOVBE = 8 };

int form_count(void);

/* The @form-th kind; false if this processor has none, or it is too long. */
bool trial_make(struct trial *t, int form, unsigned int features,
		const u8 *memory);

void trial_change(struct trial *t);

/* Flags that the manuals leave undefined behind it. */
u64 trial_undefined(const struct dsm_insn *in, const struct dsm_regs *r);

/* An instruction on this processor: 0, or the signal that it ended in. */
int native_run(const u8 *code, u8 len, struct dsm_regs *r);
void native_setup(void);
unsigned int native_features(void);

#endif /* TRIAL_H */
