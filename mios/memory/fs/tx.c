// SPDX-License-Identifier: GPL-2.0
/*
 * Changes under the lock of the image: a list of words and their new values,
 * which lies in a record before the first word is touched.  Called by every
 * change of a name or an attribute, and after a death; tx.h says why the order
 * is right.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_UNIT(no_redo);
MIOS_INJECT_UNIT(no_sequence);
MIOS_INJECT_SWITCH(no_replay, "leave what the dead had begun");

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

	if (inject_no_redo) {
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
	return offset >= MIOS_FS_FILELOCKS_AT ||
	       (offset >= MIOS_FS_SEGMENTS_AT &&
		offset < MIOS_FS_ATTACHED_AT) ||
	       (offset > offsetof(struct mios_fs_super, sequence) &&
		offset < sizeof(struct mios_fs_super));
}

/* @seen: readers look at what is changed, and do so again. */
static void redo_apply(struct mios_fs *fs, struct mios_fs_redo *redo, bool seen)
{
	u64 *sequence = &fs->super->sequence;
	u64 count = smp_load_acquire(&redo->count); /* REDO */
	struct mios_fs_store store;
	u64 i;

	if (seen && !inject_no_sequence)
		WRITE_ONCE(*sequence, READ_ONCE(*sequence) | 1);
	smp_wmb(); /* SEQ */
	for (i = 0; i < count && i < MIOS_FS_STORES; i++) {
		store = redo->store[i];
		if (store_is_sane(fs, &store))
			WRITE_ONCE(*(u64 *)((u8 *)fs->super + store.offset),
				   store.value);
	}
	if (seen && !inject_no_sequence)
		smp_store_release(sequence, READ_ONCE(*sequence) + 1); /* SEQ */
	smp_store_release(&redo->count, 0);
}

static void apply(struct mios_fs *fs, bool seen)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);

	smp_store_release(&redo->count, fs->stores); /* REDO */
	smp_wmb(); /* REDO: no word before it */
	mios_fs_stop();
	redo_apply(fs, redo, seen);
	fs->stores = 0;
}

/* All or nothing from here on; the lock stays. */
void mios_tx_apply(struct mios_fs *fs)
{
	apply(fs, true);
}

/* The same of what nobody reads without the lock: names stay as they were. */
void mios_tx_apply_unseen(struct mios_fs *fs)
{
	apply(fs, false);
}

/* What the dead, or one who died in this very place, had begun is finished. */
static void redo_finish(struct mios_fs *fs)
{
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (READ_ONCE(redo_of(fs, i)->count) &&
		    !inject_no_replay)
			redo_apply(fs, redo_of(fs, i), true);
}

/* Between two changes, and alone: LOCK. */
static int begin(struct mios_fs *fs, struct mios_qlock *lock)
{
	int err = mios_qlock_lock(lock, false);

	if (err && err != -EOWNERDEAD)
		return -EBUSY;
	fs->holder = lock;
	fs->stores = 0;
	if (err)
		redo_finish(fs);
	return 0;
}

int mios_tx_begin(struct mios_fs *fs)
{
	return begin(fs, &fs->lock);
}

/* Also what somebody has left whose death was never told. */
int mios_tx_begin_recovery(struct mios_fs *fs)
{
	int err = begin(fs, &fs->recovery);

	if (!err)
		redo_finish(fs);
	return err;
}

void mios_tx_end(struct mios_fs *fs)
{
	struct mios_qlock *lock = fs->holder;

	/* The next holder may be the other one. */
	fs->holder = NULL;
	fs->stores = 0;
	mios_qlock_unlock(lock); /* LOCK */
}

/* Carry it out, unless there is an error, and hand the lock on. */
int mios_tx_finish(struct mios_fs *fs, int err)
{
	if (!err)
		mios_tx_apply(fs);
	mios_tx_end(fs);
	return err;
}

int mios_fs_still(struct mios_fs *fs)
{
	return mios_tx_begin(fs);
}

int mios_fs_moves(struct mios_fs *fs, int found)
{
	mios_tx_end(fs);
	return found;
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
