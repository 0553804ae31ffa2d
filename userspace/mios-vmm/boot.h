/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guest's memory holds when its first CPU begins: a Linux kernel, or a
 * flat image that begins in real mode.
 */
#ifndef BOOT_H
#define BOOT_H

#include <linux/kvm.h>

#include "vmm.h"

#define BOOT_REAL_AT	0x7c00	/* where a flat image lies, and begins */

struct boot {
	const char *kernel, *initrd, *append;
	const char *real;
	uint64_t entry;		/* Linux's, found while it is loaded */
};

/* Fills node 0's memory, by node 0.  0, or -1 after a line. */
int boot_load(struct boot *b, const struct shape *s, uint64_t khz);
/* The registers with which the first CPU begins, as they differ from reset. */
void boot_registers(const struct boot *b, struct kvm_sregs *sregs,
		    struct kvm_regs *regs);

#endif /* BOOT_H */
