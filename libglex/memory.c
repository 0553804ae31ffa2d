// SPDX-License-Identifier: GPL-2.0
/*
 * Registered memory: an entry in the owner's file, which others read.  Nothing is
 * pinned, but for other machines: where the memory itself has gone a request for it
 * fails.
 *
 * SEQUENCE: odd while the rest changes, and when there is nothing; a handle names
 * one even value of it.  Who reads takes the value before (acquire) and behind a
 * barrier after the rest: both are that of the handle.
 */
#include "internal.h"

static void region_set(struct region *r, uint64_t address, uint64_t length,
		       uint32_t flags)
{
	uint32_t sequence = atomic_load(&r->sequence) | 1;

	atomic_store_explicit(&r->sequence, sequence, memory_order_relaxed);
	atomic_thread_fence(memory_order_release); /* SEQUENCE */
	atomic_store_explicit(&r->address, address, memory_order_relaxed);
	atomic_store_explicit(&r->length, length, memory_order_relaxed);
	atomic_store_explicit(&r->flags, flags, memory_order_relaxed);
	/* 0 is no handle of anything, also after so many times. */
	if (flags)
		atomic_store_explicit(&r->sequence, sequence + 1 ? sequence + 1 : 2,
				      memory_order_release);
}

static bool is_free(const struct region *r)
{
	uint32_t sequence = atomic_load(&r->sequence);

	return !sequence || sequence & 1;
}

glex_ret_t glex_register_mem(glex_ep_handle_t ep, void *addr, uint64_t len,
			     int32_t flag, glex_mem_handle_t *mh)
{
	glex_ret_t ret = GLEX_NO_MEM_RESOURCE;
	struct far_memory *far = NULL;
	struct region *r;
	uint32_t i;

	if (!ep || !addr || !len || !mh || (uint64_t)addr + len < len ||
	    !(flag & (GLEX_MEM_READ | GLEX_MEM_WRITE)))
		return GLEX_INVALID_PARAM;
	if (flag & GLEX_MEM_IOMMU)
		return GLEX_NOT_IMPLEMENTED;
	if (ep->far) {
		far = far_pin(ep, addr, len, flag);
		if (!far)
			return ret;
	}
	pthread_mutex_lock(&ep->mutex);
	for (i = 0; i < REGIONS && ret; i++) {
		r = &ep->file.regions[i];
		if (!is_free(r))
			continue;
		region_set(r, (uint64_t)addr, len, flag);
		mh->v = 0;
		mh->mmt_index = i;
		mh->att_index = atomic_load(&r->sequence);
		if (far)
			far_publish(ep, i, mh->att_index, far);
		ret = GLEX_SUCCESS;
	}
	pthread_mutex_unlock(&ep->mutex);
	if (ret && far)
		far_unpin(ep, far);
	return ret;
}

glex_ret_t glex_deregister_mem(glex_ep_handle_t ep, glex_mem_handle_t mh)
{
	glex_ret_t ret = GLEX_INVALID_PARAM;
	struct far_memory *far = NULL;
	struct region *r;

	if (!ep || mh.mmt_index >= REGIONS)
		return GLEX_INVALID_PARAM;
	r = &ep->file.regions[mh.mmt_index];
	pthread_mutex_lock(&ep->mutex);
	if (!is_free(r) && atomic_load(&r->sequence) == mh.att_index) {
		region_set(r, 0, 0, 0);
		if (ep->far)
			far = far_withdraw(ep, mh.mmt_index);
		ret = GLEX_SUCCESS;
	}
	pthread_mutex_unlock(&ep->mutex);
	if (far)
		far_unpin(ep, far);
	return ret;
}

/* 0: @address is that of @offset in it, for so many bytes; -1. */
int region_find(const struct file *f, glex_mem_handle_t mh, uint64_t offset,
		uint64_t len, uint32_t flag, uint64_t *address)
{
	struct region *r = &f->regions[mh.mmt_index % REGIONS];
	uint32_t sequence = atomic_load_explicit(&r->sequence,
						 memory_order_acquire);
	uint64_t base = atomic_load_explicit(&r->address, memory_order_relaxed);
	uint64_t length = atomic_load_explicit(&r->length, memory_order_relaxed);
	uint32_t flags = atomic_load_explicit(&r->flags, memory_order_relaxed);

	atomic_thread_fence(memory_order_acquire); /* SEQUENCE */
	if (mh.mmt_index >= REGIONS || !sequence || sequence & 1 ||
	    sequence != mh.att_index ||
	    atomic_load_explicit(&r->sequence, memory_order_relaxed) != sequence)
		return -1;
	if (offset > length || len > length - offset || (flags & flag) != flag)
		return -1;
	*address = base + offset;
	return 0;
}
