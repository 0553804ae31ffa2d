/* SPDX-License-Identifier: GPL-2.0 */
/* What the pool tests share: a machine's pool in plain memory. */
#ifndef _TEST_H
#define _TEST_H

#include "../../../mios/memory/pool/pool.h"
#include "../../unit/random.h"
#include "../../unit/test.h"

#define NODE		3
#define BASE		(5ull << 30)

/* Memory of a section of @extents, not touched yet. */
void *section_memory(u32 extents);
void section_forget(void *memory, u32 extents);
struct mios_pool_place section_place(u64 base, u32 extents);

/* A view of the pool at @memory by one instance. */
void view_make(struct mios_pool *pool, void *memory, u32 extents, u32 self,
	       u32 epoch);

/* Until there is one, or none. */
int pool_alloc(struct mios_pool *pool, struct mios_cursor *cursor,
	       struct mios_page *page);

/* All of what a death leaves; how many pages were freed. */
u64 pool_recover(struct mios_pool *pool, u32 instance, u32 epoch,
		 mios_pool_named named, void *ctx);

/* Each page that can be allocated is so once, none twice, and all are free. */
void pool_is_whole(struct mios_pool *pool);

void test_section(void);
void test_pages(void);
void test_death(void);
void test_garbage(u64 seed, unsigned long rounds);
void test_explore(unsigned int preemptions);
void test_stress(u64 seed, unsigned long rounds);

#endif
