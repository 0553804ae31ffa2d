/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This node's KVM: whether it can do what the guest needs, the machine, its
 * memory, its CPUs.
 */
#ifndef KVM_H
#define KVM_H

#include <linux/kvm.h>

#include "vmm.h"

struct kvm_cpu {
	int fd;
	struct kvm_run *run;
	struct kvm_sregs reset;	/* registers after a reset */
};

struct kvm_needs {
	bool real;		/* a guest that stays in real mode, */
	bool shadow;		/* --unsafe-shadow-paging */
};

/* Each: 0, or -1 after a line that says what is missing and what to do. */
int kvm_open(const struct kvm_needs *needs);
int kvm_memory(const struct shape *s);
/* index: of this node's CPUs; its CPUID is the guest's from then on. */
int kvm_cpu_create(struct kvm_cpu *c, const struct shape *s, uint16_t index);
/* How fast the guest's TSC counts. */
int kvm_khz(uint64_t *khz);

/* cpuid.c: what all CPUs say of themselves, but for their names. */
struct kvm_cpuid2 *cpuid_common(int kvm);
void cpuid_name(struct kvm_cpuid2 *c, const struct shape *s, uint32_t id);
/* In shared memory: node 0's, with which all others compare theirs. */
int cpuid_alike(const struct kvm_cpuid2 *own, const struct shape *s);

#endif /* KVM_H */
