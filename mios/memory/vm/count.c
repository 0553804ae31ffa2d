// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what this instance copies from and to processes of others, for people and
 * tests: /sys/kernel/debug/mios/copies, a name and a number in a line.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "vm.h"

static const char * const names[MIOS_COPY_COUNTS] = {
	[MIOS_COPY_ASKED] = "asked",
	[MIOS_COPY_KEPT] = "kept",
	[MIOS_COPY_STALE] = "stale",
	[MIOS_COPY_BYTES] = "bytes",
};

static DEFINE_PER_CPU(u64[MIOS_COPY_COUNTS], counts);
static struct dentry *file;

void mios_copy_count(enum mios_copy_count which, u64 more)
{
	this_cpu_add(counts[which], more);
}

static int copies_show(struct seq_file *s, void *unused)
{
	u32 i;
	int cpu;

	for (i = 0; i < MIOS_COPY_COUNTS; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu(counts[i], cpu);
		seq_printf(s, "%s %llu\n", names[i], sum);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(copies);

/* In the folder of mios.ko. */
int mios_count_init(void)
{
	struct dentry *dir = debugfs_lookup("mios", NULL);

	file = debugfs_create_file("copies", 0400, dir, NULL, &copies_fops);
	dput(dir);
	return 0;
}

void mios_count_exit(void)
{
	debugfs_remove(file);
}
