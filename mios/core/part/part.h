/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each instance has of the machine: a whole NUMA node, or a part of one.
 * On instance 0 only, by the firmware's tables and the command line.  Below
 * link/ and node/, which ask.
 */
#ifndef MIOS_PART_H
#define MIOS_PART_H

#include <linux/types.h>

/* Parts, nodes and pools are made of pieces of so much. */
#define MIOS_PART_PIECE		(2UL << 20)
/* So many ranges may the memory of one have. */
#define MIOS_PART_RANGES	4

void mios_parts_init(void);
bool mios_parts_named(void);
u32 mios_part_own(void);
int mios_part_of_memory(u64 base);
int mios_part_of_cpu(unsigned int cpu);
int mios_part_numa(u32 part);
u32 mios_part_distance(u32 from, u32 to);
ssize_t mios_part_show(u32 part, char *buf);

/* What firmware and command line say of memory. */
bool mios_part_is_ram(u64 base, u64 size, u64 step);
bool mios_part_is_reserved(u64 base);
void mios_parts_offline(void (*see)(u64 base));
const char *mios_part_claim(u32 part);

/* booted.c: what this kernel has booted with. */
struct mios_range;
bool mios_part_is_booted(u64 base);
bool mios_part_is_offline(u64 base);
const char *mios_part_removable(const struct mios_range *r);
const char *mios_part_remove(const struct mios_range *ranges,
			     unsigned int nr_ranges, int nid);

#endif /* MIOS_PART_H */
