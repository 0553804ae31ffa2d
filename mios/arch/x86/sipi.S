/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the boot CPU of a new instance executes first: from the SIPI in real
 * mode to the 64-bit entry point of the image, in one page below 1 MiB that
 * node/cpu.c copies this code into.  Runs with the identity tables that lie
 * behind it, without stack, and touches nothing else.
 *
 * The code does not know where the page will be: it finds itself through %cs
 * in real mode, and everything that must be a linear address is filled in by
 * the C side (struct mios_sipi_params, the same order).
 */
#include <linux/linkage.h>
#include <asm/msr-index.h>
#include <asm/processor-flags.h>

#define CODE32	0x08
#define CODE64	0x10
#define DATA	0x18

	.section .rodata, "a", @progbits
	.balign 8
	.code16
SYM_DATA_START(mios_sipi_code)
	cli
	cld
	xorl	%eax, %eax
	movw	%cs, %ax
	movw	%ax, %ds
	movl	%eax, %ebp
	shll	$4, %ebp		/* linear address of this page */

	/*
	 * Says that the CPU is here, so that nobody sends it another SIPI.
	 * The image can be entered only once, its first steps change it: whoever
	 * comes again, by a SIPI that an INIT did not take away (QEMU keeps
	 * one), waits for the next INIT.
	 */
	lock btsl $0, .Larrived - mios_sipi_code
	jc	.Lhalt

	/* An NMI or a fault before the kernel's own IDT stands is fatal. */
	lidtl	.Lno_idt - mios_sipi_code
	lgdtl	.Lgdt_ptr - mios_sipi_code
	movl	%cr0, %eax
	orl	$X86_CR0_PE, %eax
	/* INIT leaves the caches off on some CPUs */
	andl	$~(X86_CR0_CD | X86_CR0_NW), %eax
	movl	%eax, %cr0
	ljmpl	*(.Ljump32 - mios_sipi_code)
.Lhalt:
	hlt
	jmp	.Lhalt

	.code32
.Lprotected:
	movw	$DATA, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	xorl	%eax, %eax
	movw	%ax, %fs
	movw	%ax, %gs

	/*
	 * The memory types of instance 0.  Changing them empties the caches of
	 * the whole package: only where INIT has not left them alone.
	 */
	movl	(.Lnr_mtrrs - mios_sipi_code)(%ebp), %ebx
	leal	(.Lmtrrs - mios_sipi_code)(%ebp), %edi
.Lcompare:
	testl	%ebx, %ebx
	jz	.Lpaging
	movl	(%edi), %ecx
	rdmsr
	cmpl	4(%edi), %eax
	jne	.Ldiffers
	cmpl	8(%edi), %edx
	jne	.Ldiffers
	addl	$12, %edi
	decl	%ebx
	jmp	.Lcompare

.Ldiffers:
	movl	%cr0, %eax
	orl	$X86_CR0_CD, %eax
	movl	%eax, %cr0
	wbinvd
	movl	$MSR_MTRRdefType, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	movl	(.Lnr_mtrrs - mios_sipi_code)(%ebp), %ebx
	leal	(.Lmtrrs - mios_sipi_code)(%ebp), %edi
.Lwrite:
	movl	(%edi), %ecx
	movl	4(%edi), %eax
	movl	8(%edi), %edx
	wrmsr
	addl	$12, %edi
	decl	%ebx
	jnz	.Lwrite
	wbinvd
	movl	%cr0, %eax
	andl	$~X86_CR0_CD, %eax
	movl	%eax, %cr0

.Lpaging:
	movl	(.Lcr4 - mios_sipi_code)(%ebp), %eax
	movl	%eax, %cr4
	movl	(.Lcr3 - mios_sipi_code)(%ebp), %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$((1 << _EFER_LME) | (1 << _EFER_NX)), %eax
	wrmsr
	movl	%cr0, %eax
	orl	$X86_CR0_PG, %eax
	movl	%eax, %cr0
	ljmpl	*(.Ljump64 - mios_sipi_code)(%ebp)

	.code64
.Llong:
	movl	%ebp, %ebp
	movq	(.Lzero_page - mios_sipi_code)(%rbp), %rsi
	movq	(.Lentry - mios_sipi_code)(%rbp), %rax
	xorl	%ebp, %ebp
	xorl	%edi, %edi
	xorl	%ebx, %ebx
	jmp	*%rax

	.balign	8
.Lgdt:
	.quad	0
	.quad	0x00cf9b000000ffff	/* CODE32 */
	.quad	0x00af9b000000ffff	/* CODE64, also Linux' __BOOT_CS */
	.quad	0x00cf93000000ffff	/* DATA, also Linux' __BOOT_DS */
.Lgdt_end:
.Lno_idt:
	.word	0
	.long	0
	.balign	8
SYM_DATA_START(mios_sipi_params)
.Lgdt_ptr:
	.word	.Lgdt_end - .Lgdt - 1
	.long	.Lgdt - mios_sipi_code		/* + page */
	.word	0
.Ljump32:
	.long	.Lprotected - mios_sipi_code	/* + page */
	.word	CODE32
	.word	0
.Ljump64:
	.long	.Llong - mios_sipi_code		/* + page */
	.word	CODE64
	.word	0
.Lcr3:
	.long	0
.Lcr4:
	.long	0
.Lentry:
	.quad	0
.Lzero_page:
	.quad	0
.Larrived:
	.long	0
.Lnr_mtrrs:
	.long	0
.Lmtrrs:		/* MSR, low and high half; to the end of the page */
SYM_DATA_END(mios_sipi_params)
SYM_DATA_END_LABEL(mios_sipi_code, SYM_L_GLOBAL, mios_sipi_end)
	.section .note.GNU-stack, "", @progbits
