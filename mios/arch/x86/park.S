/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a CPU of an ended instance executes to show that its INIT arrived: one
 * that is still somebody's ignores a SIPI, one that waits for it comes here,
 * counts itself and halts.  In one page below 1 MiB, by node/cpu.c; touches
 * nothing but the counter, needs no stack, and is ended by another INIT.
 */
#include <linux/linkage.h>

	.section .rodata, "a", @progbits
	.balign 8
	.code16
SYM_DATA_START(mios_park_code)
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	lock incl (mios_park_count - mios_park_code)
.Lhalt:
	hlt
	jmp	.Lhalt

	.balign	8
SYM_DATA_START(mios_park_count)
	.long	0
SYM_DATA_END(mios_park_count)
SYM_DATA_END_LABEL(mios_park_code, SYM_L_GLOBAL, mios_park_end)
	.section .note.GNU-stack, "", @progbits
