/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CPUs of different instances have in common: a core, a cache, a package.
 * By their APIC ids alone, for a CPU that another instance has is not to be
 * asked.  Arithmetic only; "mios status --shared" shows what comes out.
 */
#ifndef MIOS_SHARED_H
#define MIOS_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#define SHARED_CPUS	16384
#define SHARED_KINDS	8

struct shared_cpu {
	uint32_t apic;
	int instance;
};

/* Those whose ids are the same, but for the lowest @shift bits, share it. */
struct shared_kind {
	char name[16];
	unsigned int shift;
};

/* What CPUID says; a test has processors of its own. */
struct shared_cpuid {
	uint32_t eax, ebx, ecx, edx;
};

typedef struct shared_cpuid (*shared_ask)(uint32_t leaf, uint32_t subleaf);

/**
 * shared_kinds() - what CPUs may share, the smallest first
 * @ask:	CPUID of a processor of this machine
 * @kinds:	out, of SHARED_KINDS
 *
 * Returns how many, or 0: the processor does not say which CPUs share what.
 */
int shared_kinds(shared_ask ask, struct shared_kind *kinds);

/* The CPUs of a list such as 0-3,6, to @cpus of SHARED_CPUS; false: no list. */
bool shared_list(const char *text, int instance, struct shared_cpu *cpus,
		 int *nr);

/*
 * By id; returns how many are left.  A CPU of an instance that is down is in the
 * list of instance 0, too: it counts as the other one's.
 */
int shared_sort(struct shared_cpu *cpus, int nr);

/**
 * shared_next() - the next thing of a kind that CPUs have in common
 * @cpus:	all, sorted
 * @at:		in and out, where to go on; 0 at first
 * @id:		out, its number
 *
 * Returns the instances that share it, a bit for each, or 0: there is no more.
 */
uint64_t shared_next(const struct shared_cpu *cpus, int nr, unsigned int shift,
		     int *at, uint32_t *id);

/* shared_show.c: the table of this machine, of what an instance of @which has */
void status_shared(uint64_t which, bool json);

#endif /* MIOS_SHARED_H */
