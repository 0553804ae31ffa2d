/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which memory belongs to which node, by the firmware's SRAT; all of it to node
 * 0 where there is none.
 */
#ifndef MIOS_SRAT_H
#define MIOS_SRAT_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_RANGES 256

struct memory_range {
	int node;
	uint64_t start, end;	/* end excluded */
};

struct memory_map {
	struct memory_range ranges[MAX_RANGES];
	int nr;
	bool from_srat;		/* firmware names nodes */
};

void srat_read(struct memory_map *map);

#endif /* MIOS_SRAT_H */
