// SPDX-License-Identifier: GPL-2.0
/*
 * A node's memory, to instance 0 and back.  While the node has no instance of
 * its own, instance 0 uses its memory as driver-managed, movable memory; a
 * boot takes all of it back, and what lived there migrates.  Called under the
 * node's lock.
 */
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/ioport.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "../../inject/inject.h"
#include "../part/part.h"
#include "node.h"

/*
 * The name of the resource.  Allocated once and never freed, for memory may
 * stay lent when the module is unloaded.
 */
static const char *lent_name;

#define TAKE_MAX	3600U

static unsigned int take_timeout = 15;
module_param(take_timeout, uint, 0644);
MODULE_PARM_DESC(take_timeout,
		 "seconds that migrating a node's live data may take (default 15)");

MIOS_INJECT_TIMES(leak_page, "lose a page whenever a node's memory is lent");
MIOS_INJECT_SWITCH(by_policy,
		   "leave lent memory where the system's policy has put it");

static unsigned int take_seconds(void)
{
	return min(READ_ONCE(take_timeout), TAKE_MAX);
}

/* Only whole memory blocks can be lent; the rest waits for an instance. */
static struct mios_range lendable(const struct mios_range *range)
{
	u64 block = memory_block_size_bytes();
	struct mios_range r = { .base = ALIGN(range->base, block) };
	u64 end = ALIGN_DOWN(range->base + range->size, block);

	r.size = end > r.base ? end - r.base : 0;
	return r;
}

static int add_size(struct resource *res, void *sum)
{
	*(u64 *)sum += resource_size(res);
	return 0;
}

/*
 * How much of it is instance 0's memory now?  Asked of the kernel: an earlier
 * life of this module may have lent it, by other parts or pools.
 */
static u64 in_use(u64 base, u64 size)
{
	u64 sum = 0;

	if (size)
		walk_iomem_res_desc(IORES_DESC_NONE,
				    IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY,
				    base, base + size - 1, &sum, add_size);
	return sum;
}

/* Is somebody about to lend this, and does somebody else online it? */
static bool untimely(const struct mios_node *node, u64 address)
{
	const struct task_struct *lender = READ_ONCE(node->lender);
	unsigned int i;

	if (!lender || lender == current)
		return false;
	for (i = 0; i < node->nr_ranges; i++)
		if (address - node->ranges[i].base < node->ranges[i].size)
			return true;
	return false;
}

/* As soon as it is there, a rule of udev's may online it, and otherwise. */
static int guard_online(struct notifier_block *nb, unsigned long action,
			void *data)
{
	const struct memory_notify *notify = data;
	unsigned int i;

	if (action != MEM_GOING_ONLINE || inject_by_policy)
		return NOTIFY_OK;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (mios_node_get(i) &&
		    untimely(mios_node_get(i), PFN_PHYS(notify->start_pfn)))
			return NOTIFY_BAD;
	return NOTIFY_OK;
}

static struct notifier_block online_nb = { .notifier_call = guard_online };

/**
 * mios_memory_init - from now on lent memory is onlined by us alone
 */
int mios_memory_init(void)
{
	return register_memory_notifier(&online_nb);
}

/**
 * mios_memory_exit - undo it; nothing is being lent any more
 */
void mios_memory_exit(void)
{
	unregister_memory_notifier(&online_nb);
}

/* Kernel data in it would keep it from ever coming back. */
static int lent_check(const struct mios_range *r, bool fresh)
{
	u64 at;

	for (at = r->base; !inject_by_policy && at < r->base + r->size;
	     at += memory_block_size_bytes()) {
		struct page *page = pfn_to_online_page(PHYS_PFN(at));

		if (page && page_zonenum(page) != ZONE_MOVABLE)
			return -EBUSY;
		/* Somebody may have taken out of use what was lent before. */
		if (!page && fresh)
			return -ENOMEM;
	}
	return 0;
}

static int add(const struct mios_node *node, u64 base, u64 size)
{
	int nid = mios_part_numa(node->id);

	return inject_by_policy ?
		add_memory_driver_managed(nid, base, size, lent_name,
					  MHP_NONE) :
		__add_memory_driver_managed(nid, base, size, lent_name,
					    MHP_NONE, MMOP_ONLINE_MOVABLE);
}

/* What is not lent yet, where some of it is. */
static int add_blocks(const struct mios_node *node, const struct mios_range *r)
{
	u64 at, block = memory_block_size_bytes();
	int err = 0;

	for (at = r->base; at < r->base + r->size && !err; at += block)
		if (!in_use(at, block))
			err = add(node, at, block);
	return err;
}

static int range_lend(struct mios_node *node, unsigned int index)
{
	const struct mios_range r = lendable(&node->ranges[index]);
	u64 before = in_use(r.base, r.size);
	int err = 0;

	if (!r.size)
		return 0;
	if (before < r.size) {
		WRITE_ONCE(node->lender, current);
		err = before ? add_blocks(node, &r) : add(node, r.base, r.size);
		WRITE_ONCE(node->lender, NULL);
	}
	if (!err)
		err = lent_check(&r, !before);
	if (err)
		pr_err("node %u: cannot lend %#llx bytes at %#llx: %d\n",
		       node->id, r.size, r.base, err);
	return err;
}

/**
 * mios_memory_lend - let instance 0 use a node's memory
 * @node: node without an instance
 *
 * Return: 0 or -errno; what could be lent by then stays lent.
 */
int mios_memory_lend(struct mios_node *node)
{
	unsigned int i;
	int err = 0;

	if (!lent_name)
		lent_name = kstrdup("System RAM (mios)", GFP_KERNEL);
	if (!lent_name)
		return -ENOMEM;
	if (mios_inject(leak_page))
		kmalloc(PAGE_SIZE, GFP_KERNEL);
	for (i = 0; i < node->nr_ranges && !err; i++)
		err = range_lend(node, i);
	return err;
}

/* One at a time: each holds the lock of all hotplug for its whole migration. */
static DEFINE_MUTEX(take_lock);

struct take_job {
	struct mios_node *node;
	int err;
	struct completion done;
};

static int one_piece(struct resource *res, void *piece)
{
	*(struct mios_range *)piece = (struct mios_range){
		.base = res->start, .size = resource_size(res),
	};
	return 1;
}

/* What was lent in one go: only such can be given back in one. */
static bool next_lent(const struct mios_range *r, struct mios_range *piece)
{
	return r->size &&
	       walk_iomem_res_desc(IORES_DESC_NONE,
				   IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY,
				   r->base, r->base + r->size - 1, piece,
				   one_piece) == 1;
}

/*
 * Its own task, because offlining tries for ever and gives up only when a
 * signal is pending; a signal to the caller would hit what else it does.
 */
static int take_thread(void *data)
{
	struct take_job *job = data;
	struct mios_node *node = job->node;
	unsigned int i;

	allow_signal(SIGKILL);
	for (i = 0; i < node->nr_ranges && !job->err; i++) {
		const struct mios_range r = lendable(&node->ranges[i]);
		struct mios_range piece;

		while (!job->err && next_lent(&r, &piece))
			job->err = offline_and_remove_memory(piece.base,
							     piece.size);
	}
	complete(&job->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

/* References to a folio on which we have one that nobody can account for. */
static int folio_extra_references(struct folio *folio)
{
	int expected = 1 + folio_mapcount(folio);

	if (folio_test_swapcache(folio) ||
	    (!folio_test_anon(folio) && folio->mapping))
		expected += folio_nr_pages(folio);
	if (folio_test_private(folio))
		expected++;
	return folio_ref_count(folio) - expected;
}

/* What stood in the way: the first page somebody holds a reference to. */
static unsigned long find_pinned(const struct mios_node *node, int *refs)
{
	unsigned int i;
	bool found;

	for (i = 0; i < node->nr_ranges; i++) {
		struct mios_range r = lendable(&node->ranges[i]);
		unsigned long pfn = PHYS_PFN(r.base);
		unsigned long end = PHYS_PFN(r.base + r.size);

		for (; pfn < end; pfn++) {
			struct page *page = pfn_to_online_page(pfn);
			struct folio *folio;

			if (!(pfn % SZ_4K))
				cond_resched();
			if (!page || !page_count(page))
				continue;
			folio = page_folio(page);
			if (!folio_try_get(folio))
				continue;
			*refs = folio_extra_references(folio);
			found = folio_test_lru(folio) && *refs > 0;
			folio_put(folio);
			if (found)
				return pfn;
		}
	}
	return 0;
}

/* What has to move out of a node's memory, and the room for it elsewhere. */
struct balance {
	unsigned long data, room;	/* pages */
};

/* Of a whole node the kernel counts.  Returns what is free or can be read again. */
static unsigned long weigh_node(const struct mios_node *node,
				unsigned long *data)
{
	struct pglist_data *pgdat = NODE_DATA(node->id);
	unsigned long here = 0;
	int i;

	for (i = LRU_INACTIVE_ANON; i < NR_LRU_LISTS; i++) {
		long pages = atomic_long_read(&pgdat->vm_stat[NR_LRU_BASE + i]);

		/* Files can be read again. */
		if (is_file_lru(i))
			here += max(pages, 0L);
		else
			*data += max(pages, 0L);
	}
	for (i = 0; i < MAX_NR_ZONES; i++)
		here += zone_page_state(&pgdat->node_zones[i], NR_FREE_PAGES);
	return here;
}

/* The same of a part, page by page: what the kernel counts is of others, too. */
static unsigned long weigh_part(const struct mios_node *node,
				unsigned long *data)
{
	unsigned long here = 0, pfn, end;
	unsigned int i;

	for (i = 0; i < node->nr_ranges; i++) {
		struct mios_range r = lendable(&node->ranges[i]);

		end = PHYS_PFN(r.base + r.size);
		for (pfn = PHYS_PFN(r.base); pfn < end; pfn++) {
			struct page *page = pfn_to_online_page(pfn);

			if (!(pfn % SZ_4K))
				cond_resched();
			if (!page)
				continue;
			if (!page_count(page))
				here++;
			else if (!PageLRU(page))
				continue;
			else if (folio_test_swapbacked(page_folio(page)))
				++*data;
			else
				here++;
		}
	}
	return here;
}

static struct balance weigh(const struct mios_node *node)
{
	struct balance b = {};
	long here = mios_parts_named() ? weigh_part(node, &b.data) :
		    weigh_node(node, &b.data);

	b.room = max(si_mem_available() - here, 0L) + get_nr_swap_pages();
	return b;
}

static void explain(struct mios_node *node, const struct balance *b, int err,
		    struct mios_reason *why)
{
	int refs = 0;
	unsigned long pfn;

	if (b->data > b->room) {
		mios_reason_set(why,
				"node %u: %lu MiB of data live in its memory, and instance 0 has room for %lu MiB elsewhere; end some programs first",
				node->id, b->data >> (20 - PAGE_SHIFT),
				b->room >> (20 - PAGE_SHIFT));
		return;
	}
	pfn = find_pinned(node, &refs);
	why->frame = pfn;
	if (pfn)
		mios_reason_set(why,
				"node %u: page frame %#lx is pinned (%d references beyond its own) and cannot move",
				node->id, pfn, refs);
	else if (err == -ETIME)
		mios_reason_set(why,
				"node %u: its memory could not be emptied within %u s; try again, or allow more (take_timeout of the module mios)",
				node->id, take_seconds());
	else
		mios_reason_set(why,
				"node %u: its memory cannot be taken back now (error %d); try again",
				node->id, -err);
}

/*
 * Blocks that lie in a node by half, or not all of them: lent by another cut
 * into parts.  To boot there would be to boot into memory of this kernel.
 */
static int cut_anew(const struct mios_node *node, struct mios_reason *why)
{
	unsigned int i;

	for (i = 0; i < node->nr_ranges; i++) {
		const struct mios_range *all = &node->ranges[i];
		struct mios_range r = lendable(all);
		u64 used = in_use(all->base, all->size);

		if (!used || (used == r.size &&
			      in_use(r.base, r.size) == r.size))
			continue;
		mios_reason_set(why,
				"node %u: instance 0 uses memory of it that goes back with that of others only, as parts were cut in another way: boot instance 0 again",
				node->id);
		return -EBUSY;
	}
	return 0;
}

/**
 * mios_memory_take - take all of a node's memory back from instance 0
 * @node: node to boot
 * @why: explains a failure
 *
 * Live data migrates to other nodes.
 *
 * Return: 0; -EBUSY if a page could not be moved in time, or the caller was
 * killed, with everything lent again, or if parts have been cut anew; -ENOMEM
 * if instance 0 has no room for what lives there; -EINTR if the caller was
 * killed before.
 */
int mios_memory_take(struct mios_node *node, struct mios_reason *why)
{
	struct take_job job = { .node = node };
	struct task_struct *task;
	struct balance before;
	long left;

	if (cut_anew(node, why))
		return -EBUSY;
	init_completion(&job.done);
	if (mutex_lock_killable(&take_lock))
		return -EINTR;
	/* Else all memory is full before it fails, and programs are killed. */
	before = weigh(node);
	if (before.data > before.room) {
		mutex_unlock(&take_lock);
		explain(node, &before, -ENOMEM, why);
		return -ENOMEM;
	}
	task = kthread_run(take_thread, &job, "mios-take/%u", node->id);
	if (IS_ERR(task)) {
		mutex_unlock(&take_lock);
		return PTR_ERR(task);
	}
	get_task_struct(task);

	left = wait_for_completion_killable_timeout(&job.done,
						    take_seconds() * HZ);
	if (left <= 0) {
		/* More than once: it may not take signals yet. */
		do
			send_sig(SIGKILL, task, 1);
		while (!wait_for_completion_timeout(&job.done, HZ / 10));
		if (job.err)
			job.err = left ? -EBUSY : -ETIME;
	}
	kthread_stop(task);
	put_task_struct(task);
	mutex_unlock(&take_lock);

	if (job.err) {
		explain(node, &before, job.err, why);
		mios_memory_lend(node);
		return job.err == -ENOMEM ? -ENOMEM : -EBUSY;
	}
	return 0;
}
