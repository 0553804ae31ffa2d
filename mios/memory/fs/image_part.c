// SPDX-License-Identifier: GPL-2.0
/*
 * The image grows: when inodes or entries run out, whoever needs one takes an
 * extent from the pool, clears it, and with the lock links it to the image, as a
 * part, by the redo record.  So who dies in it leaves an extent that recovery
 * frees, or one that belongs to the image, and to nobody else.  A part is never
 * given back, and its numbers are used again.
 */
#include "../../inject/inject.h"
#include "tx.h"

MIOS_INJECT_UNIT(link_early);
MIOS_INJECT_UNIT(link_twice);
MIOS_INJECT_UNIT(used_relative);

static u64 *part_word(const struct mios_fs *fs, enum mios_fs_kind kind,
		      u64 part)
{
	u64 at = kind == MIOS_FS_USERS_KIND ? MIOS_FS_USERS_PART_AT :
		 MIOS_FS_PARTS_AT + (u64)kind * MIOS_FS_PARTS * sizeof(u64);

	return (u64 *)((u8 *)fs->super + at) + part;
}

static u64 object_of(enum mios_fs_kind kind, u64 part)
{
	return MIOS_FS_PART | (u64)kind << MIOS_FS_PART_KIND | part;
}

static struct mios_pool_record *record_of(const struct mios_fs *fs, u64 word)
{
	u32 section = word >> 32, extent = word;

	/* The first of a section has its header. */
	if (!extent || !mios_extent_is_large(fs->pool, section, extent))
		return NULL;
	return &fs->pool->section[section].extent[extent];
}

static u8 *memory_of(const struct mios_fs *fs, u64 word)
{
	return (u8 *)fs->pool->section[word >> 32].header +
	       (u64)(u32)word * MIOS_EXTENT_SIZE;
}

/* Another kernel may have written anything there, and is believed no further. */
void *mios_part_meet(const struct mios_fs *fs, enum mios_fs_kind kind,
		     u64 part)
{
	u64 word = smp_load_acquire(part_word(fs, kind, part)); /* REDO */
	const struct mios_pool_record *record = record_of(fs, word);
	u8 *memory;

	if (!record || READ_ONCE(record->object) != object_of(kind, part))
		return NULL;
	memory = memory_of(fs, word);
	WRITE_ONCE(fs->parts->at[kind][part], memory);
	return memory;
}

/* The word of an extent, 0: there is no such one, or another one is first there. */
static u64 word_of(const struct mios_fs *fs, u64 phys)
{
	int section = mios_pool_section(fs->pool, phys);
	u64 from;

	if (section < 0)
		return 0;
	from = phys - fs->pool->section[section].base;
	return upper_lower(section, from / MIOS_EXTENT_SIZE);
}

/* Of a kind there are no more, the first one included. */
static u64 parts_max(enum mios_fs_kind kind)
{
	if (kind == MIOS_FS_USERS_KIND)
		return 2;
	return kind == MIOS_FS_SEGMENTS_KIND ? MIOS_SEGMENT_PARTS :
	       MIOS_FS_PARTS;
}

static u64 kind_of(u64 object)
{
	return (object & ~MIOS_FS_PART) >> MIOS_FS_PART_KIND;
}

/* KEEP: is the extent where @phys is the part that it says it is? */
bool mios_part_is_named(const struct mios_fs *fs, u64 phys, u64 object)
{
	u64 kind = kind_of(object), word = word_of(fs, phys);
	u32 part = object;

	return object & MIOS_FS_PART && kind < MIOS_FS_KINDS && part &&
	       part < parts_max(kind) && (u32)word &&
	       READ_ONCE(*part_word(fs, kind, part)) == word;
}

/* What lies behind that in a part are columns, each of one instance's own. */
static u64 changed_end(enum mios_fs_kind kind)
{
	if (kind == MIOS_FS_SEGMENTS_KIND)
		return MIOS_FS_PART_SEGMENTS * sizeof(struct mios_fs_segment);
	if (kind == MIOS_FS_USERS_KIND)
		return MIOS_FS_USERS * sizeof(struct mios_fs_user);
	return MIOS_EXTENT_SIZE;
}

u64 *mios_part_word(const struct mios_fs *fs, u64 phys)
{
	u64 page = phys & ~(MIOS_FS_PAGE - 1ull);
	const struct mios_pool_record *record = record_of(fs, word_of(fs, page));
	u64 object = record ? READ_ONCE(record->object) : 0;

	if (phys % sizeof(u64) || !mios_part_is_named(fs, page, object))
		return NULL;
	if (phys % MIOS_EXTENT_SIZE >= changed_end(kind_of(object)))
		return NULL;
	return (u64 *)((u8 *)mios_pool_memory(fs->pool, page) + phys - page);
}

static u64 number_after(enum mios_fs_kind kind, u64 number)
{
	u64 first = kind == MIOS_FS_ENTRIES ? MIOS_FS_PART_ENTRIES_AT : 0;

	if (++number == MIOS_FS_FIRST)
		return MIOS_FS_PART_NUMBERS + first;
	return number % MIOS_FS_PART_NUMBERS ? number : number + first;
}

static bool number_exists(const struct mios_fs *fs, enum mios_fs_kind kind,
			  u64 number)
{
	return mios_fs_at(fs, kind, number) != fs->parts->at[kind][0];
}

/* Where a free one has the next. */
static u64 *link_of(const struct mios_fs *fs, enum mios_fs_kind kind,
		    u64 number)
{
	return kind == MIOS_FS_INODES ? &inode_at(fs, number)->next :
	       &entry_at(fs, number)->next;
}

static void used_set(struct mios_fs *fs, enum mios_fs_kind kind, int more)
{
	u64 *used = &fs->super->table[kind].used;

	if (inject_used_relative)
		WRITE_ONCE(*used, READ_ONCE(*used) + more);
	else
		mios_tx_put(fs, used, mios_tx_get(fs, used) + more);
}

u64 mios_number_take(struct mios_fs *fs, enum mios_fs_kind kind)
{
	struct mios_fs_table *table = &fs->super->table[kind];
	u64 number = mios_tx_get(fs, &table->free);

	if (number_exists(fs, kind, number)) {
		mios_tx_put(fs, &table->free,
			    (u32)mios_tx_get(fs, link_of(fs, kind, number)));
	} else {
		number = mios_tx_get(fs, &table->fresh);
		if (!number_exists(fs, kind, number)) {
			fs->wants = kind + 1;
			return 0;
		}
		mios_tx_put(fs, &table->fresh, number_after(kind, number));
	}
	used_set(fs, kind, 1);
	return number;
}

void mios_number_give(struct mios_fs *fs, enum mios_fs_kind kind, u64 number)
{
	u64 *free = &fs->super->table[kind].free;

	mios_tx_put(fs, link_of(fs, kind, number), mios_tx_get(fs, free));
	mios_tx_put(fs, free, number);
	used_set(fs, kind, -1);
}

static bool has_free(const struct mios_fs *fs, enum mios_fs_kind kind)
{
	const struct mios_fs_table *table = &fs->super->table[kind];

	if (kind == MIOS_FS_USERS_KIND)
		return READ_ONCE(table->parts) > 1;
	if (kind == MIOS_FS_SEGMENTS_KIND)
		return mios_segments_are_free(fs);
	return number_exists(fs, kind, READ_ONCE(table->free)) ||
	       number_exists(fs, kind, READ_ONCE(table->fresh));
}

static void memory_clear(u8 *memory)
{
	u32 i;

	for (i = 0; i < MIOS_EXTENT_PAGES; i++) {
		page_clear(memory + (size_t)i * MIOS_FS_PAGE);
		cond_resched();
	}
}

/* With the lock.  -EEXIST: somebody else has done it meanwhile. */
static int part_link(struct mios_fs *fs, enum mios_fs_kind kind,
		     const struct mios_page *page)
{
	struct mios_fs_table *table = &fs->super->table[kind];
	u64 part = READ_ONCE(table->parts);
	int err;

	if (has_free(fs, kind) && !inject_link_twice)
		return -EEXIST;
	if (!part || part >= parts_max(kind))
		return -ENOSPC;
	/* KEEP: where it is found, then that it is found there. */
	err = mios_pool_object(fs->pool, page, object_of(kind, part));
	if (err)
		return err;
	mios_tx_put(fs, part_word(fs, kind, part), word_of(fs, page->phys));
	mios_tx_put(fs, &table->parts, part + 1);
	mios_tx_apply(fs);
	mios_fs_stop_grow(2);
	return 0;
}

/* Cleared without the lock: that takes a while. */
static int part_add(struct mios_fs *fs, enum mios_fs_kind kind)
{
	struct mios_page page;
	int err = mios_pool_alloc_huge(fs->pool, &page);

	if (err)
		return err == -ENOMEM ? -ENOSPC : err;
	if (!inject_link_early)
		memory_clear(mios_pool_memory(fs->pool, page.phys));
	mios_fs_stop_grow(1);
	err = mios_tx_begin(fs);
	if (!err) {
		err = part_link(fs, kind, &page);
		mios_tx_end(fs);
	}
	if (err) {
		mios_pool_free(fs->pool, &page);
		return err == -EEXIST ? 0 : err;
	}
	mios_pool_keep(fs->pool, &page);
	if (inject_link_early)
		memory_clear(mios_pool_memory(fs->pool, page.phys));
	return 0;
}

bool mios_part_grown(struct mios_fs *fs, int *err)
{
	u32 wants = fs->wants;

	if (*err != -ENOSPC || !wants)
		return false;
	*err = part_add(fs, wants - 1);
	return !*err;
}

/* Of a kind, the first one included. */
static u64 parts_of(const struct mios_fs *fs, enum mios_fs_kind kind)
{
	u64 parts = READ_ONCE(fs->super->table[kind].parts);

	return parts < parts_max(kind) ? parts : parts_max(kind);
}

u64 mios_fs_extents(const struct mios_fs *fs)
{
	u64 extents = 1;
	u32 kind;

	/* The first one is a part of each kind. */
	for (kind = 0; kind < MIOS_FS_KINDS; kind++)
		extents += parts_of(fs, kind) - 1;
	return extents;
}

static u64 numbers_left(const struct mios_fs *fs, enum mios_fs_kind kind)
{
	u64 each = kind == MIOS_FS_INODES ? MIOS_FS_PART_NUMBERS :
		   MIOS_FS_PART_NUMBERS - MIOS_FS_PART_ENTRIES_AT;
	u64 all = MIOS_FS_FIRST - 1 + (parts_of(fs, kind) - 1) * each;
	u64 used = READ_ONCE(fs->super->table[kind].used);

	return used < all ? all - used : 0;
}

u64 mios_fs_files(const struct mios_fs *fs, u64 *more)
{
	u64 entries = numbers_left(fs, MIOS_FS_ENTRIES);

	*more = numbers_left(fs, MIOS_FS_INODES);
	if (*more > entries)
		*more = entries;
	return READ_ONCE(fs->super->table[MIOS_FS_INODES].used);
}

u64 mios_fs_inode_next(const struct mios_fs *fs, u64 number)
{
	u64 next = number_after(MIOS_FS_INODES, number);

	return next < READ_ONCE(fs->super->table[MIOS_FS_INODES].fresh) &&
	       number_exists(fs, MIOS_FS_INODES, next) ? next : 0;
}
