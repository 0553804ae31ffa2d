/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest of two CPUs in real mode.  The first starts the second by INIT and
 * SIPI, as an operating system does, through its x2APIC; then each does as many
 * locked increments of one word as TURNS says, and of one on another page.  The
 * first waits for the second's word, by an interrupt that ends its HLT, prints
 * both sums at the serial port, and ends the guest.
 */
#ifndef TURNS
#define TURNS	100000
#endif

#define ICR	0x830
#define SVR	0x80f
#define EOI	0x80b
#define VECTOR	0x40
#define COM1	0x3f8
#define END	0x600
#define SECOND	0x8000		/* where the second CPU starts: page 8 */
#define WORD	0x1000
#define OTHER	0x3000

	.code16
	.globl	_start
_start:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	$0x7000, %sp
	/* The second's first instruction: a jump to where it belongs. */
	movb	$0xea, SECOND
	movw	$second, SECOND + 1
	movw	%ax, SECOND + 3
	movw	$interrupt, 4 * VECTOR
	movw	%ax, 4 * VECTOR + 2

	movl	$SVR, %ecx
	xorl	%edx, %edx
	movl	$0x1ff, %eax
	wrmsr
	movl	$ICR, %ecx
	movl	$1, %edx
	movl	$0x4500, %eax	/* INIT */
	wrmsr
	movl	$0x4608, %eax	/* SIPI, page 8 */
	wrmsr

	call	count
wait:
	cmpl	$1, told
	je	1f
	/* It comes after HLT has begun, or before, but not between. */
	sti
	hlt
	cli
	jmp	wait
1:
	movl	WORD, %eax
	call	print
	movl	OTHER, %eax
	call	print
	movb	$0, %al
	cmpl	$(2 * TURNS), WORD
	jne	2f
	cmpl	$(2 * TURNS), OTHER
	je	3f
2:
	movb	$9, %al
3:
	movw	$END, %dx
	outb	%al, %dx
4:
	hlt
	jmp	4b

second:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$0x6000, %sp
	call	count
	/* A letter from here, through the other node; then the interrupt. */
	movw	$COM1, %dx
	movb	$'2', %al
	outb	%al, %dx
	movb	$'\n', %al
	outb	%al, %dx
	movl	$ICR, %ecx
	xorl	%edx, %edx
	movl	$VECTOR, %eax
	wrmsr
5:
	hlt
	jmp	5b

count:
	movl	$TURNS, %ecx
6:
	lock incl WORD
	lock incl OTHER
	decl	%ecx
	jnz	6b
	ret

interrupt:
	pushal
	movl	$1, told
	movl	$EOI, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	popal
	iret

/* %eax in hexadecimal, and the end of the line. */
print:
	movl	%eax, %ebx
	movw	$8, %cx
	movw	$COM1, %dx
7:
	roll	$4, %ebx
	movb	%bl, %al
	andb	$15, %al
	cmpb	$10, %al
	jb	8f
	addb	$('a' - '0' - 10), %al
8:
	addb	$'0', %al
	outb	%al, %dx
	loop	7b
	movb	$'\n', %al
	outb	%al, %dx
	ret

	.balign	4
told:	.long	0
