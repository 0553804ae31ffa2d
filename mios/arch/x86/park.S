/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a CPU of an ended instance executes to show that its INIT arrived: one
 * that is still somebody's ignores a SIPI, one that waits for it comes here,
 * gives back what an INIT leaves as it was, counts itself and halts.  In one
 * page below 1 MiB, by node/park.c, and ended by another INIT.
 *
 * An NMI or a machine check finds a table of vectors in the same page; with
 * the one at address 0 it would run whatever the firmware has left there, and
 * with machine checks off one of them would reset the machine.  All CPUs here
 * have one stack, of which nothing is ever read.
 */
#include <linux/linkage.h>
#include <asm/msr-index.h>

#define VECTORS		32
#define VECTOR_MC	18
#define CTL2_CMCI_EN	30
#define CTL_TRACEEN	0

	.section .rodata, "a", @progbits
	.balign 8
	.code16
SYM_DATA_START(mios_park_code)
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$(.Lstack - mios_park_code), %sp
	lidtl	.Lidt - mios_park_code
	movl	.Lcr4 - mios_park_code, %eax
	movl	%eax, %cr4

	/* Who has this CPU next finds no bank in use by somebody else. */
	movl	.Lbanks - mios_park_code, %ebx
.Lbank:
	testl	%ebx, %ebx
	jz	.Ltrace
	decl	%ebx
	leal	MSR_IA32_MC0_CTL2(%ebx), %ecx
	rdmsr
	btrl	$CTL2_CMCI_EN, %eax
	wrmsr
	jmp	.Lbank

	/* A processor trace goes on writing into the memory of the dead. */
.Ltrace:
	cmpl	$0, .Ltraced - mios_park_code
	je	.Lperformance
	movl	$MSR_IA32_RTIT_CTL, %ecx
	rdmsr
	btrl	$CTL_TRACEEN, %eax
	wrmsr

	/* Its last owner may have left it at its slowest. */
.Lperformance:
	movl	.Lperf - mios_park_code, %ecx
	testl	%ecx, %ecx
	jz	.Lcount
	movl	.Lperf - mios_park_code + 4, %eax
	movl	.Lperf - mios_park_code + 8, %edx
	wrmsr

.Lcount:
	lock incl .Lparked - mios_park_code
.Lhalt:
	hlt
	jmp	.Lhalt

	/* A second machine check before this is cleared resets the machine. */
.Lmachine_check:
	xorl	%eax, %eax
	xorl	%edx, %edx
	movl	$MSR_IA32_MCG_STATUS, %ecx
	wrmsr
.Lvector:
	movw	$(.Lstack - mios_park_code), %sp
	lock incl .Ltaken - mios_park_code
	jmp	.Lhalt

	.balign	8
/* struct park_params in node/park.c */
SYM_DATA_START(mios_park_params)
.Lparked:
	.long	0
.Ltaken:
	.long	0
.Lcr4:
	.long	0
.Lbanks:
	.long	0
.Ltraced:
	.long	0
.Lperf:
	.long	0, 0, 0
.Lidt:
	.word	4 * VECTORS - 1
	.long	.Lvectors - mios_park_code	/* + page */
	.word	0
.Lvectors:
	.set	number, 0
	.rept	VECTORS
	.if	number == VECTOR_MC
	.word	.Lmachine_check - mios_park_code
	.else
	.word	.Lvector - mios_park_code
	.endif
	.word	0				/* + page / 16 */
	.set	number, number + 1
	.endr
	.fill	16, 2, 0
.Lstack:
SYM_DATA_END(mios_park_params)
SYM_DATA_END_LABEL(mios_park_code, SYM_L_GLOBAL, mios_park_end)
	.section .note.GNU-stack, "", @progbits
