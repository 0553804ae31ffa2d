// SPDX-License-Identifier: GPL-2.0
/* watched.c and copy.c of mios/memory/vm/ on the instance SELF. */
#include "../../../mios/memory/vm/watched.c"
#include "../../../mios/memory/vm/copy.c"

#define NAME_OF(self)	instance_##self
#define NAME(self)	NAME_OF(self)

#define PLACE	0x1000ul

static struct mm_struct process;
static struct mios_watch *watched;
static const struct mmu_notifier_range range = { PLACE, PLACE + PAGE_SIZE };

static void watch(void)
{
	watched = mios_watch_get(1, &process);
}

static int answer(u32 to, u32 *slot, u64 *generation)
{
	struct mios_msg_copy_pages pages;
	int err;

	err = mios_watch_begin(watched, to, PLACE, PLACE + PAGE_SIZE, true, &pages);
	*slot = pages.slot;
	*generation = pages.generation;
	return err;
}

static void begins(void)
{
	notified->ops->invalidate_range_start(notified, &range);
}

static void ends(void)
{
	notified->ops->invalidate_range_end(notified, &range);
}

/* Page by page: here one. */
size_t mios_window_copy(const u64 *pfn, size_t offset, size_t size,
			struct iov_iter *iter, bool write)
{
	model_read(*pfn);
	model_read(*pfn);
	return size;
}

static int copy(u32 from, u32 slot, u64 generation, u32 page)
{
	const struct mios_pages pages = {
		.instance = from, .slot = slot, .generation = generation,
		.nr = 1, .pfn[0] = page,
	};

	return mios_pages_copy(&pages, 0, 1, NULL, false);
}

const struct instance NAME(SELF) = {
	.watch = watch, .answer = answer, .begins = begins, .ends = ends,
	.copy = copy, .leave = mios_copiers_leave,
};
