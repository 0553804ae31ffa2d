// SPDX-License-Identifier: GPL-2.0
/*
 * What this instance has done together with others: counted by each CPU for
 * itself, added up at each heartbeat, and written into the own block of every
 * ring, where all members may read it.  No locks; written by the heartbeat's
 * timer alone.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/string.h>

#include "ring.h"

DEFINE_PER_CPU(struct mios_counted, mios_counted);
EXPORT_PER_CPU_SYMBOL_GPL(mios_counted);

/* CPUs that have gone offline keep what they have counted. */
void mios_counted_sum(struct mios_counted *sum)
{
	u32 what;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu)
		for (what = 0; what < MIOS_COUNTS; what++)
			sum->of[what] += READ_ONCE(per_cpu(mios_counted, cpu).of[what]);
}

void mios_counted_write(struct mios_ring *ring, const struct mios_counted *sum)
{
	mios_seq_write((u32 *)&ring->lines->counted, (const u32 *)sum, sizeof(*sum));
}

/* Of the member whose @lines these are; false: they are being written, or were at its death. */
bool mios_counted_read(const struct mios_lines *lines, u64 of[MIOS_COUNTS])
{
	struct mios_counted counted;

	if (mios_seq_read((u32 *)&counted, (const u32 *)&lines->counted,
			  sizeof(counted)))
		return false;
	memcpy(of, counted.of, sizeof(counted.of));
	return true;
}
