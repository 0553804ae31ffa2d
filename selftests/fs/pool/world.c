// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for a pool, and what all tests of pools share: those of miosfs, too.
 */
#include <sys/mman.h>

#include "test.h"

void (*test_point)(const volatile void *address, bool write);
unsigned int test_held;
unsigned long test_locked;
void (*test_wait)(void);
void (*test_cleared)(void);

void *section_memory(u32 extents)
{
	void *memory = mmap(NULL, (size_t)extents * MIOS_EXTENT_SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

void section_forget(void *memory, u32 extents)
{
	munmap(memory, (size_t)extents * MIOS_EXTENT_SIZE);
}

struct mios_pool_place section_place(u64 base, u32 extents)
{
	return (struct mios_pool_place) {
		.base = base, .size = (u64)extents * MIOS_EXTENT_SIZE,
	};
}

void view_make(struct mios_pool *pool, void *memory, u32 extents, u32 self,
	       u32 epoch)
{
	struct mios_pool_place place = section_place(BASE, extents);

	CHECK(!mios_pool_attach(pool, memory, &place, NODE, self, epoch));
}

int pool_alloc(struct mios_pool *pool, struct mios_cursor *cursor,
	       struct mios_page *page)
{
	struct mios_look look = { 0 };
	int err = -ENOMEM;

	if (!mios_pool_is_full(pool, cursor->section))
		do {
			err = mios_pool_alloc(pool, cursor, page);
		} while (err == -EINPROGRESS);
	if (err != -ENOMEM || mios_pool_is_full(pool, cursor->section))
		return err;
	do {
		err = mios_pool_look(pool, cursor, &look, page);
	} while (err == -EINPROGRESS);
	return err;
}

u64 pool_recover(struct mios_pool *pool, u32 instance, u32 epoch,
		 mios_pool_named named, void *ctx)
{
	struct mios_pool_recovery r = { .instance = instance, .epoch = epoch };

	while (mios_pool_recover(pool, &r, named, ctx))
		;
	return r.freed;
}
