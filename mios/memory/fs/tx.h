/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the image, for the files of mios/memory/fs/.
 *
 * Ordering, by name:
 *   REDO	who changes: the stores of its record, then release of ->count,
 *		then the words themselves, then ->count = 0, then the lock; who
 *		recovers: the lock, then ->count, then the words.  A change whose
 *		count is there is finished by whoever has the lock next.
 *   SEQ	who changes: all sequences of the change odd, the words, all of them
 *		even; who reads: the one of what he reads, the same backwards, and
 *		again if it was odd or is another one.  So of two things that one
 *		change makes others nobody finds the first new and the second old:
 *		the second's sequence is odd by then, or another one.
 *   LOCK	who hands the lock on has stored before, who gets it loads after
 *		(CHAIN of mios/memory/lock/place.h).
 *   OPEN	who opens: ->open, then ->cutter; who reaps: ->cutter, then
 *		->open.  One of the two sees the other; both may, and give way.
 *   LAST	who takes the last name: ->mode, then ->open; who closes it last:
 *		->open, then ->mode.  One of the two sees that both are gone.
 *		Who unlinks closes it himself later; a segment's end does not.
 *   ATTACH	who attaches a segment: own count, then ->freeing; who frees
 *		it: ->freeing, then all counts; as OPEN.
 *   SIZE	who publishes a page: its place in the index, then ->size; who
 *		shortens: ->size, then all places beyond.  One of them sees that
 *		it is too much.
 *   HOLE	the same with ->hole.
 *   MAP	who maps a page that is there: the page's lock in its kernel, then
 *		->size, ->hole and the place, then the page table, then the lock
 *		is let go; who removes it: ->size or ->hole, then, asked for it in
 *		each kernel, the same lock, the page table, and the lock is let
 *		go.  Who has the lock first is in the page table when the other
 *		unmaps; who has it second sees the size or hole, and maps nothing.
 *		Neither writes what another CPU reads but the page's own lock.
 *   PIN	who copies from a page: its reference, then ->size, ->hole and the
 *		place; who removes it: ->size or ->hole, then the count of
 *		references.  One of the two sees the other, so that no page is
 *		freed which somebody copies.
 *   LEFT	who leaves a page beyond the end: its place, then ->left, each
 *		time to another value; who clears ->left: its value, all places
 *		beyond, then from that value.
 *   COUNT	who takes a page: the count of who pays for the file, then the
 *		page; who gives it back: the page, then the count.  Both have the
 *		file open, or free it, so that it is among the files of who pays
 *		for it until they are done.  Who recovers a page from the dead
 *		leaves the count: it is too large then, never too small.
 *   LARGE	who maps a large page: a lock of the file in its kernel, shared, then
 *		->size, ->hole and all 512 places, then the page table, then the
 *		lock is let go; who removes any of them: ->size or ->hole, then,
 *		asked for it in each kernel, the same lock, alone, for a moment,
 *		then the page table.  As MAP; no reference says that it is mapped.
 *   INDEX	who publishes: zeroes the page, then its place; who finds it there
 *		finds zeroes.
 */
#ifndef _MIOS_FS_TX_H
#define _MIOS_FS_TX_H

#include "fs.h"

/* How often a reader looks again before the caller has to. */
#define READ_TRIES	64

/* More names are in no bucket, but where somebody has erred. */
#define MIOS_CHAIN_MAX	4096

static inline struct mios_fs_redo *redo_of(const struct mios_fs *fs,
					   u32 instance)
{
	return (void *)((u8 *)fs->super + MIOS_FS_REDO_AT +
			(size_t)instance * MIOS_FS_PAGE);
}

static inline struct mios_fs_filelocks *filelocks_of(const struct mios_fs *fs)
{
	return (void *)((u8 *)fs->super + MIOS_FS_FILELOCKS_AT);
}

static inline struct mios_fs_sequences *sequences_of(const struct mios_fs *fs)
{
	return (void *)((u8 *)fs->super + MIOS_FS_SEQUENCES_AT);
}

static inline u64 *sequence_of_name(const struct mios_fs *fs, u64 hash)
{
	return &sequences_of(fs)->name[hash % MIOS_FS_GROUPS];
}

static inline u64 *sequence_of_file(const struct mios_fs *fs, u64 inode)
{
	return &sequences_of(fs)->file[inode % MIOS_FS_GROUPS];
}

static inline u64 *sequence_of_segments(const struct mios_fs *fs)
{
	return &fs->super->sequence;
}

static inline bool inode_exists(const struct mios_fs *fs, u64 inode)
{
	return inode_at(fs, inode) != inode_at(fs, 0);
}

static inline bool entry_exists(const struct mios_fs *fs, u64 entry)
{
	return entry_at(fs, entry) != entry_at(fs, 0);
}

static inline u32 mode_of(u64 word)
{
	return word;
}

static inline u32 nlink_of(u64 word)
{
	return word >> 32;
}

static inline bool is_directory(u64 word)
{
	return (word & MIOS_FS_TYPE) == MIOS_FS_DIRECTORY;
}

static inline bool is_device(u64 word)
{
	return (word & MIOS_FS_TYPE) == MIOS_FS_CHARACTERS ||
	       (word & MIOS_FS_TYPE) == MIOS_FS_BLOCKS;
}

static inline u64 upper_lower(u32 upper, u32 lower)
{
	return (u64)upper << 32 | lower;
}

/* How words that have two halves are changed. */
static inline u64 lower_set(u64 word, u32 lower)
{
	return upper_lower(word >> 32, lower);
}

static inline u64 upper_set(u64 word, u32 upper)
{
	return upper_lower(upper, word);
}

/* Pages that a file of so many bytes may have. */
static inline u64 size_pages(u64 size)
{
	return DIV_ROUND_UP(size, MIOS_FS_PAGE);
}

static inline bool is_in_hole(const struct mios_fs_inode *inode, u64 index)
{
	u64 hole = READ_ONCE(inode->hole);

	return index >= (u32)hole && index < hole >> 32;
}

/* tx.c */
int mios_tx_begin(struct mios_fs *fs);
u64 mios_tx_get(struct mios_fs *fs, const u64 *word);
void mios_tx_put(struct mios_fs *fs, u64 *word, u64 value);
void mios_tx_raise(struct mios_fs *fs, u64 *sequence);
u64 mios_tx_raised(const u64 *sequence);
void mios_tx_apply(struct mios_fs *fs);
void mios_tx_end(struct mios_fs *fs);
int mios_tx_finish(struct mios_fs *fs, int err);
int mios_tx_begin_recovery(struct mios_fs *fs);

/* SEQ: begin to read; whether it has to be done again */
u64 mios_read_begin(const u64 *sequence);
bool mios_read_again(const u64 *sequence, u64 begun);

/* name.c */
u64 mios_name_stamp(const struct mios_fs *fs, u64 dir,
		    const struct mios_fs_name *name);
bool mios_name_is(const struct mios_fs *fs, const struct mios_fs_entry *entry,
		  u64 dir, u64 hash, const struct mios_fs_name *name);

/* entry.c: with the lock; one for a new name, or 0, as mios_number_take() */
u64 mios_entry_take(struct mios_fs *fs);
void mios_entry_free(struct mios_fs *fs, u64 dir, u64 at);
/* Into its bucket, with its name; -ENOSPC: there is no room for all of that. */
int mios_entry_insert(struct mios_fs *fs, u64 at, u64 dir,
		      const struct mios_fs_name *name, u64 inode);
void mios_entry_unhook(struct mios_fs *fs, u64 *link, u64 at);
void mios_entry_rest_drop(struct mios_fs *fs, u64 at);
void mios_entry_list(struct mios_fs *fs, u64 dir, u64 at);
void mios_entry_unlist(struct mios_fs *fs, u64 dir, u64 at);

/* bucket.c: of names; the last two with the lock, and before the change begins */
u64 mios_name_hash(const struct mios_fs *fs, u64 dir,
		   const struct mios_fs_name *name);
u64 *mios_bucket_at(const struct mios_fs *fs, u64 hash);
void mios_buckets_grow(struct mios_fs *fs);

/* image_part.c: what lies at a physical address, if it is of a part; NULL: it is not */
u64 *mios_part_word(const struct mios_fs *fs, u64 phys);
bool mios_part_is_named(const struct mios_fs *fs, u64 phys, u64 object);

/* With the lock: a number that is free; 0: there is none, and ->wants says so. */
u64 mios_number_take(struct mios_fs *fs, enum mios_fs_kind kind);
void mios_number_give(struct mios_fs *fs, enum mios_fs_kind kind, u64 number);

/*
 * Without it: is what a change was refused for, @err, to be had now?  Then it is
 * to be tried again; else @err says why not.
 */
bool mios_part_grown(struct mios_fs *fs, int *err);

/* page.c: where a page of a file is found; NULL: its index is not there */
u64 *mios_index_slot(struct mios_fs *fs, u64 inode, u64 index);
/* The same, and the index is made; -EAGAIN: somebody else has just done so. */
int mios_index_reach(struct mios_fs *fs, struct mios_need *need, u64 inode,
		     u64 index, u64 **out);
/*
 * A page that is held, and counted, into a slot.  -EAGAIN: somebody else's is
 * there, or it has been taken; -ERANGE: it lies beyond the end by now, and stays
 * for the next cutter.
 */
int mios_page_put(struct mios_fs *fs, u64 inode, u64 index, u64 *slot,
		  struct mios_page *page);
bool mios_page_is_named(void *ctx, u64 phys, bool huge, u64 object);

/* place.c */
void mios_used_add(struct mios_fs *fs, u64 more);
int mios_page_place(struct mios_fs *fs, struct mios_need *need, u64 inode,
		    u64 index, struct mios_page *page);
/* Pages side by side, held, and counted as the file's; -EDQUOT, -ENOMEM. */
int mios_run_place(struct mios_fs *fs, struct mios_need *need, u64 inode,
		   u64 first, u64 *phys);

/* cut.c */
void mios_cutter_forget(struct mios_fs *fs, u64 inode, u32 instance, u32 epoch);

/* change.c: with the lock */
int mios_inode_make(struct mios_fs *fs, const struct mios_fs_attr *attr,
		    u32 links, u64 parent, u64 *number);
void mios_links_add(struct mios_fs *fs, u64 inode, int more);
u64 mios_inode_changed(struct mios_fs *fs, u64 inode, u64 now);

/* judged.c: with the lock */
int mios_judged_holds(struct mios_fs *fs, const struct mios_fs_judged *file);

/*
 * segment.c: with the lock; the next one that has gone: its file, or 0, and then
 * there are more to be looked at as long as mios_fs_segments() says so
 */
u64 mios_segment_sweep(struct mios_fs *fs, u32 *slot);
void mios_attached_forget(struct mios_fs *fs, u32 instance);
bool mios_segments_are_free(const struct mios_fs *fs);

/* The first one is in the first extent, and not as long as the others. */
#define MIOS_SEGMENT_PARTS	(1 + DIV_ROUND_UP(MIOS_FS_SEGMENTS - \
						  MIOS_FS_FIRST_SEGMENTS, \
						  MIOS_FS_PART_SEGMENTS))

/* open.c: with the lock */
int mios_inode_reap_begin(struct mios_fs *fs, u64 inode);
/* Another one whose freeing has been begun, or 0. */
u64 mios_inode_reap_end(struct mios_fs *fs, u64 inode);

/* filelock.c: with the lock; is there more? */
bool mios_filelocks_forget(struct mios_fs *fs, u32 instance, u32 epoch);

/* fs_inject.c: for tests */
#if defined(MIOS_INJECT) && defined(__KERNEL__)
void mios_fs_stop(void);
void mios_fs_stop_grow(unsigned int step);
#else
static inline void mios_fs_stop(void) { }
static inline void mios_fs_stop_grow(unsigned int step) { }
#endif

#endif /* _MIOS_FS_TX_H */
