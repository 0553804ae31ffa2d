// SPDX-License-Identifier: GPL-2.0
/*
 * The lock of the image, and changes under it: a list of words and their new
 * values, which lies in a record before the first word is touched.  Called by
 * every change of a name or an attribute, and after a death; tx.h says why the
 * order is right.
 */
#include "tx.h"

#define HELD	1ull

static u64 lock_next(const struct mios_fs *fs, u64 was, u64 held)
{
	u64 count = (was >> MIOS_FS_LOCK_COUNT) + 1;

	return count << MIOS_FS_LOCK_COUNT |
	       (u64)fs->pool->epoch << MIOS_FS_LOCK_EPOCH |
	       (u64)fs->pool->self << MIOS_FS_LOCK_OWNER | held;
}

int mios_tx_begin(struct mios_fs *fs)
{
	u64 was = READ_ONCE(fs->super->lock);
	u64 lock = lock_next(fs, was, HELD);

	if (was & HELD || !try_cmpxchg(&fs->super->lock, &was, lock)) /* LOCK */
		return -EBUSY;
	fs->lock = lock;
	fs->stores = 0;
	return 0;
}

/* With what this change has already put there. */
u64 mios_tx_get(struct mios_fs *fs, const u64 *word)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);
	u64 offset = (u8 *)word - (u8 *)fs->super;
	u32 i;

	for (i = fs->stores; i--;)
		if (redo->store[i].offset == offset)
			return redo->store[i].value;
	return READ_ONCE(*word);
}

void mios_tx_put(struct mios_fs *fs, u64 *word, u64 value)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);
	u64 offset = (u8 *)word - (u8 *)fs->super;

	if (mios_fs_fault(MIOS_FS_FAULT_NO_REDO)) {
		WRITE_ONCE(*word, value);
		return;
	}
	redo->store[fs->stores].offset = offset;
	redo->store[fs->stores++].value = value;
}

/* Headers, redo records and what others change are nobody's to replay. */
static bool store_is_sane(const struct mios_fs *fs,
			  const struct mios_fs_store *store)
{
	u64 offset = store->offset;

	if (offset % 8 || offset >= fs->size)
		return false;
	return offset >= MIOS_FS_BUCKETS_AT ||
	       (offset >= MIOS_FS_SEGMENTS_AT &&
		offset < MIOS_FS_ATTACHED_AT) ||
	       (offset > offsetof(struct mios_fs_super, sequence) &&
		offset < sizeof(struct mios_fs_super));
}

static void redo_apply(struct mios_fs *fs, struct mios_fs_redo *redo)
{
	u64 *sequence = &fs->super->sequence;
	u64 count = smp_load_acquire(&redo->count); /* REDO */
	struct mios_fs_store store;
	u64 i;

	if (!mios_fs_fault(MIOS_FS_FAULT_NO_SEQUENCE))
		WRITE_ONCE(*sequence, READ_ONCE(*sequence) | 1);
	smp_wmb(); /* SEQ */
	for (i = 0; i < count && i < MIOS_FS_STORES; i++) {
		store = redo->store[i];
		if (store_is_sane(fs, &store))
			WRITE_ONCE(*(u64 *)((u8 *)fs->super + store.offset),
				   store.value);
	}
	if (!mios_fs_fault(MIOS_FS_FAULT_NO_SEQUENCE))
		smp_store_release(sequence, READ_ONCE(*sequence) + 1); /* SEQ */
	smp_store_release(&redo->count, 0);
}

/* All or nothing from here on; the lock stays. */
void mios_tx_apply(struct mios_fs *fs)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);

	smp_store_release(&redo->count, fs->stores); /* REDO */
	smp_wmb(); /* REDO: no word before it */
	mios_fs_stop();
	redo_apply(fs, redo);
	fs->stores = 0;
}

void mios_tx_end(struct mios_fs *fs)
{
	u64 lock = fs->lock;

	fs->lock = 0;
	fs->stores = 0;
	try_cmpxchg(&fs->super->lock, &lock, lock_next(fs, lock, 0)); /* LOCK */
}

/*
 * The lock, also out of the hands of the dead; what they, or one who died in
 * this very place, had begun is finished before anything else.
 */
int mios_tx_take_over(struct mios_fs *fs, u32 instance, u32 epoch)
{
	u64 was = READ_ONCE(fs->super->lock);
	u64 lock = lock_next(fs, was, HELD);
	u32 i;

	if (was & HELD) {
		u32 owner = was >> MIOS_FS_LOCK_OWNER & 63;
		u32 since = was >> MIOS_FS_LOCK_EPOCH & MIOS_EPOCH_MAX;

		if (owner != instance || since > epoch)
			return -EBUSY;
	}
	if (!try_cmpxchg(&fs->super->lock, &was, lock)) /* LOCK */
		return -EBUSY;
	fs->lock = lock;
	fs->stores = 0;
	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (READ_ONCE(redo_of(fs, i)->count) &&
		    !mios_fs_fault(MIOS_FS_FAULT_NO_REPLAY))
			redo_apply(fs, redo_of(fs, i));
	return 0;
}

u64 mios_read_begin(const struct mios_fs *fs)
{
	return smp_load_acquire(&fs->super->sequence); /* SEQ */
}

bool mios_read_again(const struct mios_fs *fs, u64 sequence)
{
	smp_rmb(); /* SEQ */
	return sequence & 1 || READ_ONCE(fs->super->sequence) != sequence;
}
