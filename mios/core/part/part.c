// SPDX-License-Identifier: GPL-2.0
/*
 * Which instance a CPU and a piece of memory are for.  By itself each NUMA node
 * is one's, by its number.  Where the operator names parts of nodes
 * (mios.parts=CPUS/SIZE@ADDRESS,...) the first is instance 1's, the second
 * instance 2's, and what is in none stays instance 0's.  Found once, when the
 * module is loaded, and never changed: reading it takes no lock.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/topology.h>
#include <asm/e820/api.h>
#include <uapi/linux/mios.h>
#include <mios/layout.h>

#include "../../inject/inject.h"
#include "part.h"

static char *parts[MIOS_MAX_INSTANCES - 1];
static unsigned int nr_parts;
module_param_array(parts, charp, &nr_parts, 0400);
MODULE_PARM_DESC(parts, "CPUS/SIZE@ADDRESS,...: what each instance has of a node, CPUs and ranges joined by +");

/**
 * struct part - a part that can be used
 * @range:	its memory, as it was written
 * @nr_ranges:	how many there are; 0: it has been refused
 * @numa:	the node that it is a part of
 */
struct part {
	struct mios_range range[MIOS_PART_RANGES];
	unsigned int nr_ranges;
	int numa;
};

static struct part part[MIOS_MAX_INSTANCES];
MIOS_INJECT_SWITCH(believe_parts, "do not check the memory that parts= names");

/* Of each CPU, 0: none. */
static DEFINE_PER_CPU(u8, part_of);
static_assert(MIOS_MAX_INSTANCES <= U8_MAX);

/**
 * mios_part_is_ram - does the firmware call all of a range RAM?
 * @base: of the range
 * @size: of the range
 * @step: what the range is made of
 *
 * e820 can only be asked for "any", so in steps, and for every type that must
 * not be there.
 */
bool mios_part_is_ram(u64 base, u64 size, u64 step)
{
	static const enum e820_type foreign[] = {
		E820_TYPE_RESERVED, E820_TYPE_ACPI, E820_TYPE_NVS,
		E820_TYPE_UNUSABLE, E820_TYPE_PMEM, E820_TYPE_PRAM,
	};
	u64 at;
	int i;

	for (i = 0; i < ARRAY_SIZE(foreign); i++)
		if (e820__mapped_raw_any(base, base + size, foreign[i]))
			return false;
	for (at = base; at < base + size; at += step)
		if (!e820__mapped_raw_any(at, at + step, E820_TYPE_RAM))
			return false;
	return true;
}

/**
 * mios_part_is_reserved - is it RAM that this kernel was told to leave alone?
 * @base: of a piece
 */
bool mios_part_is_reserved(u64 base)
{
	return !e820__mapped_any(base, base + MIOS_PART_PIECE,
				 E820_TYPE_RAM) &&
	       mios_part_is_ram(base, MIOS_PART_PIECE, SZ_64K);
}

/* RAM that this kernel has booted with, and does not have or use any more? */
static bool is_unused(u64 base)
{
	return mios_part_is_ram(base, MIOS_PART_PIECE, SZ_64K) &&
	       (!mios_part_is_booted(base) || mios_part_is_offline(base));
}

/*
 * The kernel's own tables end with the memory that it booted with if the
 * firmware has none: then there is one node.
 */
static int numa_of(u64 base)
{
	int nid = phys_to_target_node(base);

	return nid == NUMA_NO_NODE && num_online_nodes() == 1 ?
	       first_online_node : nid;
}

static bool range_has(const struct mios_range *r, u64 base)
{
	return base - r->base < r->size;
}

/* 0: nobody's */
static u32 part_find(u64 base)
{
	unsigned int j;
	u32 i;

	for (i = 1; i <= nr_parts; i++)
		for (j = 0; j < part[i].nr_ranges; j++)
			if (range_has(&part[i].range[j], base))
				return i;
	return 0;
}

/* SIZE@ADDRESS+SIZE@ADDRESS...; what is wrong with it, or NULL. */
static const char *ranges_parse(char *text, struct part *p)
{
	char *word;

	while ((word = strsep(&text, "+"))) {
		struct mios_range *r = &p->range[p->nr_ranges];
		char *rest;

		if (p->nr_ranges == MIOS_PART_RANGES)
			return "it has more than " __stringify(MIOS_PART_RANGES)
			       " ranges of memory";
		r->size = memparse(word, &rest);
		if (*rest != '@')
			return "its memory is not SIZE@ADDRESS";
		r->base = memparse(rest + 1, &rest);
		if (*rest || !r->size || r->size % MIOS_PART_PIECE ||
		    r->base % MIOS_PART_PIECE || r->base + r->size < r->base)
			return "its memory is not SIZE@ADDRESS, multiples of 2M";
		p->nr_ranges++;
	}
	return NULL;
}

static const char not_unused[] =
	"its memory is not all RAM that memmap= has set aside, or that is offline";

/* Stops at the first piece that is not so, however large a range is said to be. */
static const char *ranges_check(struct part *p)
{
	unsigned int i, j;
	u64 at;

	p->numa = numa_of(p->range[0].base);
	for (i = 0; i < p->nr_ranges; i++) {
		const struct mios_range *r = &p->range[i];

		for (j = 0; j < i; j++)
			if (range_has(&p->range[j], r->base) ||
			    range_has(r, p->range[j].base))
				return "two of its ranges overlap";
		for (at = r->base; at < r->base + r->size;
		     at += MIOS_PART_PIECE) {
			if (inject_believe_parts)
				break;
			cond_resched();
			if (!mios_part_is_reserved(at) && !is_unused(at))
				return not_unused;
			if (numa_of(at) != p->numa)
				return "its memory is of two nodes";
			if (part_find(at))
				return "its memory overlaps another part's";
		}
	}
	return p->numa < 0 ? "its memory is of no node" : NULL;
}

static const char *cpus_check(const struct cpumask *cpus, const struct part *p)
{
	unsigned int cpu;

	if (cpumask_empty(cpus))
		return "it has no CPU";
	for_each_cpu(cpu, cpus) {
		if (!cpu_present(cpu))
			return "it names a CPU that is not there";
		if (!cpu)	/* INIT takes it to the reset vector */
			return "CPU 0 is instance 0's";
		if (per_cpu(part_of, cpu))
			return "it has a CPU that another part has";
		if (cpu_to_node(cpu) != p->numa)
			return "its CPUs are of another node than its memory";
	}
	return NULL;
}

/* By hand it can be so; whoever did it is told. */
static void warn_of_siblings(void)
{
	unsigned int cpu, other;

	for_each_online_cpu(cpu)
		for_each_cpu(other, topology_sibling_cpumask(cpu))
			if (other > cpu && per_cpu(part_of, cpu) !=
					   per_cpu(part_of, other))
				pr_warn("parts=: CPUs %u and %u, of instances %u and %u, are threads of one core: they share its caches and units\n",
					cpu, other, per_cpu(part_of, cpu),
					per_cpu(part_of, other));
}

static const char *ranges_removable(const struct part *p)
{
	const char *why = NULL;
	unsigned int i;

	for (i = 0; i < p->nr_ranges && !why && !inject_believe_parts; i++)
		why = mios_part_removable(&p->range[i]);
	return why;
}

static const char *part_read(u32 i, char *text, struct cpumask *cpus)
{
	char *memory = text, *list = strsep(&memory, "/");
	struct part found = {};
	unsigned int cpu;
	const char *why;

	if (!memory)
		return "it is not CPUS/SIZE@ADDRESS";
	strreplace(list, '+', ',');
	if (cpulist_parse(list, cpus))
		return "its CPUs are no list as in 2-3+6, or not there";
	why = ranges_parse(memory, &found) ?: ranges_check(&found) ?:
	      cpus_check(cpus, &found) ?: ranges_removable(&found);
	if (why)
		return why;
	part[i] = found;
	for_each_cpu(cpu, cpus)
		per_cpu(part_of, cpu) = i;
	return NULL;
}

/**
 * mios_parts_init - read what has been named; before anybody asks
 */
void mios_parts_init(void)
{
	cpumask_var_t cpus;
	u32 i;

	if (!nr_parts)
		return;
	if (!alloc_cpumask_var(&cpus, GFP_KERNEL)) {
		pr_err("parts=: no memory to read it\n");
		return;
	}
	for (i = 1; i <= nr_parts; i++) {
		char *text = kstrdup(parts[i - 1], GFP_KERNEL);
		const char *why = text ? part_read(i, text, cpus) :
				  "no memory to read it";

		if (why)
			pr_err("parts=: part %u, %s, is left alone: %s\n", i,
			       parts[i - 1], why);
		kfree(text);
	}
	free_cpumask_var(cpus);
	warn_of_siblings();
}

/**
 * mios_part_claim - take from this kernel what it has booted with
 * @number: of a part that can have an instance: what is removed is lost to others
 *
 * Return: what is wrong, and nothing has been taken, or NULL.
 */
const char *mios_part_claim(u32 number)
{
	const struct part *p = &part[number];

	if (!nr_parts || inject_believe_parts)
		return NULL;
	return mios_part_remove(p->range, p->nr_ranges, p->numa);
}

/**
 * mios_parts_offline - the memory of parts that nobody uses or has set aside
 * @see: called for each piece
 */
void mios_parts_offline(void (*see)(u64 base))
{
	unsigned int i, j;
	u64 at;

	for (i = 1; i <= nr_parts; i++)
		for (j = 0; j < part[i].nr_ranges; j++) {
			const struct mios_range *r = &part[i].range[j];

			for (at = r->base; at < r->base + r->size;
			     at += MIOS_PART_PIECE) {
				cond_resched();
				if (!mios_part_is_reserved(at) && is_unused(at))
					see(at);
			}
		}
}

/**
 * mios_parts_named - has the operator named parts, and so no whole nodes?
 */
bool mios_parts_named(void)
{
	return nr_parts;
}

/**
 * mios_part_own - which node or part is instance 0's own?
 */
u32 mios_part_own(void)
{
	return nr_parts ? 0 : first_online_node;
}

/**
 * mios_part_of_memory - which node or part is a piece of memory of?
 * @base: of the piece
 *
 * Return: its number; negative: none.
 */
int mios_part_of_memory(u64 base)
{
	u32 found;

	if (!nr_parts)
		return phys_to_target_node(base);
	found = part_find(base);
	if (found)
		return found;
	return e820__mapped_raw_any(base, base + MIOS_PART_PIECE,
				    E820_TYPE_RAM) ? 0 : -1;
}

/**
 * mios_part_of_cpu - which node or part is a CPU of?
 * @cpu: instance 0's number of it
 */
int mios_part_of_cpu(unsigned int cpu)
{
	return nr_parts ? per_cpu(part_of, cpu) : cpu_to_node(cpu);
}

/**
 * mios_part_numa - to which NUMA node does this kernel add a part's memory?
 * @number: of a node or part, other than instance 0's own
 */
int mios_part_numa(u32 number)
{
	return nr_parts ? part[number].numa : number;
}

/**
 * mios_part_distance - NUMA distance from one node or part to another
 * @from: number of it
 * @to: number of it
 *
 * Return: as firmware has it, also for two parts of one node; 0: not known.
 */
u32 mios_part_distance(u32 from, u32 to)
{
	if (!nr_parts)
		return node_possible(from) && node_possible(to) ?
		       node_distance(from, to) : 0;
	if ((from && !part[from].nr_ranges) || (to && !part[to].nr_ranges))
		return 0;
	return node_distance(from ? part[from].numa : first_online_node,
			     to ? part[to].numa : first_online_node);
}

/**
 * mios_part_show - what a part is, in the words of the parameter
 * @number: of the part; instance 0's has CPUs only
 * @buf: of a file of sysfs
 */
ssize_t mios_part_show(u32 number, char *buf)
{
	const struct part *p = &part[number];
	unsigned int cpu, i;
	cpumask_var_t cpus;
	ssize_t at;

	if (!nr_parts)
		return sysfs_emit(buf, "node\n");
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	for_each_present_cpu(cpu)
		if (per_cpu(part_of, cpu) == number)
			cpumask_set_cpu(cpu, cpus);
	at = sysfs_emit(buf, "%*pbl", cpumask_pr_args(cpus));
	free_cpumask_var(cpus);
	strreplace(buf, ',', '+');
	for (i = 0; i < p->nr_ranges; i++)
		at += sysfs_emit_at(buf, at, "%s%lluM@%#llx", i ? "+" : "/",
				    p->range[i].size >> 20, p->range[i].base);
	return at + sysfs_emit_at(buf, at, "\n");
}
