// SPDX-License-Identifier: GPL-2.0
/*
 * What a page is used for, as one node sees it by what adapt.c has counted, and
 * the sums that tools show.  No decision reads a class.
 */
#include "adapt.h"

const char *const adapt_class_name[] = { "unused", "private",
	"producer-consumer", "migratory", "lock", "read-mostly",
	"false-sharing" };
const char *const adapt_count_name[] = { "stores", "foreign", "atomics",
	"upgrades", "alone", "readers", "writers" };

static_assert(sizeof(adapt_class_name) / sizeof(*adapt_class_name) ==
	      ADAPT_CLASSES, "a name for each");
static_assert(sizeof(adapt_count_name) / sizeof(*adapt_count_name) ==
	      ADAPT_COUNTS, "a name for each");

static enum adapt_class class_of(const struct adapt_page *p)
{
	/* Where others store as well, an atomic instruction guards something. */
	if (p->upgrades >= ADAPT_UPGRADES_ENOUGH &&
	    (p->count[ADAPT_STORES] + p->count[ADAPT_FOREIGN]) * 8 <
	    p->count[ADAPT_UPGRADES])
		return ADAPT_MIGRATORY;
	if (p->atoms)
		return ADAPT_LOCK;
	if (p->level > ADAPT_LEVEL_FIRST)
		return ADAPT_PRODUCER;
	if (p->mixed >= ADAPT_MIXED_ENOUGH && p->access == DSM_NONE)
		return ADAPT_FALSE_SHARING;
	if (p->access == DSM_RW || p->level < ADAPT_LEVEL_FIRST)
		return ADAPT_PRIVATE;
	if (p->same >= 2)
		return ADAPT_PRODUCER;
	return ADAPT_READ_MOSTLY;
}

void adapt_classify(const struct adapt *a, struct adapt_page *p)
{
	enum adapt_class class = class_of(p);

	if (class == p->class)
		return;
	p->class = class;
	p->changed = a->now;
	if (p->changes != 0xffff)
		p->changes++;
}

/* Exact until it has wrapped: for who looks on only. */
static u64 adapt_time(u32 t)
{
	return (u64)t << ADAPT_TIME_SHIFT;
}

void adapt_sum(const struct adapt *a, struct adapt_sum *sum)
{
	for (u32 i = 0; i < a->pages; i++) {
		const struct adapt_page *p = &a->page[i];

		sum->pages[p->class]++;
		sum->changes[p->class] += p->changes;
		if (p->changes && adapt_time(p->changed) > sum->last[p->class])
			sum->last[p->class] = adapt_time(p->changed);
		for (int c = 0; c < ADAPT_COUNTS; c++)
			sum->count[p->class][c] += p->count[c];
	}
}
