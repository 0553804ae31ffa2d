/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of the ring area: what it takes to stop the CPUs of an instance and to
 * start another one there, for whoever is host when instance 0 has died.  Instance 0
 * writes it before it starts the first instance, and it does not change.  Each
 * member keeps a copy, checked, from its join on.
 */
#ifndef _MIOS_NODES_H
#define _MIOS_NODES_H

#include <mios/layout.h>

/*
 * Below 1 MiB each instance has a slice: first for the page that its boot CPU
 * starts from and the tables it starts with, then for its own trampoline,
 * which needs 25,188 bytes on 6.12 with Debian's configuration.  A kernel ignores
 * what lies below 64 KiB.
 */
#define MIOS_SLICE_FIRST	0x10000u
#define MIOS_SLICE_SIZE		0x7000u
#define MIOS_SLICE_LIMIT	0x98000u

/* Manifest, log and notes of an instance, at the beginning of its memory. */
#define MIOS_HEAD_SIZE		(2ul << 20)

/* Memory that a node has in one piece, in units of MIOS_HEAD_SIZE. */
struct mios_area_piece {
	__u32 base;
	__u32 size;
};

#define MIOS_AREA_PIECES	4

/**
 * struct mios_area_node - a node that can have an instance
 * @head:	physical address of its head, a multiple of its size; 0: no node
 * @slice:	physical address of its slice
 * @cpus:	mios_crc32() of its APIC ids, as struct mios_area_cpus has them
 * @pieces:	its memory, the one with the head first; size 0: no more of them
 */
struct mios_area_node {
	__u64 head;
	__u32 slice;
	__u32 cpus;
	struct mios_area_piece pieces[MIOS_AREA_PIECES];
};

static_assert(offsetof(struct mios_area_node, slice) == 8);
static_assert(offsetof(struct mios_area_node, pieces) == 16);
static_assert(sizeof(struct mios_area_node) == 48);

/**
 * struct mios_area_nodes - all of them (instance 0, constant)
 * @checksum:	mios_crc32() of all that follows
 * @epoch:	physical address of the page with the last incarnations; 0: none
 * @of:		by instance
 *
 * All are 0 in the area of another ring than 0, which has no host but instance
 * 0.
 */
struct mios_area_nodes {
	__u32 checksum;
	__u32 epoch;
	struct mios_area_node of[MIOS_AREA_INSTANCES];
};

static_assert(offsetof(struct mios_area_nodes, of) == 8);
static_assert(sizeof(struct mios_area_nodes) == 3080);
static_assert(MIOS_AREA_NODES_AT + sizeof(struct mios_area_nodes) <=
	      MIOS_AREA_BLOCKS_AT);

#endif /* _MIOS_NODES_H */
