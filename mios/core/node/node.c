// SPDX-License-Identifier: GPL-2.0
/*
 * Which nodes of the machine, or parts of nodes, can have an instance: those,
 * other than the boot CPU's, whose memory the operator has reserved on instance
 * 0's command line (memmap=SIZE$BASE).  Found once when the module is loaded;
 * the list never changes, so reading it takes no lock.  On another instance
 * there is none before it may become host (mios/core/watch/successor.c).
 */
#include <linux/cpu.h>
#include <linux/ioport.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/apic.h>
#include <asm/smp.h>

#include "../part/part.h"
#include "../proc/log.h"
#include "node.h"

#define CHUNK	MIOS_PART_PIECE

static struct mios_node *nodes[MIOS_MAX_INSTANCES];

/**
 * mios_node_get - the node of an instance
 * @instance: its number
 *
 * Return: the node; NULL where there is none that can have an instance.
 */
struct mios_node *mios_node_get(u32 instance)
{
	return instance < MIOS_MAX_INSTANCES ? nodes[instance] : NULL;
}

/**
 * mios_node_add - the node of this number, made if need be
 * @id: its number
 *
 * Return: the node; NULL where there can be none, or no memory for it.
 */
struct mios_node *mios_node_add(int id)
{
	struct mios_node *node;

	if (id <= 0 || id >= MIOS_MAX_INSTANCES)
		return NULL;
	if (nodes[id])
		return nodes[id];
	node = vzalloc(sizeof(*node));
	if (!node)
		return NULL;
	node->id = id;
	mutex_init(&node->lock);
	nodes[id] = node;
	return node;
}

static void node_add_chunk(u64 base)
{
	struct mios_node *node = mios_node_add(mios_part_of_memory(base));
	struct mios_range *last;

	if (!node)
		return;
	last = node->nr_ranges ? &node->ranges[node->nr_ranges - 1] : NULL;
	if (!last || last->base + last->size != base) {
		if (node->nr_ranges == MIOS_NODE_RANGES) {
			pr_warn_once("node %u: of its memory only %u ranges can be used\n",
				     node->id, MIOS_NODE_RANGES);
			return;
		}
		last = &node->ranges[node->nr_ranges++];
		last->base = base;
		last->size = 0;
	}
	last->size += CHUNK;
	node->size += CHUNK;
}

static int resource_scan(struct resource *res, void *unused)
{
	u64 base;

	for (base = ALIGN(res->start, CHUNK); base + CHUNK <= res->end + 1;
	     base += CHUNK)
		if (mios_part_is_reserved(base) && !mios_node_is_pool(base))
			node_add_chunk(base);
	return 0;
}

static void offline_scan(u64 base)
{
	if (!mios_node_is_pool(base))
		node_add_chunk(base);
}

static int range_larger_first(const void *a, const void *b)
{
	const struct mios_range *x = a, *y = b;

	return x->size < y->size ? 1 : -1;
}

/* Do instance 0's CPUs come up through that range? */
static bool hits_trampoline(u64 base, u64 size)
{
	struct mios_host self;

	mios_host_describe(&self);
	return base < self.trampoline + self.trampoline_size &&
	       self.trampoline < base + size;
}

/* Below 1 MiB, for good: in the same order each time, whoever asks; 0: none. */
static u64 low_take(u64 size)
{
	static u64 next = MIOS_SLICE_FIRST;

	while (next + size <= MIOS_SLICE_LIMIT) {
		u64 base = next;

		next += size;
		if (!hits_trampoline(base, size) &&
		    mios_part_is_ram(base, size, PAGE_SIZE))
			return base;
	}
	return 0;
}

/* What keeps a node from having an instance, or NULL. */
static const char *node_complete(struct mios_node *node)
{
	unsigned int cpu;

	for_each_present_cpu(cpu) {
		if (mios_part_of_cpu(cpu) != node->id)
			continue;
		/* nosmt, maxcpus= or an operator has taken it out of use. */
		if (!cpu_online(cpu))
			continue;
		if (!cpu)	/* INIT takes it to the reset vector */
			return "it has the machine's boot CPU";
		if (node->nr_cpus == MIOS_MAX_CPUS)
			return "it has more than " __stringify(MIOS_MAX_CPUS)
			       " CPUs";
		cpumask_set_cpu(cpu, &node->cpus);
		node->apicid[node->nr_cpus++] = per_cpu(x86_cpu_to_apicid, cpu);
	}
	sort(node->ranges, node->nr_ranges, sizeof(node->ranges[0]),
	     range_larger_first, NULL);
	if (!node->nr_cpus)
		return "it has no CPU online";
	if (node->ranges[0].size <= 2 * MIOS_HEAD_SIZE)
		return "too little of its memory is set aside";
	node->slice = low_take(MIOS_SLICE_SIZE);
	return node->slice ? NULL : "there is no room below 1 MiB";
}

/**
 * mios_nodes_init - find the nodes; instance 0 alone is a machine too
 */
void mios_nodes_init(void)
{
	unsigned int i;

	mios_epoch_init(low_take(MIOS_EPOCH_SIZE));
	mios_parts_init();
	mios_pools_init();
	walk_iomem_res_desc(IORES_DESC_RESERVED, IORESOURCE_MEM, SZ_1M, -1,
			    NULL, resource_scan);
	mios_parts_offline(offline_scan);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		struct mios_node *node = nodes[i];
		const char *why;

		if (!node)
			continue;
		why = node_complete(node) ?: mios_part_claim(i);
		if (why) {
			pr_warn("node %u is left alone: %s\n", i, why);
			vfree(node);
			nodes[i] = NULL;
			continue;
		}
		pr_info("node %u: %u CPUs, %llu MiB at %#llx\n", i,
			node->nr_cpus, node->size >> 20, mios_node_base(node));
	}
}

/**
 * mios_nodes_end - all instances that there can be have a lower number
 */
u32 mios_nodes_end(void)
{
	u32 end = MIOS_MAX_INSTANCES;

	while (end > 1 && !nodes[end - 1])
		end--;
	return end;
}

/**
 * mios_nodes_exit - forget the nodes; none has an instance any more
 */
void mios_nodes_exit(void)
{
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (nodes[i] && nodes[i]->log)
			mios_log_drop(nodes[i]->log);
		vfree(nodes[i]);
		nodes[i] = NULL;
	}
	mios_epoch_exit();
}
