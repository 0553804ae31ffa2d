// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a dead instance, kept from its next use until somebody has
 * read it: whether and for how long, and the file that it is read through.
 * The reaper asks, between the fence and the return of the node; /dev/mios
 * opens.  What is read is the dead kernel's: nothing here looks at it, but for
 * the notes, from which only sizes that are our own are taken.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/umh.h>

#include "../../inject/inject.h"
#include "end.h"

#define PIECE		SZ_1M			/* read at once */
#define HOLD_MAX	(7 * 24 * 3600U)	/* seconds */
#define DISCARD_MS	(60 * MSEC_PER_SEC)

static_assert(MIOS_DUMP_RANGES == MIOS_NODE_RANGES);
static_assert(MIOS_DUMP_REGS == MIOS_NOTE_REGS);
static_assert(MIOS_DUMP_COMM == MIOS_NOTE_COMM);
static_assert(sizeof(struct mios_dump_cpu) == 256);

enum dump_policy { DUMP_NEVER, DUMP_ASK, DUMP_ALWAYS };

static const char * const policy_names[] = { "never", "ask", "always" };
static struct mios_choice dump_policy = {
	policy_names, ARRAY_SIZE(policy_names), DUMP_NEVER
};

static unsigned int dump_hold = 600;
module_param(dump_hold, uint, 0644);
MODULE_PARM_DESC(dump_hold, "seconds without a read after which a held node is given back (default 600, 0: never)");

MIOS_INJECT_SWITCH(dump_early,
		   "use a node's memory again before it has been dumped");

module_param_cb(dump_policy, &mios_choice_ops, &dump_policy, 0644);
MODULE_PARM_DESC(dump_policy, "whether the memory of an instance that crashed is kept for a dump: never, ask (until mios dump), or always (and it is started)");

/* The time runs from the last sign that somebody wants it. */
static void hold_extend(struct mios_node *node)
{
	unsigned int limit = min(READ_ONCE(dump_hold), HOLD_MAX);

	node->held_until = limit ? (jiffies + limit * HZ) ?: 1 : 0;
}

/**
 * mios_node_hold - keep the memory of an instance that has crashed
 * @node: locked, dead, fenced
 *
 * Its CPUs hold nothing that is dumped and go back at once.
 *
 * Return: is it held?  Then mios_node_dump_ask() is to be called, unlocked.
 */
bool mios_node_hold(struct mios_node *node)
{
	if (READ_ONCE(dump_policy.value) == DUMP_NEVER || node->unwanted ||
	    node->kept ||
	    (!node->crashed && node->last_words != MIOS_CHILD_PANICKED))
		return false;
	hold_extend(node);
	mios_cpus_return(node);
	if (inject_dump_early)
		mios_memory_lend(node);
	mios_node_state(node, MIOS_STATE_HELD);
	pr_info("instance %u: its memory is held for a dump\n", node->id);
	return true;
}

/**
 * mios_node_dump_ask - start the command that dumps a held node, if any
 * @node: not locked
 */
void mios_node_dump_ask(struct mios_node *node)
{
	if (READ_ONCE(dump_policy.value) != DUMP_ALWAYS ||
	    !mios_command_start("dump", node->id, "--auto"))
		return;
	mutex_lock(&node->lock);
	if (state_of(node) == MIOS_STATE_HELD && !node->dumper)
		mios_node_unhold(node);
	mutex_unlock(&node->lock);
}

/**
 * mios_node_hold_check - has a node been held for too long?
 * @node: locked, held
 */
void mios_node_hold_check(struct mios_node *node)
{
	if (node->unwanted || !node->held_until ||
	    time_before(jiffies, node->held_until))
		return;
	pr_warn("instance %u: nobody has read its memory for too long; it goes back\n",
		node->id);
	mios_node_unhold(node);
}

/**
 * mios_node_discard - give a held node back
 * @node: locked, held
 * @why: explains a failure
 *
 * Return: 0, and it will be down soon; -EBUSY while it is being read.
 */
int mios_node_discard(struct mios_node *node, struct mios_reason *why)
{
	if (node->dumper) {
		mios_reason_set(why, "instance %u is just being dumped",
				node->id);
		return -EBUSY;
	}
	mios_node_unhold(node);
	return 0;
}

/* The node of @instance, locked, if it is held. */
static struct mios_node *held_node(u32 instance, struct mios_reason *why,
				   int *err)
{
	struct mios_node *node = mios_node_find_locked(instance, why, err);

	if (!node)
		return NULL;
	if (state_of(node) == MIOS_STATE_HELD && !node->unwanted)
		return node;
	mios_reason_set(why, state_of(node) == MIOS_STATE_DOWN ?
			"instance %u is down and its memory in use again (dump_policy is '%s')" :
			"instance %u has not ended",
			instance, mios_choice_name(&dump_policy));
	mutex_unlock(&node->lock);
	*err = -ESRCH;
	return NULL;
}

/**
 * mios_node_dump_discard - give a held node back, and wait for that
 * @instance: which
 * @why: explains a failure
 */
int mios_node_dump_discard(u32 instance, struct mios_reason *why)
{
	struct mios_node *node;
	long left;
	int err;

	node = held_node(instance, why, &err);
	if (!node)
		return err;
	err = mios_node_discard(node, why);
	mutex_unlock(&node->lock);
	if (err)
		return err;
	left = mios_node_settle(node, DISCARD_MS);
	return left > 0 ? 0 : (int)left ?: -ETIMEDOUT;
}

/**
 * struct dump_file - an open file
 * @node:	what it reads
 * @incarnation: of the instance that died
 * @last:	the node is to go back when this is closed
 * @piece:	for one read
 */
struct dump_file {
	struct mios_node *node;
	u32 incarnation;
	bool last;
	void *piece;
};

/* How much of @count bytes at @at is memory of the node, in one range. */
static size_t inside(const struct mios_node *node, u64 at, size_t count)
{
	unsigned int i;

	for (i = 0; i < node->nr_ranges; i++) {
		const struct mios_range *r = &node->ranges[i];

		if (at >= r->base && at - r->base < r->size)
			return min_t(u64, count, r->size - (at - r->base));
	}
	return 0;
}

static ssize_t piece_read(void *to, u64 at, size_t count)
{
	u64 page = ALIGN_DOWN(at, PAGE_SIZE);
	void *map = memremap(page, PAGE_ALIGN(at + count) - page, MEMREMAP_WB);
	unsigned long bad;

	if (!map)
		return -ENOMEM;
	/* It may have died of memory that has gone bad. */
	bad = copy_mc_to_kernel(to, map + (at - page), count);
	memset(to + count - bad, 0, bad);
	memunmap(map);
	return count;
}

/* Through a buffer: the lock is not held while user memory is touched. */
static ssize_t dump_read(struct file *file, char __user *buf, size_t count,
			 loff_t *pos)
{
	struct dump_file *dump = file->private_data;
	struct mios_node *node = dump->node;
	ssize_t got = -ESTALE;

	if (mutex_lock_interruptible(&node->lock))
		return -EINTR;
	if (state_of(node) == MIOS_STATE_HELD && !node->unwanted &&
	    incarnation_of(node) == dump->incarnation && node->dumper == dump) {
		count = inside(node, *pos, min_t(size_t, count, PIECE));
		got = count ? piece_read(dump->piece, *pos, count) : 0;
		hold_extend(node);
	}
	mutex_unlock(&node->lock);
	if (got > 0 && copy_to_user(buf, dump->piece, got))
		return -EFAULT;
	if (got > 0)
		*pos += got;
	return got;
}

static int dump_release(struct inode *inode, struct file *file)
{
	struct dump_file *dump = file->private_data;
	struct mios_node *node = dump->node;

	mutex_lock(&node->lock);
	if (node->dumper == dump) {
		node->dumper = NULL;
		hold_extend(node);
		if (dump->last && state_of(node) == MIOS_STATE_HELD)
			mios_node_unhold(node);
	}
	mutex_unlock(&node->lock);
	kvfree(dump->piece);
	kfree(dump);
	return 0;
}

static const struct file_operations dump_fops = {
	.owner		= THIS_MODULE,
	.read		= dump_read,
	.llseek		= noop_llseek,
	.release	= dump_release,
};

static struct file *file_make(struct mios_node *node, bool last)
{
	struct dump_file *dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	struct file *file = ERR_PTR(-ENOMEM);

	if (!dump)
		return file;
	dump->piece = kvmalloc(PIECE, GFP_KERNEL);
	if (!dump->piece)
		goto out;
	dump->node = node;
	dump->incarnation = incarnation_of(node);
	dump->last = last;
	file = anon_inode_getfile("[mios-dump]", &dump_fops, dump, O_RDONLY);
	if (IS_ERR(file))
		goto out;
	file->f_mode |= FMODE_PREAD;
	node->dumper = dump;
	return file;
out:
	kvfree(dump->piece);
	kfree(dump);
	return file;
}

static void cpu_describe(const struct mios_node *node, unsigned int i,
			 struct mios_notes *notes, struct mios_dump_cpu *cpu)
{
	const struct mios_cpu_note *note = &notes->cpu[i];

	/* All CPUs have stopped: nothing of this changes any more. */
	if (note->taken != incarnation_of(node))
		return;
	cpu->flags = MIOS_CPU_SAVED;
	if (notes->panicked == i + 1)
		cpu->flags |= MIOS_CPU_PANICKED;
	cpu->pid = note->pid;
	cpu->cr3 = note->cr3;
	memcpy(cpu->comm, note->comm, sizeof(cpu->comm));
	memcpy(cpu->regs, note->regs, sizeof(cpu->regs));
}

static void describe(struct mios_node *node, struct mios_dump *dump,
		     struct mios_dump_cpu *cpus)
{
	struct mios_notes *notes = mios_node_notes(node);
	unsigned int i;

	dump->incarnation = incarnation_of(node);
	dump->nr_cpus = node->nr_cpus;
	dump->nr_ranges = node->nr_ranges;
	memset(dump->ranges, 0, sizeof(dump->ranges));
	for (i = 0; i < node->nr_ranges; i++) {
		dump->ranges[i].base = node->ranges[i].base;
		dump->ranges[i].size = node->ranges[i].size;
	}
	dump->page_offset = notes ? notes->page_offset : 0;
	dump->vmcoreinfo = notes ? notes->vmcoreinfo : 0;
	dump->vmcoreinfo_size = notes ? notes->vmcoreinfo_size : 0;
	for (i = 0; i < node->nr_cpus; i++) {
		cpus[i].apicid = node->apicid[i];
		if (notes)
			cpu_describe(node, i, notes, &cpus[i]);
	}
}

/**
 * mios_node_dump_open - the file to read a held node's memory from
 * @dump: what is wanted; the answers are filled in, but @fd
 * @cpus: MIOS_MAX_CPUS of them, zeroed; filled in
 * @why: explains a failure
 */
struct file *mios_node_dump_open(struct mios_dump *dump,
				 struct mios_dump_cpu *cpus,
				 struct mios_reason *why)
{
	struct mios_node *node;
	struct file *file;
	int err;

	node = held_node(dump->instance, why, &err);
	if (!node)
		return ERR_PTR(err);
	if (node->dumper) {
		mios_reason_set(why, "instance %u is just being dumped",
				node->id);
		file = ERR_PTR(-EBUSY);
	} else {
		file = file_make(node, dump->flags & MIOS_DUMP_LAST);
	}
	if (!IS_ERR(file)) {
		describe(node, dump, cpus);
		hold_extend(node);
	}
	mutex_unlock(&node->lock);
	return file;
}
