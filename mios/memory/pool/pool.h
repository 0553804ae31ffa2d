/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mios/memory/pool/ offers: pages and 2 MiB pages of one pool, allocated
 * and freed by any instance, and recovery of what a dead one held.  Portable:
 * it allocates nothing, sleeps never, takes no lock, and touches no page but
 * those of the records.  Several CPUs of several instances may be in any
 * function at once unless it says otherwise; who dies in one leaves nothing
 * that mios_pool_recover() does not find.
 */
#ifndef _MIOS_POOL_H
#define _MIOS_POOL_H

#include "os.h"

#include <mios/pool.h>

/**
 * struct mios_section - a section as this instance sees it
 * @header:	where its memory is mapped here
 * @extent:	records of its extents
 * @page:	records of its pages
 * @base:	its physical address
 * @nr_extents:	checked copy
 * @node:	whose memory it is
 * @full:	no page is free as long as ->freed is one less than this; 0: not known
 */
struct mios_section {
	struct mios_section_header *header;
	struct mios_pool_record *extent;
	struct mios_pool_record *page;
	u64 base;
	u32 nr_extents;
	u32 node;
	u64 full;
};

/* Why a free was refused. */
enum mios_pool_refusal {
	MIOS_REFUSED_TWICE,	/* it is not held any more */
	MIOS_REFUSED_FOREIGN,	/* another instance holds it */
	MIOS_REFUSED_EPOCH,	/* it was held by an earlier boot */
	MIOS_REFUSED_UNKNOWN,	/* there is no such page */
	MIOS_REFUSALS
};

/**
 * struct mios_pool - a pool as this instance sees it
 * @header:	the pool's header
 * @self:	this instance
 * @epoch:	its epoch
 * @nr_sections: sections that are mapped here, released after @section
 * @section:	the sections
 * @order:	their numbers, the lowest address first
 * @refused:	frees that were refused, by enum mios_pool_refusal: for a person
 *		to read, and so counted without a lock
 */
struct mios_pool {
	struct mios_pool_header *header;
	u32 self;
	u32 epoch;
	u32 nr_sections;
	struct mios_section section[MIOS_POOL_SECTIONS];
	u8 order[MIOS_POOL_SECTIONS];
	u64 refused[MIOS_REFUSALS];
};

/**
 * struct mios_page - a page that was allocated
 * @phys:	its physical address
 * @word:	of its record, as long as it is held
 * @huge:	2 MiB of it
 */
struct mios_page {
	u64 phys;
	u64 word;
	bool huge;
};

/**
 * struct mios_cursor - where somebody allocates in a section
 * @word:	of the extent that is leased, 0: none
 * @section:	which section
 * @extent:	which extent; of none: how far one has been looked for
 * @next:	where to look first
 * @rest:	so many pages without a look for an extent, as there was none
 * @found:	page of the section behind the last that mios_pool_look() has found
 * @run:	extents, counted from the back of the section, before that in which
 *		mios_pool_alloc_run() begins to look
 * @run_rest:	so many runs without a look for one, as there was none,
 * @run_freed:	and ->freed of the section, in part, is what it was then
 *
 * All 0, but for the section, at first.  One for each CPU, or one under a lock:
 * its user is alone on it, but for ->found and what follows, which are hints.
 */
struct mios_cursor {
	u64 word;
	u32 section;
	u32 extent;
	u32 next;
	u32 rest;
	u32 found;
	u32 run;
	u32 run_rest;
	u32 run_freed;
};

/**
 * struct mios_look - how far a section has been looked through
 * @start:	page of it with which that has begun
 * @extent:	how many extents have been looked at
 * @full:	what ->full of the section becomes if nothing is found; 0: nothing
 *
 * All 0 at first.
 */
struct mios_look {
	u32 start;
	u32 extent;
	u64 full;
};

/**
 * struct mios_pool_usage - who uses how much
 * @pages:	pages of 4 KiB
 * @meta:	of these, the pool's own
 * @kept:	part of an object
 * @made:	of these, allocated by an instance
 * @held:	held by an instance, an extent counting as its pages
 * @leases:	extents leased by an instance
 */
struct mios_pool_usage {
	u64 pages;
	u64 meta;
	u64 kept;
	u64 made[MIOS_POOL_INSTANCES];
	u64 held[MIOS_POOL_INSTANCES];
	u64 leases[MIOS_POOL_INSTANCES];
};

/* section.c: what a pool is made of */

/**
 * mios_pool_format() - make a pool of one section, closed
 * @memory: where the section is mapped
 * @base: its physical address, and
 * @size: its size, both multiples of 2 MiB
 * @node: whose memory it is
 *
 * The caller is alone.  -EINVAL: no section can be so.
 */
int mios_pool_format(void *memory, u64 base, u64 size, u32 node);

/**
 * mios_pool_attach() - see a pool, which somebody has made, and its section 0
 * @pool: out
 * @memory: where its first section is mapped
 * @place: where that lies
 * @node: whose memory it must be
 * @self: this instance
 * @epoch: and its epoch
 *
 * 0; -EPROTO: another version; -EBADMSG: no pool, or damaged; -ESTALE: the
 * epoch is known to be over.
 */
int mios_pool_attach(struct mios_pool *pool, void *memory,
		     const struct mios_pool_place *place, u32 node, u32 self,
		     u32 epoch);

/**
 * mios_pool_grow() - add a section, closed
 * @pool: the pool
 * @memory: where the section is mapped
 * @place: where it lies
 *
 * One caller at a time in the whole machine.  -ENOSPC: no more sections.
 */
int mios_pool_grow(struct mios_pool *pool, void *memory,
		   const struct mios_pool_place *place);

/**
 * mios_pool_place() - where the next section lies that is not mapped here
 * @pool: the pool
 * @place: out
 *
 * 1, or 0 if there is none; -EBADMSG: it lies where nothing can.
 */
int mios_pool_place(const struct mios_pool *pool,
		    struct mios_pool_place *place);

/**
 * mios_pool_adopt() - see the next section
 * @pool: the pool; one caller at a time
 * @memory: where the section is mapped
 * @place: as told by mios_pool_place()
 */
int mios_pool_adopt(struct mios_pool *pool, void *memory,
		    const struct mios_pool_place *place);

/* In which section a page is; -EINVAL: there is no such page. */
int mios_pool_section(const struct mios_pool *pool, u64 phys);

/* Where a page is mapped here, or NULL: there is no such page. */
void *mios_pool_memory(const struct mios_pool *pool, u64 phys);

/* Allow allocation in a section: all instances have adopted it. */
void mios_pool_open(struct mios_pool *pool, u32 section);

/**
 * mios_pool_close() - allow none any more
 * @pool: the pool
 * @section: which
 *
 * How many pages of it are in use: 0 means that none ever will be.
 */
u64 mios_pool_close(struct mios_pool *pool, u32 section);

/* page_alloc.c: pages */

/* Is it known that no page of a section is free?  Two loads. */
bool mios_pool_is_full(const struct mios_pool *pool, u32 section);

/**
 * mios_pool_alloc() - allocate a page of a section, in an extent that is leased
 * @pool: the pool
 * @cursor: the caller's
 * @page: out: held; its contents are whatever they were
 *
 * -ENOMEM: no extent is to be had: mios_pool_look(); -EINPROGRESS: there are more
 * to be looked at, call again; -ESTALE: this epoch has been declared over.
 */
int mios_pool_alloc(struct mios_pool *pool, struct mios_cursor *cursor,
		    struct mios_page *page);

/**
 * mios_pool_look() - allocate a page wherever one is
 * @pool: the pool
 * @cursor: of the section; others may use it meanwhile
 * @look: all 0 at first; where to go on
 * @page: out: held
 *
 * -EINPROGRESS: none so far, and there is more to be looked at; -ENOMEM: not one
 * is free, and mios_pool_is_full() says so until one has become free.
 */
int mios_pool_look(struct mios_pool *pool, struct mios_cursor *cursor,
		   struct mios_look *look, struct mios_page *page);

/**
 * mios_pool_free() - give back what this instance holds
 * @pool: the pool
 * @page: a page, large or small
 *
 * 0; -EALREADY: it does not hold it any more; -EPERM: another does; -ESTALE:
 * an earlier boot did; -EINVAL: no such page.  Each of these is counted.
 */
int mios_pool_free(struct mios_pool *pool, const struct mios_page *page);

/**
 * mios_pool_object() - say where a held page will be found
 * @pool: the pool
 * @page: held, and to be found nowhere yet
 * @object: a number that the caller of mios_pool_recover() understands
 */
int mios_pool_object(struct mios_pool *pool, const struct mios_page *page,
		     u64 object);

/**
 * mios_pool_keep() - it is found there now: it outlives its holder
 * @pool: the pool
 * @page: held
 *
 * 0; -EALREADY: somebody has taken it away meanwhile.
 */
int mios_pool_keep(struct mios_pool *pool, const struct mios_page *page);

/**
 * mios_pool_take() - the right to remove a page that was found in an object
 * @pool: the pool
 * @phys: where it lies
 * @huge: is it a large one?
 * @object: where it was found
 * @page: out; only now may it be taken out of the object, then be freed
 *
 * 0; -ENOENT: it is not, or no longer, that object's, or somebody is removing
 * it; -EINVAL: no such page.
 */
int mios_pool_take(struct mios_pool *pool, u64 phys, bool huge, u64 object,
		   struct mios_page *page);

/* lease.c: extents */

/**
 * mios_pool_alloc_huge() - allocate 2 MiB
 * @pool: the pool
 * @page: out, held
 */
int mios_pool_alloc_huge(struct mios_pool *pool, struct mios_page *page);

/* Is an extent such a page, part of an object or about to be? */
bool mios_extent_is_large(const struct mios_pool *pool, u32 section,
			  u32 extent);

/* Give back the extent that a cursor has leased. */
void mios_cursor_release(struct mios_pool *pool, struct mios_cursor *cursor);

/* page_run.c: small pages side by side */

/**
 * mios_pool_alloc_run() - allocate all pages of an extent, each by itself
 * @pool: the pool
 * @section: in which one
 * @cursor: of the section; others may use it meanwhile
 * @look: all 0 at first; where to go on
 * @phys: out: of the first; all are held
 *
 * Each is from then on a page as mios_pool_alloc() gives it, and freed or kept
 * by itself: mios_pool_held() has its handle.  -EINPROGRESS: none so far, and
 * there is more to be looked at, now or by who comes next; -ENOMEM: no extent has
 * all its pages free, or it is not long ago that none had, and none has got any
 * since; -ESTALE: this epoch has been declared over.  The last of a section are
 * left to mios_pool_alloc_huge().
 */
int mios_pool_alloc_run(struct mios_pool *pool, u32 section,
			struct mios_cursor *cursor, struct mios_look *look,
			u64 *phys);

/**
 * mios_pool_held() - the handle of a small page that this instance holds
 * @pool: the pool
 * @phys: of a run; nobody else knows it yet
 * @page: out
 *
 * -EALREADY: it is not held; -EINVAL: no such page.
 */
int mios_pool_held(struct mios_pool *pool, u64 phys, struct mios_page *page);

/* Is a small page held by somebody who is not known to be dead? */
bool mios_pool_is_held(const struct mios_pool *pool, u64 phys);

/* pool_recover.c: death */

/* Is the page, which says @object, really found there? */
typedef bool (*mios_pool_named)(void *ctx, u64 phys, bool huge, u64 object);

/**
 * struct mios_pool_recovery - how far somebody is recovered
 * @instance:	fenced, and every survivor has acknowledged that
 * @epoch:	its last one; earlier ones are over, too
 * @section, @extent: where to go on; 0 at first
 * @freed:	pages that were freed
 */
struct mios_pool_recovery {
	u32 instance;
	u32 epoch;
	u32 section;
	u32 extent;
	u64 freed;
};

/**
 * mios_pool_recover() - free what a dead instance held, piece by piece
 * @pool: the pool
 * @r: of whom; how far
 * @named: tells what is part of an object; that is kept
 * @ctx: its first argument
 *
 * True: there is more, and the caller may do something else in between.  Several
 * may do it at once, and one who dies in it leaves the rest to the next.
 */
bool mios_pool_recover(struct mios_pool *pool, struct mios_pool_recovery *r,
		       mios_pool_named named, void *ctx);

/* Pages that it has for others than itself. */
u64 mios_pool_pages(const struct mios_pool *pool);

/* Count what is used; changes that go on meanwhile may be seen or not. */
void mios_pool_usage(const struct mios_pool *pool,
		     struct mios_pool_usage *usage);

/**
 * mios_section_usage() - the same, of one section and piece by piece
 * @pool: the pool
 * @section: which
 * @extent: 0 at first; then as it was left
 * @usage: out: of all pieces so far
 *
 * True: there are more, and the caller may do something else in between.
 */
bool mios_section_usage(const struct mios_pool *pool, u32 section, u32 *extent,
			struct mios_pool_usage *usage);

#endif /* _MIOS_POOL_H */
