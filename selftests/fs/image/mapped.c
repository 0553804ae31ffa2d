// SPDX-License-Identifier: GPL-2.0
/*
 * What instance 1 has of one page of a file, as its kernel has it: the page's
 * lock, its references, and what is in a page table or is being copied from.
 */
#include "../pool/explore.h"
#include "mapped.h"

static u64 page_lock, references, used;

void mapped_restore(void)
{
	page_lock = 0;
	references = 0;
	used = 0;
	explore_hot(&page_lock);
	explore_hot(&references);
	explore_hot(&used);
}

static void lock_page(u32 self)
{
	u64 was = 0;

	/* The dead map nothing, and are not waited for. */
	while (!try_cmpxchg(&page_lock, &was, self)) {
		if (explore_is_dead(was))
			continue;
		was = 0;
		explore_pause();
	}
}

static void unlock_page(void)
{
	WRITE_ONCE(page_lock, 0);
}

void mapped_by_one(struct world *w, u64 file, u64 index)
{
	u64 phys;

	if (mios_fs_page(&w->fs[1], NULL, file, index, &phys))
		return;
	lock_page(1);
	if (mios_fs_page_is(&w->fs[1], file, index, phys))
		WRITE_ONCE(used, phys);
	unlock_page();
}

void copied_by_one(struct world *w, u64 file, u64 index)
{
	u64 phys, none = 0;

	if (mios_fs_page(&w->fs[1], NULL, file, index, &phys))
		return;
	CHECK(try_cmpxchg(&references, &none, 1));
	if (mios_fs_page_is(&w->fs[1], file, index, phys))
		used = phys;
	else
		WRITE_ONCE(references, 0);
}

void unmapped_by_two(void)
{
	lock_page(2);
	WRITE_ONCE(used, 0);
	unlock_page();
}

bool is_pinned(void)
{
	return READ_ONCE(references);
}

u64 used_by_one(void)
{
	return explore_is_dead(1) ? 0 : used;
}
