// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only (MIOS_INJECT=1): what an instance shares with instance 0 in
 * the head of its node's memory, to look at and to overwrite.
 *   mios-heads/N	read: manifest, log and notes, while node N has an
 *			instance; write "notes ROUNDS SEED", "log ROUNDS SEED"
 *			or "manifest ROUNDS SEED"
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "../channel/garbage.h"
#include "node.h"
#include "heads.h"

static struct dentry *dir;

static ssize_t head_read(struct file *file, char __user *buf, size_t size,
			 loff_t *pos)
{
	struct mios_node *node = file_inode(file)->i_private;
	ssize_t got = 0;

	mutex_lock(&node->lock);
	if (node->head)
		got = simple_read_from_buffer(buf, size, pos, node->head,
					      MIOS_HEAD_END);
	mutex_unlock(&node->lock);
	return got;
}

/*
 * Not the size of the log: its writer, which is the instance itself, goes by
 * it, and would write wherever that leads.  Of the text a page at a time, or
 * 10^6 rounds would take hours.
 */
static void log_overwrite(struct mios_log *log, u64 *seed)
{
	u32 page = mios_garbage_random(seed) % (MIOS_LOG_SIZE / PAGE_SIZE);

	mios_garbage_write(&log->magic, sizeof(log->magic), seed);
	WRITE_ONCE(log->head, mios_garbage_random(seed));
	mios_garbage_write(log->text + page * PAGE_SIZE, PAGE_SIZE, seed);
}

static bool overwrite(struct mios_node *node, const char *what, u64 *seed)
{
	if (!strcmp(what, "notes"))
		mios_garbage_write(node->head + MIOS_NOTES_OFFSET,
				   sizeof(struct mios_notes) + node->nr_cpus *
				   sizeof(struct mios_cpu_note), seed);
	else if (!strcmp(what, "log"))
		log_overwrite(mios_node_log(node), seed);
	else if (!strcmp(what, "manifest"))
		mios_garbage_write(mios_node_manifest(node), PAGE_SIZE, seed);
	else
		return false;
	return true;
}

static ssize_t head_write(struct file *file, const char __user *buf,
			  size_t size, loff_t *pos)
{
	struct mios_node *node = file_inode(file)->i_private;
	char line[64] = {}, what[16];
	u32 rounds, start, i;
	bool done = true;
	u64 seed;

	if (size >= sizeof(line) || copy_from_user(line, buf, size))
		return -EINVAL;
	if (sscanf(line, "%15s %u %u", what, &rounds, &start) != 3)
		return -EINVAL;
	seed = start;
	for (i = 0; i < rounds && done && !signal_pending(current); i++) {
		mutex_lock(&node->lock);
		done = node->head && overwrite(node, what, &seed);
		mutex_unlock(&node->lock);
		cond_resched();
	}
	return done ? size : -EINVAL;
}

static const struct file_operations head_fops = {
	.owner = THIS_MODULE,
	.read = head_read,
	.write = head_write,
	.llseek = default_llseek,
};

void mios_heads_init(void)
{
	char name[16];
	u32 i;

	dir = debugfs_create_dir("mios-heads", NULL);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++) {
		if (!mios_node_get(i))
			continue;
		snprintf(name, sizeof(name), "%u", i);
		debugfs_create_file(name, 0600, dir, mios_node_get(i),
				    &head_fops);
	}
}

void mios_heads_exit(void)
{
	debugfs_remove(dir);
}
