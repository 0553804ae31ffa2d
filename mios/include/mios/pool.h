/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool: the memory that every instance may allocate from.  It belongs to the
 * nodes, not to a boot of them: what is written here outlives the kernels that
 * wrote it.  A pool is one or more sections, each a piece of the physical
 * memory of one node that begins with what is known of its pages:
 *
 *   section | pool     | extent records | page records   | pages ...
 *   header  | header   | 16 bytes each  | 16 bytes each  |
 *   1 page  | 1 page   | whole pages    | 512 an extent  |
 *
 * The pool's header counts in its first section only.  Records also exist for
 * the pages that all this lies in; they say MIOS_PAGE_META.
 *
 * No address that is found here is ever followed: a place is computed from
 * where the section was found and from checked numbers.  Any instance may
 * write a record, with compare-and-exchange of its word only; docs/memory.md
 * says who may do what, and mios/memory/pool/ why the order is right.
 */
#ifndef _MIOS_POOL_LAYOUT_H
#define _MIOS_POOL_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define MIOS_POOL_MAGIC		0x4c4f4f50534f494dULL	/* "MIOSPOOL" */
#define MIOS_SECTION_MAGIC	0x54434553534f494dULL	/* "MIOSSECT" */
#define MIOS_POOL_VERSION	3

#define MIOS_POOL_PAGE		4096u
#define MIOS_EXTENT_PAGES	512u
#define MIOS_EXTENT_SIZE	(2u << 20)
#define MIOS_POOL_SECTIONS	64u
#define MIOS_SECTION_EXTENTS	65536u		/* 128 GiB */
#define MIOS_POOL_INSTANCES	64u	/* = MIOS_AREA_INSTANCES */

/* What a page, or an extent, is. */
enum mios_page_state {
	MIOS_PAGE_FREE = 0,
	MIOS_PAGE_HELD,		/* its owner's alone; free when that is dead */
	MIOS_PAGE_KEPT,		/* part of an object, which outlives the owner */
	MIOS_PAGE_TAKEN,	/* its owner's, who takes it out of the object */
	MIOS_PAGE_META,		/* the pool's own, for good */
	MIOS_EXTENT_LEASED,	/* extents only: its owner allocates in it */
	MIOS_EXTENT_FULL,	/* extents only: no page in it is free */
	MIOS_PAGE_STATES
};

/*
 * The word of a record, from its lowest bit: state, owner, epoch, generation.
 * Owner and epoch are those of who allocated or leased it last.  The
 * generation is raised whenever the page changes hands, so that no word comes
 * back while anybody can still remember it (it wraps after 2^30 times).
 */
#define MIOS_WORD_STATE_BITS	4
#define MIOS_WORD_OWNER_BITS	6
#define MIOS_WORD_EPOCH_BITS	24
#define MIOS_WORD_GEN_BITS	30
#define MIOS_EPOCH_MAX		((1u << MIOS_WORD_EPOCH_BITS) - 1)

static_assert(MIOS_WORD_STATE_BITS + MIOS_WORD_OWNER_BITS +
	      MIOS_WORD_EPOCH_BITS + MIOS_WORD_GEN_BITS == 64);
static_assert(MIOS_POOL_INSTANCES <= 1u << MIOS_WORD_OWNER_BITS);
static_assert(MIOS_EXTENT_PAGES * MIOS_POOL_PAGE == MIOS_EXTENT_SIZE);

/**
 * struct mios_pool_record - of a page, or of an extent (everybody)
 * @word:	see above; by compare-and-exchange only
 * @object:	where the page is meant to be found: written by its holder
 *		before it can be found there, and only a hint where to look
 */
struct mios_pool_record {
	__u64 word;
	__u64 object;
};

static_assert(sizeof(struct mios_pool_record) == 16);

/**
 * struct mios_section_header - first page of a section (who grows the pool)
 * @magic:	MIOS_SECTION_MAGIC, released last
 * @version:	MIOS_POOL_VERSION
 * @size:	bytes of this structure
 * @self:	physical address of the section: a copy elsewhere is not one
 * @node:	whose memory it is
 * @index:	which section of the pool
 * @nr_extents:	extents in it, those of the records included
 * @state:	enum mios_section_state
 * @freed:	raised after an extent has got free pages that had none: who found
 *		none anywhere need not look again before it is another one (everybody)
 */
struct mios_section_header {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u64 self;
	__u32 node;
	__u32 index;
	__u32 nr_extents;
	__u32 state;
	__u64 reserved[3];	/* what follows changes: a line of its own */
	__u64 freed;
};

static_assert(offsetof(struct mios_section_header, self) == 16);
static_assert(offsetof(struct mios_section_header, state) == 36);
static_assert(offsetof(struct mios_section_header, freed) == 64);
static_assert(sizeof(struct mios_section_header) == 72);

/* Nothing is allocated in a section before all instances can reach it. */
enum mios_section_state {
	MIOS_SECTION_CLOSED = 0,
	MIOS_SECTION_OPEN,
};

/* Where a section lies, and whose memory that is. */
struct mios_pool_place {
	__u64 base;
	__u64 size;
	__u32 node;
	__u32 reserved;
};

/**
 * struct mios_pool_header - second page of a pool's first section
 * @magic:	MIOS_POOL_MAGIC, released last
 * @version:	MIOS_POOL_VERSION
 * @size:	bytes of this structure
 * @self:	physical address of the pool's first section
 * @node:	whose memory that is
 * @nr_sections: entries of @section, released after them
 * @dead:	of each instance, the last epoch that is known to be over: it
 *		only grows (who recovers)
 * @section:	where the sections lie (who grows the pool)
 */
struct mios_pool_header {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u64 self;
	__u32 node;
	__u32 nr_sections;
	__u32 dead[MIOS_POOL_INSTANCES];
	struct mios_pool_place section[MIOS_POOL_SECTIONS];
};

static_assert(offsetof(struct mios_pool_header, dead) == 32);
static_assert(offsetof(struct mios_pool_header, section) == 288);
static_assert(sizeof(struct mios_pool_header) == 1824);

#define MIOS_POOL_HEADER_AT	MIOS_POOL_PAGE
#define MIOS_POOL_RECORDS_AT	(2 * MIOS_POOL_PAGE)

#endif /* _MIOS_POOL_LAYOUT_H */
