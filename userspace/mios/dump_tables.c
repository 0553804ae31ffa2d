// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what a dead kernel had mapped outside its map of all memory: its own
 * image, modules, and what vmalloc() gave it, such as stacks.  A debugger
 * knows no page tables, so the dump names these places one by one.  The tables
 * are the dead kernel's and may hold anything: their number is bounded, and so
 * is that of the places.
 */
#include <errno.h>
#include <string.h>

#include "dump.h"

#define IMAGE_BASE	0xffffffff80000000ULL	/* __START_KERNEL_map */
#define IMAGE_END	0xffffffffff000000ULL	/* MODULES_END */
#define ENTRY_BASE	0xfffffe0000000000ULL	/* cpu_entry_area */
#define ENTRY_END	0xfffffe8000000000ULL
#define VMALLOC_TB	32			/* with four levels */
#define VMALLOC_TB_L5	12800

#define STACK_NEAR	(16 * 1024ULL)		/* THREAD_SIZE, aligned so */
#define REG_SP		19			/* struct user_regs_struct */

#define TABLES_MAX	65536
#define ENTRIES		512
#define PRESENT		(1ULL << 0)
#define LARGE		(1ULL << 7)
#define FRAME		0x000ffffffffff000ULL

struct walk {
	struct dump *d;
	uint64_t first, last;		/* addresses that are wanted */
	unsigned int tables;		/* read so far */
};

/* Only what lies in one of the node's ranges: the rest is not its memory. */
static void map_add(struct dump *d, uint64_t virtual, uint64_t physical,
		    uint64_t size)
{
	struct dump_map *last = d->nr_maps ? &d->maps[d->nr_maps - 1] : NULL;
	int range = dump_range(d, physical);
	uint64_t left;

	if (range < 0)
		return;
	left = d->node.ranges[range].size -
	       (physical - d->node.ranges[range].base);
	if (size > left)
		size = left;
	if (last && last->virtual + last->size == virtual &&
	    last->physical + last->size == physical &&
	    dump_range(d, last->physical) == range) {
		last->size += size;
		return;
	}
	if (d->nr_maps == DUMP_MAPS_MAX) {
		d->more_maps = true;
		return;
	}
	d->maps[d->nr_maps++] = (struct dump_map){ virtual, physical, size };
}

static uint64_t canonical(uint64_t address, int levels)
{
	int unused = 64 - (12 + 9 * levels);

	return (uint64_t)((int64_t)(address << unused) >> unused);
}

static int table_walk(struct walk *w, uint64_t table, int level, int levels,
		      uint64_t base)
{
	uint64_t entries[ENTRIES], size = 1ULL << (12 + 9 * (level - 1));
	int i, err;

	if (w->tables++ == TABLES_MAX)
		return -E2BIG;
	if (dump_range(w->d, table) < 0)
		return 0;
	err = dump_read(w->d, table, entries, sizeof(entries));
	for (i = 0; i < ENTRIES && !err && !w->d->more_maps; i++) {
		uint64_t at = canonical(base + i * size, levels);

		if (!(entries[i] & PRESENT) || at > w->last ||
		    at + (size - 1) < w->first)
			continue;
		if (level == 1)
			map_add(w->d, at, entries[i] & FRAME, size);
		else if (level <= 3 && (entries[i] & LARGE))
			map_add(w->d, at, entries[i] & FRAME & -size, size);
		else
			err = table_walk(w, entries[i] & FRAME, level - 1,
					 levels, at);
	}
	return err;
}

/* The kernel's top table, where the map of its image puts it. */
static int top_table(const struct dump *d, uint64_t *table, int *levels)
{
	uint64_t symbol, phys_base, five = 0;
	int err;

	err = dump_info_number(d, "SYMBOL(init_top_pgt)", 16, &symbol);
	if (!err)
		err = dump_info_number(d, "NUMBER(phys_base)", 10, &phys_base);
	if (err)
		return err;
	dump_info_number(d, "NUMBER(pgtable_l5_enabled)", 10, &five);
	*levels = five == 1 ? 5 : 4;
	*table = (symbol - IMAGE_BASE + phys_base) & FRAME;
	return 0;
}

/* In the order of their use, as there may be no room for all. */
int dump_maps_find(struct dump *d)
{
	struct walk w = { .d = d };
	uint64_t table, vmalloc;
	unsigned int i;
	int levels, err;

	err = top_table(d, &table, &levels);
	if (err)
		return err;
	w.first = IMAGE_BASE;
	w.last = IMAGE_END - 1;
	err = table_walk(&w, table, levels, levels, 0);
	for (i = 0; i < d->node.nr_cpus && !err; i++) {
		if (!(d->cpus[i].flags & MIOS_CPU_SAVED))
			continue;
		w.first = d->cpus[i].regs[REG_SP] & -STACK_NEAR;
		w.last = w.first + (STACK_NEAR - 1);
		/* Else it is in the map of all memory, which is there. */
		if (dump_range(d, w.first - d->node.page_offset) < 0)
			err = table_walk(&w, table, levels, levels, 0);
	}
	w.first = ENTRY_BASE;
	w.last = ENTRY_END - 1;
	err = err ?: table_walk(&w, table, levels, levels, 0);
	if (err || dump_info_number(d, "NUMBER(VMALLOC_START)", 16, &vmalloc))
		return err;
	w.first = vmalloc;
	w.last = vmalloc + ((levels == 5 ? VMALLOC_TB_L5 : VMALLOC_TB) *
			    (1ULL << 40) - 1);
	return table_walk(&w, table, levels, levels, 0);
}
