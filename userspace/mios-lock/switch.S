/* SPDX-License-Identifier: GPL-2.0 */
/* void stack_switch(void **from, void *to): from one task's stack to another's. */
	.text
	.globl	stack_switch
	.type	stack_switch, @function
stack_switch:
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	.size	stack_switch, . - stack_switch
	.section .note.GNU-stack, "", @progbits
