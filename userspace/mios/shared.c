// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPUs share a core, a cache or a package, by APIC id: Intel's manual,
 * volume 3, "Detecting Hardware Multi-threading Support and Topology", and AMD's,
 * volume 3, CPUID functions 0xb and 0x8000001d.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

#define LEAF_CACHES	0x4
#define LEAF_TOPOLOGY	0xb
#define LEAF_TOPOLOGY2	0x1f
#define LEAF_AMD	0x80000000
#define LEAF_AMD_FLAGS	0x80000001
#define LEAF_AMD_CACHES	0x8000001d
#define AMD_TOPOEXT	(1U << 22)

#define LEVEL_THREADS	1
#define CACHE_CODE	2
#define MAX_LEVELS	8
#define MAX_SHIFT	31

static void add(struct shared_kind *kinds, int *nr, const char *name,
		unsigned int shift)
{
	struct shared_kind *kind = &kinds[*nr];

	if (*nr == SHARED_KINDS)
		return;
	snprintf(kind->name, sizeof(kind->name), "%s", name);
	kind->shift = shift;
	(*nr)++;
}

/* The bits of an id below those of core and package; false: it does not say. */
static bool widths(shared_ask ask, uint32_t *core, uint32_t *package)
{
	uint32_t max = ask(0, 0).eax, leaf = LEAF_TOPOLOGY2;
	int i;

	if (max < leaf || !ask(leaf, 0).ebx)
		leaf = LEAF_TOPOLOGY;
	if (max < leaf || !ask(leaf, 0).ebx)
		return false;
	*core = 0;
	*package = 0;
	for (i = 0; i < MAX_LEVELS; i++) {
		struct shared_cpuid level = ask(leaf, i);
		uint32_t type = level.ecx >> 8 & 0xff;

		if (!type)
			break;
		*package = level.eax & 31;
		if (type == LEVEL_THREADS)
			*core = *package;
	}
	return i > 0;
}

static uint32_t cache_leaf(shared_ask ask)
{
	if (ask(LEAF_AMD, 0).eax >= LEAF_AMD_CACHES &&
	    ask(LEAF_AMD_FLAGS, 0).ecx & AMD_TOPOEXT)
		return LEAF_AMD_CACHES;
	return ask(0, 0).eax >= LEAF_CACHES ? LEAF_CACHES : 0;
}

/* Those of a core go with the core. */
static void add_caches(shared_ask ask, uint32_t core, struct shared_kind *kinds,
		       int *nr)
{
	uint32_t leaf = cache_leaf(ask);
	char name[16];
	int i;

	for (i = 0; leaf && i < MAX_LEVELS; i++) {
		uint32_t eax = ask(leaf, i).eax, shift = 0;

		if (!(eax & 31))
			return;
		while (shift < MAX_SHIFT && 1U << shift <= (eax >> 14 & 0xfff))
			shift++;
		if ((eax & 31) == CACHE_CODE || shift <= core)
			continue;
		snprintf(name, sizeof(name), "L%u cache", eax >> 5 & 7);
		add(kinds, nr, name, shift);
	}
}

int shared_kinds(shared_ask ask, struct shared_kind *kinds)
{
	uint32_t core, package;
	int nr = 0;

	if (!widths(ask, &core, &package))
		return 0;
	add(kinds, &nr, "core", core);
	add_caches(ask, core, kinds, &nr);
	add(kinds, &nr, "package", package);
	return nr;
}

bool shared_list(const char *text, int instance, struct shared_cpu *cpus,
		 int *nr)
{
	unsigned long first, last, id;
	char *end;

	while (*text && *text != '\n') {
		first = strtoul(text, &end, 10);
		if (end == text)
			return false;
		last = first;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		/* One that goes down is a large number, too. */
		if (last > UINT32_MAX ||
		    last - first >= (unsigned long)(SHARED_CPUS - *nr))
			return false;
		for (id = first; id <= last; id++)
			cpus[(*nr)++] = (struct shared_cpu){ id, instance };
		if (*end && *end != ',' && *end != '\n')
			return false;
		text = end + (*end == ',');
	}
	return true;
}

static int by_apic(const void *a, const void *b)
{
	const struct shared_cpu *x = a, *y = b;

	if (x->apic != y->apic)
		return x->apic < y->apic ? -1 : 1;
	return y->instance - x->instance;
}

int shared_sort(struct shared_cpu *cpus, int nr)
{
	int i, left = 0;

	qsort(cpus, nr, sizeof(cpus[0]), by_apic);
	for (i = 0; i < nr; i++)
		if (!left || cpus[left - 1].apic != cpus[i].apic)
			cpus[left++] = cpus[i];
	return left;
}

uint64_t shared_next(const struct shared_cpu *cpus, int nr, unsigned int shift,
		     int *at, uint32_t *id)
{
	while (*at < nr) {
		uint64_t who = 0;

		*id = cpus[*at].apic >> shift;
		for (; *at < nr && cpus[*at].apic >> shift == *id; (*at)++)
			who |= 1ULL << cpus[*at].instance;
		if (who & (who - 1))
			return who;
	}
	return 0;
}
