// SPDX-License-Identifier: GPL-2.0
/*
 * What the guest's processors say that they are: what KVM supports, without
 * what is not given to this guest, and each with its name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "end.h"
#include "kvm.h"

#define ENTRIES		256
#define KVM_LEAF	0x40000001

/* Bits that the guest does not see, or always does. */
struct rule {
	uint32_t leaf;
	uint32_t off[4], on[4];	/* eax, ebx, ecx, edx */
};

static const struct rule rules[] = {
	/* ecx: monitor, VMX, SMX; x2APIC, deadline, hypervisor.  edx: MTRR. */
	{ 1, { 0, 0, 1 << 3 | 1 << 5 | 1 << 6, 1 << 12 },
	     { 0, 0, 1u << 21 | 1u << 24 | 1u << 31, 1 << 9 } },
	/* HLE, RTM */
	{ 7, { 0, 1 << 4 | 1 << 11 }, { 0 } },
	/* counters of performance */
	{ 0xa, { ~0u, ~0u, ~0u, ~0u }, { 0 } },
	/* SVM, instruction based sampling */
	{ 0x80000001, { 0, 0, 1 << 2 | 1 << 10 }, { 0 } },
	/* No help of KVM's: its own APIC would be needed.  The signature stays. */
	{ KVM_LEAF, { ~0u, ~0u, ~0u, ~0u }, { 0 } },
};

static uint32_t *registers(struct kvm_cpuid_entry2 *e, int nr)
{
	uint32_t *all[] = { &e->eax, &e->ebx, &e->ecx, &e->edx };

	return all[nr];
}

static void rule_apply(struct kvm_cpuid_entry2 *e)
{
	for (uint32_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		for (int r = 0; r < 4 && rules[i].leaf == e->function; r++) {
			/* Leaf 7 has others below it. */
			if (e->function == 7 && e->index)
				continue;
			*registers(e, r) &= ~rules[i].off[r];
			*registers(e, r) |= rules[i].on[r];
		}
}

/* Leaves that tell which processors there are, and so differ. */
static bool names(uint32_t leaf)
{
	return leaf == 0xb || leaf == 0x1f || leaf == 0x8000001e;
}

struct kvm_cpuid2 *cpuid_common(int kvm)
{
	struct kvm_cpuid2 *c = calloc(1, sizeof(*c) +
				      (ENTRIES + 2) * sizeof(c->entries[0]));
	uint32_t kept = 0;

	if (!c)
		return NULL;
	c->nent = ENTRIES;
	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, c)) {
		free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < c->nent; i++) {
		if (names(c->entries[i].function))
			continue;
		c->entries[kept] = c->entries[i];
		rule_apply(&c->entries[kept++]);
	}
	c->nent = kept;
	return c;
}

/* Threads of a core: one; cores of a package: a node's CPUs. */
static void topology(struct kvm_cpuid2 *c, const struct shape *s, uint32_t id)
{
	struct kvm_cpuid_entry2 *e = &c->entries[c->nent];

	e[0] = (struct kvm_cpuid_entry2){
		.function = 0xb, .flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.ebx = 1, .ecx = 1 << 8, .edx = id,
	};
	e[1] = (struct kvm_cpuid_entry2){
		.function = 0xb, .index = 1, .eax = shape_shift(s),
		.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
		.ebx = s->cpus_each, .ecx = 2 << 8 | 1, .edx = id,
	};
	c->nent += 2;
}

void cpuid_name(struct kvm_cpuid2 *c, const struct shape *s, uint32_t id)
{
	uint32_t cores = 1u << shape_shift(s);

	while (c->nent && names(c->entries[c->nent - 1].function))
		c->nent--;
	for (uint32_t i = 0; i < c->nent; i++) {
		struct kvm_cpuid_entry2 *e = &c->entries[i];

		if (e->function == 1) {
			e->ebx = (e->ebx & 0xffff) | cores << 16 | id << 24;
			e->edx |= (cores > 1) << 28;
		} else if (e->function == 4 && e->eax & 0x1f) {
			e->eax = (e->eax & 0x3fff) | (cores - 1) << 26;
		} else if (e->function == 0x80000008) {
			e->ecx = (s->cpus_each - 1) | shape_shift(s) << 12;
		}
	}
	topology(c, s, id);
}

static const struct kvm_cpuid_entry2 *find(const struct kvm_cpuid2 *c,
					   uint32_t leaf, uint32_t index)
{
	for (uint32_t i = 0; i < c->nent; i++)
		if (c->entries[i].function == leaf &&
		    c->entries[i].index == index)
			return &c->entries[i];
	return NULL;
}

/* But for what each processor says of itself: its APIC, its state's size now. */
static bool same(const struct kvm_cpuid_entry2 *a,
		 const struct kvm_cpuid_entry2 *b)
{
	uint32_t ebx = a->function == 1 ? 0xffffff : ~0u;

	return a->eax == b->eax && a->ecx == b->ecx && a->edx == b->edx &&
		(a->function == 0xd || !((a->ebx ^ b->ebx) & ebx));
}

static int compare(const struct kvm_cpuid2 *own, const struct kvm_cpuid2 *first)
{
	for (uint32_t i = 0; i < first->nent && i < ENTRIES; i++) {
		const struct kvm_cpuid_entry2 *a = &first->entries[i];
		const struct kvm_cpuid_entry2 *b = find(own, a->function,
							a->index);

		if (!b || !same(a, b))
			return say("the processor differs from node 0's (CPUID leaf %#x): use "
				   "machines of one kind, with one kernel",
				   a->function);
	}
	return 0;
}

int cpuid_alike(const struct kvm_cpuid2 *own, const struct shape *s)
{
	size_t size = sizeof(*own) + ENTRIES * sizeof(own->entries[0]);
	void **root = mios_dsm_root() + VMM_NODES;

	if (!s->self) {
		*root = mios_dsm_malloc(size, 0);
		if (*root)
			memcpy(*root, own, sizeof(*own) +
			       own->nent * sizeof(own->entries[0]));
	}
	if (end_barrier())
		return -1;
	if (!*root)
		return say("no memory in the window: mios-dsm run --memory");
	return compare(own, *root);
}
