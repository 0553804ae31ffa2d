// SPDX-License-Identifier: GPL-2.0
/*
 * The table of segments: where each lies, in which part of the image, which are
 * free, and which has a key.  Called by segment.c.
 */
#include "../../inject/inject.h"
#include "segment_table.h"

MIOS_INJECT_SWITCH(same_id,
		   "give a new segment the id of the one that was there");

/**
 * struct place - where a segment lies
 * @part:	its part of the image
 * @nr:		segments of that
 * @at:		which of them
 */
struct place {
	void *part;
	u32 nr;
	u32 at;
};

/* ->part is NULL where there is no such segment. */
static struct place place_of(const struct mios_fs *fs, u32 slot)
{
	void **parts = fs->parts->at[MIOS_FS_SEGMENTS_KIND];
	u32 part;

	if (slot < MIOS_FS_FIRST_SEGMENTS)
		return (struct place) { parts[0], MIOS_FS_FIRST_SEGMENTS,
					slot };
	if (slot >= MIOS_FS_SEGMENTS)
		return (struct place) { };
	slot -= MIOS_FS_FIRST_SEGMENTS;
	part = 1 + slot / MIOS_FS_PART_SEGMENTS;
	return (struct place) {
		READ_ONCE(parts[part]) ?:
			mios_part_meet(fs, MIOS_FS_SEGMENTS_KIND, part),
		MIOS_FS_PART_SEGMENTS, slot % MIOS_FS_PART_SEGMENTS
	};
}

bool mios_segment_exists(const struct mios_fs *fs, u32 slot)
{
	return place_of(fs, slot).part;
}

/* Of one that does not exist: the first one. */
static struct place place_in(const struct mios_fs *fs, u32 slot)
{
	struct place place = place_of(fs, slot);

	return place.part ? place : place_of(fs, 0);
}

struct mios_fs_segment *mios_segment_record(const struct mios_fs *fs, u32 slot)
{
	struct place place = place_in(fs, slot);

	return (struct mios_fs_segment *)place.part + place.at;
}

/* Columns lie behind the segments. */
u32 *mios_attached_at(const struct mios_fs *fs, u32 instance, u32 slot)
{
	struct place place = place_in(fs, slot);
	struct mios_fs_segment *segments = place.part;
	u32 *columns = (u32 *)(segments + place.nr);

	return &columns[(size_t)instance * place.nr + place.at];
}

u32 mios_fs_segments(const struct mios_fs *fs)
{
	u64 fresh = READ_ONCE(fs->super->table[MIOS_FS_SEGMENTS_KIND].fresh);

	return min_t(u64, fresh, MIOS_FS_SEGMENTS);
}

u32 mios_sequence_of_key(u64 key)
{
	return (key >> 32) % MIOS_FS_SEQUENCES;
}

/* Of the next one there: an id comes back after all the others. */
u32 mios_sequence_next(u64 key)
{
	return inject_same_id ? mios_sequence_of_key(key) :
	       mios_sequence_of_key(key + (1ull << 32));
}

/* Segments with a key: keyed, so that nobody has them all in one chain. */
static u64 *chain_of(const struct mios_fs *fs, u32 key)
{
	const struct mios_fs_name none = { "", 0 };
	u64 *chains = (void *)((u8 *)fs->super + MIOS_FS_KEYS_AT);

	return &chains[mios_name_hash(fs, key, &none) % MIOS_FS_KEYS];
}

/*
 * With the lock, or for who looks again: MIOS_FS_SEGMENTS if there is none.
 * @link: out: what leads to it.
 */
u32 mios_segment_of_key(struct mios_fs *fs, u32 key, u64 **link)
{
	u32 steps;

	*link = chain_of(fs, key);
	for (steps = 0; steps < MIOS_FS_SEGMENTS; steps++) {
		u32 slot = READ_ONCE(**link) - 1;
		struct mios_fs_segment *s = mios_segment_record(fs, slot);

		if (!mios_segment_exists(fs, slot))
			break;
		if (READ_ONCE(s->inode) && (u32)READ_ONCE(s->key) == key)
			return slot;
		*link = &s->next;
	}
	return MIOS_FS_SEGMENTS;
}

static struct mios_fs_table *table_of(const struct mios_fs *fs)
{
	return &fs->super->table[MIOS_FS_SEGMENTS_KIND];
}

bool mios_segments_are_free(const struct mios_fs *fs)
{
	const struct mios_fs_table *table = table_of(fs);

	return mios_segment_exists(fs, READ_ONCE(table->free) - 1) ||
	       mios_segment_exists(fs, READ_ONCE(table->fresh));
}

static void used_add(struct mios_fs *fs, int more)
{
	u64 *used = &table_of(fs)->used;

	mios_tx_put(fs, used, mios_tx_get(fs, used) + more);
}

/* The one that has been free for the longest time. */
static u32 oldest_take(struct mios_fs *fs)
{
	u64 *free = &table_of(fs)->free, next;
	u32 slot = mios_tx_get(fs, free) - 1;

	if (!mios_segment_exists(fs, slot))
		return MIOS_FS_SEGMENTS;
	next = mios_tx_get(fs, &mios_segment_record(fs, slot)->next);
	mios_tx_put(fs, free, next);
	if (!next)
		mios_tx_put(fs, &fs->super->last_segment, 0);
	return slot;
}

/* In turn, so that all places' sequences are used up before an id comes back. */
u32 mios_segment_take(struct mios_fs *fs)
{
	u64 *fresh = &table_of(fs)->fresh;
	u32 slot = MIOS_FS_SEGMENTS;

	if (inject_same_id || !mios_segment_exists(fs, mios_tx_get(fs, fresh)))
		slot = oldest_take(fs);
	if (slot == MIOS_FS_SEGMENTS) {
		slot = mios_tx_get(fs, fresh);
		if (!mios_segment_exists(fs, slot)) {
			if (slot < MIOS_FS_SEGMENTS)
				fs->wants = MIOS_FS_SEGMENTS_KIND + 1;
			return MIOS_FS_SEGMENTS;
		}
		mios_tx_put(fs, fresh, slot + 1);
	}
	used_add(fs, 1);
	return slot;
}

/* Behind all others that are free. */
void mios_segment_give(struct mios_fs *fs, u32 slot)
{
	u64 *last = &fs->super->last_segment;
	u32 before = mios_tx_get(fs, last) - 1;

	mios_tx_put(fs, &mios_segment_record(fs, slot)->next, 0);
	if (mios_segment_exists(fs, before))
		mios_tx_put(fs, &mios_segment_record(fs, before)->next, slot + 1);
	else
		mios_tx_put(fs, &table_of(fs)->free, slot + 1);
	mios_tx_put(fs, last, slot + 1);
	used_add(fs, -1);
}

/* It has this key from now on. */
void mios_segment_key_put(struct mios_fs *fs, u32 slot, u32 key)
{
	u64 *chain = chain_of(fs, key);

	if (!key)
		return;
	mios_tx_put(fs, &mios_segment_record(fs, slot)->next, mios_tx_get(fs, chain));
	mios_tx_put(fs, chain, slot + 1);
}

/* Its key means it no more. */
void mios_segment_key_drop(struct mios_fs *fs, u32 slot)
{
	struct mios_fs_segment *s = mios_segment_record(fs, slot);
	u32 key = s->key;
	u64 *link;

	if (!key)
		return;
	if (mios_segment_of_key(fs, key, &link) == slot)
		mios_tx_put(fs, link, mios_tx_get(fs, &s->next));
	mios_tx_put(fs, &s->key, s->key & ~(u64)~0u);
}
