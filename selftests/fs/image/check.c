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
	u64 pages;		/* that indices name, of all levels */
	u64 own;		/* of one file, those of its index not counted */
	bool locks[MIOS_FS_FILELOCKS];	/* each has been met */
};

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
	struct mios_fs_super *super = c->fs->super;
	u32 i;

	check_lock(&c->fs->lock);
	NEED(!(super->sequence & 1));
	for (i = 0; i < MIOS_FS_INSTANCES; i++)
		NEED(!redo_of(c->fs, i)->count);
}

static void check_chain(struct checker *c, u64 bucket)
{
	u64 *head = bucket_at(c->fs, bucket), at;

	for (at = *head; at; at = entry_at(c->fs, at)->next) {
		struct mios_fs_entry *entry;
		struct mios_fs_name name;
		u64 dir;

		NEED(at < c->fs->nr_entries);
		NEED(!c->entry[at]++);
		entry = entry_at(c->fs, at);
		dir = (u32)entry->parent;
		name.text = (const char *)entry->name;
		name.length = entry->parent >> 32;
		NEED(name.length && name.length <= MIOS_FS_NAME);
		NEED(inode_exists(c->fs, dir));
		NEED(is_directory(inode_at(c->fs, dir)->mode));
		NEED(entry->hash == mios_name_hash(dir, &name));
		NEED(bucket_at(c->fs, entry->hash) == head);
		NEED(inode_exists(c->fs, entry->inode));
		NEED(inode_at(c->fs, entry->inode)->id);
		c->names[entry->inode]++;
		if (is_directory(inode_at(c->fs, entry->inode)->mode)) {
			NEED(inode_at(c->fs, entry->inode)->parent == dir);
			c->subdirs[dir]++;
		} else {
			NEED(inode_at(c->fs, entry->inode)->parent >>
			     MIOS_FS_MAKER_EPOCH);
		}
	}
}

static void check_free(struct checker *c)
{
	struct mios_fs *fs = c->fs;
	u64 at;

	for (at = fs->super->free_entry; at; at = entry_at(fs, at)->next) {
		NEED(at < fs->nr_entries);
		NEED(!c->entry[at]++);
		NEED(!entry_at(fs, at)->parent);
	}
	for (at = 1; at < fs->nr_entries; at++)
		NEED(c->entry[at]);
	for (at = fs->super->free_inode; at; at = inode_at(fs, at)->next) {
		NEED(at < fs->nr_inodes);
		NEED(!c->inode[at]++);
		NEED(!inode_at(fs, at)->id && !inode_at(fs, at)->root);
		NEED(!inode_at(fs, at)->cutter);
	}
	for (at = 1; at < fs->nr_inodes; at++)
		NEED(c->inode[at] == !inode_at(fs, at)->id);
}

/* Each is the one name of its file. */
static void check_segments(struct checker *c)
{
	const struct mios_fs_segment *s = (void *)((u8 *)c->fs->super +
						   MIOS_FS_SEGMENTS_AT);
	u32 i;

	for (i = 0; i < MIOS_FS_SEGMENTS; i++) {
		if (!s[i].inode)
			continue;
		NEED(inode_exists(c->fs, s[i].inode));
		NEED(inode_at(c->fs, s[i].inode)->id);
		NEED(!c->names[s[i].inode]++);
		NEED(!(s[i].mode & ~01777ull));
		NEED(!s[i].freeing);
	}
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
		     (inode->cut && index >= inode->cut - 1) ||
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
	if (is_directory(inode->mode))
		NEED(nlink == (c->names[number] || number == MIOS_FS_ROOT ?
			       2 + c->subdirs[number] : 0));
	else
		NEED(nlink == c->names[number]);
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
	NEED(usage.kept == c->pages + c->fs->size / MIOS_POOL_PAGE);
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
	NEED(!lock->reserved);
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
	u64 at;

	memset(c->locks, 0, sizeof(c->locks));
	for (at = 0; at < MIOS_FS_FILELOCK_CHAINS; at++)
		check_lock_chain(c, at);
	for (at = table->free; at; at = table->lock[at].next) {
		NEED(at < MIOS_FS_FILELOCKS);
		NEED(!c->locks[at]);
		c->locks[at] = true;
		NEED(!table->lock[at].file);
	}
	for (at = 1; at < MIOS_FS_FILELOCKS; at++)
		NEED(c->locks[at]);
}

static void check_all(struct checker *c, u64 live)
{
	u64 i;

	check_super(c);
	for (i = 0; i < MIOS_FS_BUCKETS; i++)
		check_chain(c, i);
	check_free(c);
	check_segments(c);
	check_filelocks(c);
	for (i = 1; i < c->fs->nr_inodes; i++)
		check_inode(c, i, live);
	check_pool(c);
}

const char *fs_check(struct mios_fs *fs, u64 live)
{
	static struct checker c;

	c.fs = fs;
	c.pages = 0;
	c.entry = calloc(fs->nr_entries, sizeof(*c.entry));
	c.inode = calloc(fs->nr_inodes, sizeof(*c.inode));
	c.names = calloc(fs->nr_inodes, sizeof(*c.names));
	c.subdirs = calloc(fs->nr_inodes, sizeof(*c.subdirs));
	wrong = c.entry && c.inode && c.names && c.subdirs ? NULL : "no memory";
	if (!wrong && !setjmp(stop))
		check_all(&c, live);
	free(c.subdirs);
	free(c.names);
	free(c.inode);
	free(c.entry);
	return wrong;
}
