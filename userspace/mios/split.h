/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One node cut into parts, for instances of their own: which memory and which
 * CPUs each has.  Arithmetic only; "mios reserve --split" prints what comes out.
 */
#ifndef MIOS_SPLIT_H
#define MIOS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "srat.h"

#define SPLIT_CPUS	8192
/* Each instance needs a slice below 1 MiB; there is room for so many. */
#define SPLIT_MAX	20
/* What a part has at least, with its section of the pool. */
#define SPLIT_MEMORY	(512ULL << 20)
/* mios takes a part's memory in so many ranges. */
#define SPLIT_RANGES	4

/**
 * struct cpu_map - the CPUs of a node
 * @nr:		CPUs are numbered below it
 * @core:	of each the lowest CPU of its core; -1: it is not online
 * @part:	out, of each: the part that has it
 */
struct cpu_map {
	int nr;
	int core[SPLIT_CPUS];
	int part[SPLIT_CPUS];
};

bool split_memory(struct memory_map *map, int parts, uint64_t block, char *why,
		  size_t size);
bool split_cpus(struct cpu_map *cpus, int parts, bool threads, char *why,
		size_t size);
int split_cpu_text(const struct cpu_map *cpus, int part, char *buf,
		   size_t size);

/* reserve.c */
uint64_t block_size(void);

/* reserve_split.c: the same of this machine */
void split_machine(struct memory_map *map, int parts, bool threads,
		   uint64_t block);
bool split_possible(struct memory_map *map, uint64_t block, char *why,
		    size_t size);
void split_print(const struct memory_map *map, int parts);

#endif /* MIOS_SPLIT_H */
