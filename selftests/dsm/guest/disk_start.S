/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the guest of disk.c begins: in real mode, on the first CPU; with TWO that
 * one starts the second, and rests.  Whichever is to use the disk goes on in
 * protected mode, without paging, with an interrupt vector of its own.
 */
#define ICR	0x830
#define EOI	0x80b
#define SECOND	0x7000		/* where the second CPU starts: page 7 */
#define STACK	0x6000
#define VECTOR	0x41

	.code16
	.globl	_start
_start:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$STACK, %sp
#ifdef TWO
	/* Its first instruction: a jump to where it belongs. */
	movb	$0xea, SECOND
	movw	$protected, SECOND + 1
	movw	%ax, SECOND + 3
	movl	$ICR, %ecx
	movl	$1, %edx
	movl	$0x4500, %eax	/* INIT */
	wrmsr
	movl	$0x4607, %eax	/* SIPI, page 7 */
	wrmsr
1:
	hlt
	jmp	1b
#endif

protected:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	gdt_pointer
	movl	%cr0, %eax
	orb	$1, %al
	movl	%eax, %cr0
	ljmpl	$8, $flat

	.code32
flat:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movl	$STACK, %esp
	movl	$interrupt, %eax
	movw	%ax, idt + 8 * VECTOR
	shrl	$16, %eax
	movw	%ax, idt + 8 * VECTOR + 6
	movw	$8, idt + 8 * VECTOR + 2
	movw	$0x8e00, idt + 8 * VECTOR + 4
	lidtl	idt_pointer
	call	disk
2:
	hlt
	jmp	2b

interrupt:
	pushal
	call	interrupted
	movl	$EOI, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	popal
	iret

	.balign	8
gdt:
	.quad	0, 0x00cf9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	23
	.long	gdt
	.balign	8
idt:
	.fill	8 * (VECTOR + 1), 1, 0
idt_pointer:
	.word	8 * (VECTOR + 1) - 1
	.long	idt
