// SPDX-License-Identifier: GPL-2.0
/*
 * Checks an image that nobody is changing: every entry and inode is in use or
 * free, names lead to what exists, counts of names are right, every page that
 * an index names is kept and says so, and no page is kept that none names; locks
 * of files are in one list each, and of those that are had none is in the way of
 * another one.
 * It uses the layout alone and, to find a page, mios_pool_memory().
 */
#include <setjmp.h>
#include <stdlib.h>

#include "../../../mios/memory/fs/tx.h"
#include "../../../mios/memory/lock/place.h"
#include "check.h"

#define NEED(condition) need(condition, #condition)

static jmp_buf stop;
static const char *wrong;

static void need(bool fine, const char *what)
{
	if (fine)
		return;
	wrong = what;
	longjmp(stop, 1);
}

struct checker {
	struct mios_fs *fs;
	u8 *entry;		/* how often each has been met */
	u8 *inode;
	u32 *names;		/* of each inode */
	u32 *subdirs;
	u32 *listed;		/* names in each directory */
	u64 entries;		/* that are in use */
	u64 all_names;
	u64 numbers[MIOS_FS_KINDS];	/* that there may be */
	u64 pages;		/* that indices name, of all levels */
	u64 own;		/* of one file, those of its index not counted */
	bool locks[MIOS_FS_FILELOCKS];	/* each has been met */
};

/* As the layout has it; its length has been looked at. */
static void name_text(const struct mios_fs *fs,
		      const struct mios_fs_entry *entry, char *text)
{
	u32 left = entry->parent >> 32;
	u32 part = left < MIOS_FS_ENTRY_NAME ? left : MIOS_FS_ENTRY_NAME;
	u64 next = entry->next;

	memcpy(text, entry->name, part);
	for (left -= part; left; left -= part) {
		const struct mios_fs_rest *rest = (void *)entry_at(fs, next >> 32);

		text += part;
		part = left < MIOS_FS_REST_NAME ? left : MIOS_FS_REST_NAME;
		memcpy(text, rest->name, part);
		next = rest->next;
	}
}

/* The lock is open, and nobody is in its queue. */
static void check_lock(const struct mios_qlock *lock)
{
	u32 i, open = 0;

	for (i = 0; i < lock->nr_places; i++) {
		u64 word = lock->header->place[i].word;

		NEED(place_state(word) <= MIOS_PLACE_OPEN && !(word & DIED));
		open += place_state(word) == MIOS_PLACE_OPEN;
	}
	NEED(open == 1);
}

static void check_super(struct checker *c)
{
	u32 i;

	check_lock(&c->fs->lock);
	NEED(fs_sequences_are_even(c->fs));
	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		NEED(!redo_of(c->fs, i)->count);
}

/* The rest of a long name, in the places of other entries. */
static void check_rest(struct checker *c, const struct mios_fs_entry *entry)
{
	u32 left = entry->parent >> 32;
	u64 at = entry->next >> 32;

	left -= left < MIOS_FS_ENTRY_NAME ? left : MIOS_FS_ENTRY_NAME;
	for (; left; at = entry_at(c->fs, at)->next >> 32) {
		NEED(entry_exists(c->fs, at));
		NEED(!c->entry[at]++);
		c->entries++;
		left -= left < MIOS_FS_REST_NAME ? left : MIOS_FS_REST_NAME;
	}
	NEED(!at);
}

static void check_name(struct checker *c, const struct mios_fs_entry *entry)
{
	struct mios_fs_name name = { .length = entry->parent >> 32 };
	static char text[MIOS_FS_NAME + 1];
	u64 dir = (u32)entry->parent;
	const struct mios_fs_inode *inode;

	NEED(name.length && name.length <= MIOS_FS_NAME);
	name_text(c->fs, entry, text);
	name.text = text;
	check_rest(c, entry);
	NEED(inode_exists(c->fs, dir));
	NEED(is_directory(inode_at(c->fs, dir)->mode));
	NEED(entry->hash == mios_name_hash(c->fs, dir, &name));
	NEED(inode_exists(c->fs, entry->inode));
	inode = inode_at(c->fs, entry->inode);
	NEED(inode->id);
	c->names[entry->inode]++;
	c->listed[dir]++;
	if (is_directory(inode->mode)) {
		NEED((u32)inode->parent == dir);
		c->subdirs[dir]++;
	} else {
		NEED((u32)inode->parent >> MIOS_FS_MAKER_EPOCH);
	}
}

static void check_chain(struct checker *c, u64 bucket)
{
	u64 *head = mios_bucket_at(c->fs, bucket), at;

	for (at = *head; at; at = (u32)entry_at(c->fs, at)->next) {
		const struct mios_fs_entry *entry = entry_at(c->fs, at);

		NEED(entry_exists(c->fs, at));
		NEED(!c->entry[at]++);
		c->entries++;
		c->all_names++;
		check_name(c, entry);
		NEED(mios_bucket_at(c->fs, entry->hash) == head);
	}
}

/* Names of a directory, in the order in which they came. */
static void check_list(struct checker *c, u64 dir)
{
	u64 at = inode_at(c->fs, dir)->pages, newer = 0, born = ~0ull;
	u32 nr = 0;

	for (; at; newer = at, at = (u32)entry_at(c->fs, at)->beside) {
		const struct mios_fs_entry *entry = entry_at(c->fs, at);

		NEED(entry_exists(c->fs, at));
		NEED((u32)entry->parent == dir);
		NEED(entry->beside >> 32 == newer);
		NEED(entry->born < born);
		born = entry->born;
		nr++;
	}
	NEED(nr == c->listed[dir]);
}

static void check_free_list(struct checker *c, enum mios_fs_kind kind, u8 *met)
{
	const struct mios_fs_table *table = &c->fs->super->table[kind];
	u64 at, next;

	for (at = table->free; at; at = next) {
		const struct mios_fs_inode *inode = inode_at(c->fs, at);

		NEED(at < table->fresh);
		NEED(mios_fs_at(c->fs, kind, at) != mios_fs_at(c->fs, kind, 0));
		NEED(!met[at]++);
		next = kind == MIOS_FS_INODES ? inode->next :
		       (u32)entry_at(c->fs, at)->next;
		if (kind == MIOS_FS_INODES)
			NEED(!inode->id && !inode->root && !inode->cutter);
	}
}

/* What has never been used is all 0, and so are buckets that nobody looks at. */
static void check_fresh(struct checker *c, enum mios_fs_kind kind)
{
	static const u8 zero[MIOS_FS_RECORD];
	u64 at, first = c->fs->super->table[kind].fresh;

	for (at = first; at < c->numbers[kind]; at++)
		if (mios_fs_at(c->fs, kind, at) != mios_fs_at(c->fs, kind, 0))
			NEED(!memcmp(mios_fs_at(c->fs, kind, at), zero,
				     sizeof(zero)));
}

/* A file that has extended attributes of another one: that is its only name. */
static void check_attributes(struct checker *c, u64 number)
{
	u64 at = inode_at(c->fs, number)->parent >> 32;

	if (!inode_at(c->fs, number)->id || !at || at & MIOS_FS_ATTRIBUTES_OF)
		return;
	NEED(inode_at(c->fs, at)->id && !c->names[at]++ &&
	     inode_at(c->fs, at)->parent >> 32 == (1ull << 31 | number));
}

static void check_free(struct checker *c)
{
	struct mios_fs_table *table = c->fs->super->table;
	u64 at, inodes = 0;

	check_free_list(c, MIOS_FS_ENTRIES, c->entry);
	check_free_list(c, MIOS_FS_INODES, c->inode);
	check_fresh(c, MIOS_FS_ENTRIES);
	check_fresh(c, MIOS_FS_INODES);
	for (at = 1; at < table[MIOS_FS_ENTRIES].fresh; at++)
		NEED(!entry_exists(c->fs, at) || c->entry[at]);
	for (at = 1; at < table[MIOS_FS_INODES].fresh; at++) {
		NEED(!inode_exists(c->fs, at) ||
		     c->inode[at] == !inode_at(c->fs, at)->id);
		inodes += inode_exists(c->fs, at) && !c->inode[at];
		check_attributes(c, at);
	}
	NEED(table[MIOS_FS_ENTRIES].used == c->entries);
	NEED(table[MIOS_FS_INODES].used == inodes);
	NEED(c->fs->super->names == c->all_names);
}

static const struct mios_fs_segment *segment_of(struct checker *c, u64 slot)
{
	const struct mios_fs_segment *s;
	u64 at = slot - MIOS_FS_FIRST_SEGMENTS;

	if (slot < MIOS_FS_FIRST_SEGMENTS)
		return (struct mios_fs_segment *)((u8 *)c->fs->super +
						  MIOS_FS_SEGMENTS_AT) + slot;
	NEED(slot < MIOS_FS_SEGMENTS);
	at = 1 + at / MIOS_FS_PART_SEGMENTS;
	s = c->fs->parts->at[MIOS_FS_SEGMENTS_KIND][at] ?:
	    mios_part_meet(c->fs, MIOS_FS_SEGMENTS_KIND, at);
	NEED(s);
	return s + (slot - MIOS_FS_FIRST_SEGMENTS) % MIOS_FS_PART_SEGMENTS;
}

/* Each is the one name of its file. */
static bool check_segment(struct checker *c, const struct mios_fs_segment *s)
{
	if (!s->inode)
		return false;
	NEED(inode_exists(c->fs, s->inode));
	NEED(inode_at(c->fs, s->inode)->id);
	NEED(!c->names[s->inode]++);
	NEED(!(s->mode & ~01777ull));
	NEED(!s->freeing);
	return true;
}

/* A list, each of which is one of those: how many. */
static u64 check_slots(struct checker *c, u64 at, bool used, u64 *last)
{
	u64 nr = 0;

	for (*last = 0; at; at = segment_of(c, at - 1)->next) {
		const struct mios_fs_segment *s = segment_of(c, at - 1);

		NEED(nr++ < c->fs->super->table[MIOS_FS_SEGMENTS_KIND].fresh);
		NEED(!!s->inode == used);
		NEED(!used || (u32)s->key);
		*last = at;
	}
	return nr;
}

/* Each that has a key is in a chain, and each that is free in the list of these. */
static void check_segments(struct checker *c)
{
	const struct mios_fs_table *table =
		&c->fs->super->table[MIOS_FS_SEGMENTS_KIND];
	const u64 *chain = (u64 *)((u8 *)c->fs->super + MIOS_FS_KEYS_AT);
	u64 i, used = 0, keys = 0, last;

	NEED(table->fresh <= MIOS_FS_SEGMENTS);
	for (i = 0; i < table->fresh; i++) {
		const struct mios_fs_segment *s = segment_of(c, i);

		used += check_segment(c, s);
		keys += s->inode && (u32)s->key;
	}
	NEED(table->used == used);
	for (i = 0; i < MIOS_FS_KEYS; i++)
		keys -= check_slots(c, chain[i], true, &last);
	NEED(!keys);
	NEED(check_slots(c, table->free, false, &last) == table->fresh - used);
	NEED(last == c->fs->super->last_segment);
}

static const struct mios_pool_record *record_of(struct mios_pool *pool,
						u64 phys)
{
	u32 i;

	for (i = 0; i < pool->nr_sections; i++)
		if (phys >= pool->section[i].base &&
		    (phys - pool->section[i].base) / MIOS_EXTENT_SIZE <
		    pool->section[i].nr_extents)
			return &pool->section[i].page[(phys -
				pool->section[i].base) / MIOS_POOL_PAGE];
	return NULL;
}

/* A page of an index, or of a file at level 0, and all below it. */
static void check_page(struct checker *c, u64 number, u64 phys, u32 level,
		       u64 index)
{
	const struct mios_pool_record *record = record_of(c->fs->pool, phys);
	const struct mios_fs_inode *inode = inode_at(c->fs, number);
	const u64 *slot = mios_pool_memory(c->fs->pool, phys);
	u64 span = 1, i;

	NEED(record && slot);
	NEED((record->word & 15) == MIOS_PAGE_KEPT);
	NEED(record->object == (number << MIOS_FS_OBJECT_INODE |
				(u64)level << MIOS_FS_OBJECT_LEVEL | index));
	c->pages++;
	if (!level) {
		c->own++;
		NEED(index < size_pages(inode->size) ||
		     ((u32)inode->cut && index >= (u32)inode->cut - 1) ||
		     ((u32)inode->left && index >= (u32)inode->left - 1));
		return;
	}
	for (i = 1; i < level; i++)
		span *= MIOS_FS_FANOUT;
	for (i = 0; i < MIOS_FS_FANOUT; i++)
		if (slot[i])
			check_page(c, number, slot[i], level - 1,
				   index + i * span);
}

static void check_inode(struct checker *c, u64 number, u64 live)
{
	const struct mios_fs_inode *inode = inode_at(c->fs, number);
	u32 nlink = nlink_of(inode->mode);
	u32 level = inode->root & 7;

	if (!inode->id)
		return;
	NEED(inode->id < c->fs->super->next_id);
	NEED(!(inode->open & ~live));
	NEED(nlink || inode->open);
	NEED(!inode->cutter);
	NEED(is_device(inode->mode) ||
	     (inode->next & MIOS_FS_POLICY_MODE) <= MIOS_FS_INTERLEAVE);
	if (is_directory(inode->mode)) {
		check_list(c, number);
		NEED(!inode->root);
		NEED(nlink == (c->names[number] || number == MIOS_FS_ROOT ?
			       2 + c->subdirs[number] : 0));
	} else {
		NEED(nlink == c->names[number]);
	}
	if (!inode->root)
		return;
	NEED(level && level <= MIOS_FS_LEVELS);
	c->own = 0;
	check_page(c, number, inode->root & ~4095ull, level, 0);
	/* Else programs take what is there for a hole. */
	NEED(inode->pages >= c->own);
}

static void check_pool(struct checker *c)
{
	static struct mios_pool_usage usage;
	u32 i;

	mios_pool_usage(c->fs->pool, &usage);
	for (i = 0; i < MIOS_POOL_INSTANCES; i++)
		NEED(!usage.held[i]);
	NEED(usage.kept == c->pages +
	     mios_fs_extents(c->fs) * MIOS_EXTENT_PAGES);
}

static void check_filelock(struct checker *c,
			   const struct mios_fs_filelock *lock)
{
	u32 inode = lock->file, flags = lock->file >> 32;
	u32 kind = flags & ~(MIOS_FS_FILELOCK_EXCLUSIVE |
			     MIOS_FS_FILELOCK_WAITS);
	u64 id;

	NEED(inode_exists(c->fs, inode));
	/* Its file, or one that has gone. */
	NEED(lock->id && lock->id < c->fs->super->next_id);
	id = inode_at(c->fs, inode)->id;
	NEED(!id || id >= lock->id);
	NEED(kind == MIOS_FS_FILELOCK_FLOCK || kind == MIOS_FS_FILELOCK_POSIX ||
	     kind == MIOS_FS_FILELOCK_OFD);
	NEED(lock->first <= lock->last);
	NEED(lock->ticket && lock->ticket < filelocks_of(c->fs)->ticket);
	NEED((lock->who & 0xff) < MIOS_FS_INSTANCES);
}

/* Had by two, and one of them wants to be alone there. */
static bool locks_conflict(const struct mios_fs_filelock *a,
			   const struct mios_fs_filelock *b)
{
	u32 kinds = MIOS_FS_FILELOCK_FLOCK | MIOS_FS_FILELOCK_POSIX |
		    MIOS_FS_FILELOCK_OFD;
	u32 one = a->file >> 32, two = b->file >> 32;

	if ((u32)a->file != (u32)b->file || a->id != b->id ||
	    (one ^ two) & MIOS_FS_FILELOCK_FLOCK ||
	    (one | two) & MIOS_FS_FILELOCK_WAITS)
		return false;
	if (a->who == b->who && a->owner == b->owner && !((one ^ two) & kinds))
		return false;
	return a->first <= b->last && b->first <= a->last &&
	       (one | two) & MIOS_FS_FILELOCK_EXCLUSIVE;
}

static void check_lock_chain(struct checker *c, u32 chain)
{
	const struct mios_fs_filelocks *table = filelocks_of(c->fs);
	u64 at, other;

	for (at = table->chain[chain]; at; at = table->lock[at].next) {
		const struct mios_fs_filelock *lock = &table->lock[at];

		NEED(at < MIOS_FS_FILELOCKS);
		NEED(!c->locks[at]);
		c->locks[at] = true;
		check_filelock(c, lock);
		NEED((u32)lock->file % MIOS_FS_FILELOCK_CHAINS == chain);
		for (other = table->chain[chain]; other != at;
		     other = table->lock[other].next)
			NEED(!locks_conflict(lock, &table->lock[other]));
	}
}

static void check_filelocks(struct checker *c)
{
	const struct mios_fs_filelocks *table = filelocks_of(c->fs);
	u64 at, taken = MIOS_FS_FILELOCKS - 1;

	memset(c->locks, 0, sizeof(c->locks));
	for (at = 0; at < MIOS_FS_FILELOCK_CHAINS; at++)
		check_lock_chain(c, at);
	for (at = (u32)table->free; at; at = table->lock[at].next, taken--) {
		NEED(at < MIOS_FS_FILELOCKS);
		NEED(!c->locks[at]);
		c->locks[at] = true;
		NEED(!table->lock[at].file);
	}
	NEED(table->free >> 32 == taken);
	for (at = 1; at < MIOS_FS_FILELOCKS; at++)
		NEED(c->locks[at]);
}

static void check_all(struct checker *c, u64 live)
{
	u64 i;

	check_super(c);
	NEED(c->fs->super->buckets >= MIOS_FS_BUCKETS);
	for (i = 0; i < c->fs->super->buckets; i++)
		check_chain(c, i);
	check_free(c);
	check_segments(c);
	check_filelocks(c);
	for (i = 1; i < c->fs->super->table[MIOS_FS_INODES].fresh; i++)
		if (inode_exists(c->fs, i))
			check_inode(c, i, live);
	check_pool(c);
}

const char *fs_check(struct mios_fs *fs, u64 live)
{
	static struct checker c;
	u64 excess, i;

	c = (struct checker) { .fs = fs };
	for (i = 0; i < MIOS_FS_KINDS; i++)
		c.numbers[i] = fs->super->table[i].parts <<
			       MIOS_FS_PART_SHIFT;
	c.entry = calloc(c.numbers[MIOS_FS_ENTRIES], sizeof(*c.entry));
	c.inode = calloc(c.numbers[MIOS_FS_INODES], sizeof(*c.inode));
	c.names = calloc(3 * c.numbers[MIOS_FS_INODES], sizeof(*c.names));
	c.subdirs = c.names + c.numbers[MIOS_FS_INODES];
	c.listed = c.subdirs + c.numbers[MIOS_FS_INODES];
	wrong = c.entry && c.inode && c.names ? NULL : "no memory";
	if (!wrong && !setjmp(stop))
		check_all(&c, live);
	wrong = wrong ?: fs_check_shares(fs, &excess);
	free(c.names);
	free(c.inode);
	free(c.entry);
	return wrong;
}
