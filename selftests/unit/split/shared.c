// SPDX-License-Identifier: GPL-2.0
/*
 * What shared.c makes of processors that are known, and of lists of CPUs.  Exit
 * status 0: all right; 1: the line that failed has been printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mios/shared.h"

#define must(what) do {							\
	if (!(what)) {							\
		printf("failed: %s, line %d\n", #what, __LINE__);	\
		exit(1);						\
	}								\
} while (0)

struct leaf {
	uint32_t leaf, subleaf;
	struct shared_cpuid is;
};

/* Two threads a core, 16 ids a cache L3, 32 a package; leaf 0x1f is empty. */
static const struct leaf threads[] = {
	{ 0, 0, { .eax = 0x1f } },
	{ 4, 0, { .eax = 1 << 14 | 1 << 5 | 1 } },
	{ 4, 1, { .eax = 1 << 14 | 1 << 5 | 2 } },
	{ 4, 2, { .eax = 1 << 14 | 2 << 5 | 3 } },
	{ 4, 3, { .eax = 63U << 26 | 15 << 14 | 3 << 5 | 3 } },
	{ 0xb, 0, { .eax = 1, .ebx = 2, .ecx = 1 << 8 } },
	{ 0xb, 1, { .eax = 5, .ebx = 16, .ecx = 2 << 8 | 1 } },
	{ 0x80000000, 0, { .eax = 0x80000008 } },
	{ }
};

/* AMD: leaf 4 is not to be looked at; three dies, which make no line. */
static const struct leaf amd[] = {
	{ 0, 0, { .eax = 0x1f } },
	{ 0x1f, 0, { .eax = 0, .ebx = 1, .ecx = 1 << 8 } },
	{ 0x1f, 1, { .eax = 4, .ebx = 12, .ecx = 5 << 8 | 1 } },
	{ 0x1f, 2, { .eax = 6, .ebx = 36, .ecx = 2 << 8 | 2 } },
	{ 0xb, 0, { .eax = 1, .ebx = 2, .ecx = 1 << 8 } },
	{ 0x80000000, 0, { .eax = 0x80000020 } },
	{ 0x80000001, 0, { .ecx = 1 << 22 } },
	{ 0x8000001d, 0, { .eax = 7 << 14 | 1 << 5 | 2 } },
	{ 0x8000001d, 1, { .eax = 2 << 14 | 2 << 5 | 3 } },
	{ 0x8000001d, 2, { .eax = 7 << 14 | 3 << 5 | 3 } },
	{ }
};

static const struct leaf old[] = { { 0, 0, { .eax = 4 } }, { } };

/* A level that says that it has a successor for ever. */
static const struct leaf endless[] = {
	{ 0, 0, { .eax = 0xb } },
	{ 0xb, ~0U, { .eax = 31, .ebx = 1, .ecx = 2 << 8 } },
	{ 4, ~0U, { .eax = 0xffffffff } },
	{ }
};

static const struct leaf *processor;
static struct shared_cpu cpus[SHARED_CPUS];
static char text[512];
static int nr;

static struct shared_cpuid ask(uint32_t leaf, uint32_t subleaf)
{
	const struct leaf *at;

	for (at = processor; at->is.eax || at->is.ecx || at->is.ebx; at++)
		if (at->leaf == leaf &&
		    (at->subleaf == subleaf || at->subleaf == ~0U))
			return at->is;
	return (struct shared_cpuid){ };
}

static const char *kinds_of(const struct leaf *of)
{
	struct shared_kind kinds[SHARED_KINDS];
	size_t len = 0;
	int i, found;

	processor = of;
	found = shared_kinds(ask, kinds);
	text[0] = '\0';
	for (i = 0; i < found; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s:%u",
				i ? " " : "", kinds[i].name, kinds[i].shift);
	return text;
}

static bool list(const char *ids)
{
	nr = 0;
	return shared_list(ids, 0, cpus, &nr);
}

/* ID:INSTANCES of all that is shared by ids with @shift bits of their own. */
static const char *shares(unsigned int shift)
{
	size_t len = 0;
	int at = 0, i;
	uint64_t who;
	uint32_t id;

	text[0] = '\0';
	while ((who = shared_next(cpus, nr, shift, &at, &id))) {
		len += snprintf(text + len, sizeof(text) - len, "%s%u",
				len ? " " : "", id);
		for (i = 0; i < 64; i++)
			if (who & 1ULL << i)
				len += snprintf(text + len, sizeof(text) - len,
						"%c%d", who & ((1ULL << i) - 1)
						? ',' : ':', i);
	}
	return text;
}

int main(void)
{
	must(!strcmp(kinds_of(threads), "core:1 L3 cache:4 package:5"));
	must(!strcmp(kinds_of(amd),
		     "core:0 L2 cache:2 L3 cache:3 package:6"));
	must(!strcmp(kinds_of(old), ""));
	kinds_of(endless);

	must(list("0-2"));
	must(shared_list("7,3\n", 1, cpus, &nr));
	must(shared_list("\n", 2, cpus, &nr));
	must(shared_list("64-65,63\n", 63, cpus, &nr));
	must(shared_list("7,65", 0, cpus, &nr));
	must(nr == 10);
	nr = shared_sort(cpus, nr);
	must(nr == 8);
	must(!strcmp(shares(0), ""));
	must(!strcmp(shares(1), "1:0,1"));
	must(!strcmp(shares(2), "0:0,1"));
	must(!strcmp(shares(6), "0:0,1,63"));
	must(!strcmp(shares(31), "0:0,1,63"));

	must(list("0-16383") && nr == SHARED_CPUS);
	must(!list("0-16384"));
	must(!list("3-2"));
	must(!list("4294967295-4294967296"));
	must(!list("1,,2"));
	must(!list("1-"));
	must(!list("1 2"));
	must(!list("x"));
	return 0;
}
