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
MIOS_INJECT_UNIT(finish_unseen);
MIOS_INJECT_SWITCH(same_names, "leave the sequences of names that change as they are");
MIOS_INJECT_SWITCH(no_replay, "leave what the dead had begun");

/* Where a word of the image lies, for every instance. */
static u64 phys_of(const struct mios_fs *fs, const u64 *word)
{
	const struct mios_section *section = fs->pool->section;
	u64 at = 0;
	u32 i;

	for (i = 0; i < fs->pool->nr_sections; i++, section++) {
		at = (unsigned long)word - (unsigned long)section->header;
		if (at / MIOS_EXTENT_SIZE < section->nr_extents)
			return section->base + at;
	}
	return 0;
}

/* With what this change has already put there. */
u64 mios_tx_get(struct mios_fs *fs, const u64 *word)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);
	u64 phys = phys_of(fs, word);
	u32 i;

	for (i = fs->stores; i--;)
		if (redo->store[i].phys == phys)
			return redo->store[i].value;
	return READ_ONCE(*word);
}

static void store_put(struct mios_fs *fs, u64 phys, u64 value)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);

	if (fs->stores == MIOS_FS_STORES) {
		fs->too_many = true;
		return;
	}
	redo->store[fs->stores].phys = phys;
	redo->store[fs->stores++].value = value;
}

void mios_tx_put(struct mios_fs *fs, u64 *word, u64 value)
{
	if (inject_no_redo)
		WRITE_ONCE(*word, value);
	else
		store_put(fs, phys_of(fs, word), value);
}

static bool is_of_names(const struct mios_fs *fs, const u64 *sequence)
{
	const u64 *first = sequences_of(fs)->name;

	return sequence >= first && sequence < first + MIOS_FS_GROUPS;
}

/*
 * What a sequence stands for becomes another one with this change; also where who
 * makes it dies, and somebody else finishes it.
 */
void mios_tx_raise(struct mios_fs *fs, u64 *sequence)
{
	const struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);
	u64 phys = phys_of(fs, sequence);
	u32 i;

	if (inject_same_names && is_of_names(fs, sequence))
		return;
	for (i = 0; i < fs->stores; i++)
		if (redo->store[i].phys == phys)
			return;
	store_put(fs, phys, 0);
}

/* What a sequence that this change raises is after it. */
u64 mios_tx_raised(const u64 *sequence)
{
	return (READ_ONCE(*sequence) | 1) + 1;
}

/* Headers, redo records and what others change are nobody's to replay. */
static bool offset_is_sane(u64 offset)
{
	return offset >= MIOS_FS_FILELOCKS_AT ||
	       (offset >= MIOS_FS_SEGMENTS_AT &&
		offset < MIOS_FS_ATTACHED_AT) ||
	       (offset >= offsetof(struct mios_fs_super, sequence) &&
		offset < sizeof(struct mios_fs_super));
}

/* What a store is for; NULL: nothing of the image. */
static u64 *word_of(const struct mios_fs *fs, const struct mios_fs_store *store)
{
	u64 offset = store->phys - fs->phys;

	if (offset >= MIOS_EXTENT_SIZE)
		return mios_part_word(fs, store->phys);
	return offset % sizeof(u64) || !offset_is_sane(offset) ? NULL :
	       (u64 *)((u8 *)fs->super + offset);
}

static bool is_sequence(const struct mios_fs *fs, u64 phys)
{
	u64 offset = phys - fs->phys;

	return offset == offsetof(struct mios_fs_super, sequence) ||
	       offset - MIOS_FS_SEQUENCES_AT < sizeof(struct mios_fs_sequences);
}

static void words_apply(struct mios_fs *fs, const struct mios_fs_redo *redo,
			u64 count)
{
	struct mios_fs_store store;
	u64 *word, i;

	for (i = 0; i < count; i++) {
		store = redo->store[i];
		word = is_sequence(fs, store.phys) ? NULL : word_of(fs, &store);
		if (word)
			WRITE_ONCE(*word, store.value);
	}
}

/* All sequences of a change, before its words, or after them. */
static void sequences_apply(struct mios_fs *fs, const struct mios_fs_redo *redo,
			    u64 count, bool after)
{
	struct mios_fs_store store;
	u64 *word, i;

	if (inject_no_sequence)
		return;
	for (i = 0; i < count; i++) {
		store = redo->store[i];
		word = is_sequence(fs, store.phys) ? word_of(fs, &store) : NULL;
		if (word && after)
			WRITE_ONCE(*word, mios_tx_raised(word));
		else if (word)
			WRITE_ONCE(*word, READ_ONCE(*word) | 1);
	}
}

/* The same for who makes a change, and for who finishes it; @seen: unless a test says no. */
static void redo_apply(struct mios_fs *fs, struct mios_fs_redo *redo, bool seen)
{
	u64 count = min_t(u64, smp_load_acquire(&redo->count), /* REDO */
			  MIOS_FS_STORES);

	if (seen)
		sequences_apply(fs, redo, count, false);
	smp_wmb(); /* SEQ: no word before the sequences are odd */
	words_apply(fs, redo, count);
	smp_wmb(); /* SEQ: nor after one is even */
	if (seen)
		sequences_apply(fs, redo, count, true);
	smp_store_release(&redo->count, 0); /* REDO: the words before */
}

/* All or nothing from here on; the lock stays. */
void mios_tx_apply(struct mios_fs *fs)
{
	struct mios_fs_redo *redo = redo_of(fs, fs->pool->self);

	if (fs->too_many) {
		fs->stores = 0;
		return;
	}
	smp_store_release(&redo->count, fs->stores); /* REDO */
	smp_wmb(); /* REDO: no word before it */
	if (fs->holder == &fs->lock)
		mios_fs_stop();
	redo_apply(fs, redo, true);
	fs->stores = 0;
}

/* What the dead, or one who died in this very place, had begun is finished. */
static void redo_finish(struct mios_fs *fs)
{
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (READ_ONCE(redo_of(fs, i)->count) &&
		    !inject_no_replay)
			redo_apply(fs, redo_of(fs, i), !inject_finish_unseen);
}

/* Between two changes, and alone: LOCK. */
static int begin(struct mios_fs *fs, struct mios_qlock *lock)
{
	int err = mios_qlock_lock(lock, false);

	if (err && err != -EOWNERDEAD)
		return -EBUSY;
	fs->holder = lock;
	fs->stores = 0;
	fs->too_many = false;
	fs->wants = 0;
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

/*
 * Carry it out, unless there is an error, and hand the lock on.  -EIO: it is more
 * than a record holds, so nothing is changed; no change is meant to be.
 */
int mios_tx_finish(struct mios_fs *fs, int err)
{
	if (!err && fs->too_many)
		err = -EIO;
	if (!err)
		mios_tx_apply(fs);
	mios_tx_end(fs);
	return err;
}

static void sequence_settle(u64 *sequence)
{
	u64 value = READ_ONCE(*sequence);

	if (value & 1)
		WRITE_ONCE(*sequence, value + 1);
}

/*
 * With the lock: what is odd, and in nobody's record, a kernel that errs has written.
 * It would stay so, as readers of that group ask for nothing but that it is even.
 */
static void sequences_settle(struct mios_fs *fs)
{
	u32 i;

	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		if (READ_ONCE(redo_of(fs, i)->count))
			return;
	sequence_settle(sequence_of_segments(fs));
	for (i = 0; i < MIOS_FS_GROUPS; i++) {
		sequence_settle(&sequences_of(fs)->name[i]);
		sequence_settle(&sequences_of(fs)->file[i]);
	}
}

int mios_fs_still(struct mios_fs *fs)
{
	int err = mios_tx_begin(fs);

	if (!err)
		sequences_settle(fs);
	return err;
}

int mios_fs_moves(struct mios_fs *fs, int found)
{
	mios_tx_end(fs);
	return found;
}

u64 mios_read_begin(const u64 *sequence)
{
	return smp_load_acquire(sequence); /* SEQ */
}

bool mios_read_again(const u64 *sequence, u64 begun)
{
	smp_rmb(); /* SEQ */
	return begun & 1 || READ_ONCE(*sequence) != begun;
}
