/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of miosfs share: a machine of four instances. */
#ifndef _FSTEST_H
#define _FSTEST_H

#include "../../../mios/memory/fs/filelock.h"
#include "../../../mios/memory/fs/fs.h"
#include "../pool/test.h"
#include "check.h"

#define FS_EXTENTS	4
#define FAR_EXTENTS	2
#define FAR_BASE	(BASE << 1)
#define VIEWS		4

/**
 * struct world - a pool, a file system in it, and who sees them
 * @memory:	of the pool's first section, which is nearer to instances 0 and 2
 * @extents:	of it
 * @far:	of the other one, which is nearer to 1 and 3
 * @pool, @fs, @parts, @source: of each instance
 * @image:	physical address of the image
 */
struct world {
	u8 *memory;
	u32 extents;
	u8 *far;
	struct mios_pool pool[VIEWS];
	struct mios_fs fs[VIEWS];
	struct mios_fs_parts *parts[VIEWS];
	struct mios_source source[VIEWS];
	u64 image;
};

void world_make(struct world *w);
void world_make_of(struct world *w, u32 extents);
void world_forget(struct world *w);
void world_release(struct world *w, u32 self);

/* Nobody waits for the lock, or has it. */
void world_locks(struct world *w);

/* Forget cursors, and what a view had under way. */
void world_views(struct world *w);

/* Where the explorer is from now on. */
void world_explore(struct world *w);

/* Does @what, of one instance, die before store number @at of it? */
bool fs_dies(void (*what)(void), unsigned long at);

struct mios_fs_name fs_name(const char *text);
struct mios_fs_attr fs_attr(u32 mode);

/* As one who may do anything has judged them. */
struct mios_fs_judged fs_judged(const struct mios_fs *fs, u64 inode);
struct mios_fs_place fs_place(const struct mios_fs *fs, u64 dir,
			      const char *name);

/* These must succeed. */
u64 fs_make(struct mios_fs *fs, u64 dir, const char *name, u32 mode);
u64 fs_find(struct mios_fs *fs, u64 dir, const char *name);
void fs_size(struct mios_fs *fs, u64 inode, u64 size);

/* Another file with one page has the attributes of @inode, or none. */
void fs_attributes(struct world *w, u32 self, u64 inode, bool some);
u8 *fs_page(struct world *w, u32 self, u64 inode, u64 index);

/* mios_fs_page(), until there is one, or none; nothing is wished, or this. */
int fs_fault(struct mios_fs *fs, struct mios_source *from, u64 inode, u64 index,
	     u64 *phys);
int fs_fault_at(struct mios_fs *fs, struct mios_source *from, u64 policy,
		u64 inode, u64 index, u64 *phys);

/*
 * All that is to be removed, by whoever has become the cutter; what lies at
 * @pinned is not freed.  How many pages were.
 */
u64 fs_cut(struct world *w, u32 self, u64 inode, u64 pinned);
#define NO_PIN	(~0ull)

/* One and another have a page each, in a file without a name, as long as that is open. */
void fs_users(struct world *w, u32 self, u64 dir);

/* Free a file, or what a death leaves: all of it. */
int fs_reap(struct mios_fs *fs, u64 inode);
int fs_recover(struct mios_fs *fs, u32 instance, u32 epoch);

/* Segments that are to go, with their files; the same for one. */
int fs_sweep(struct mios_fs *fs);
int fs_segment_remove(struct mios_fs *fs, u32 slot,
		      const struct mios_fs_seg *judged);

/* The whole tree in words; in @text. */
void fs_describe(struct mios_fs *fs, char *text, size_t size);

#define WHOLE(fs, live) do {						\
	const char *bad_ = fs_check(fs, live);				\
	if (bad_) {							\
		fprintf(stderr, "%s:%d: failed: whole: %s\n", __FILE__,	\
			__LINE__, bad_);				\
		exit(1);						\
	}								\
} while (0)

/*
 * What an instance remembers of some names and files; and does all of that which it
 * still believes hold?  How many names it believes.
 */
void believed_take(struct mios_fs *fs);
unsigned long believed_hold(struct mios_fs *fs);

/* The explorer looks at the sequences of /, /a, /b and /bb. */
void believed_hot(const struct mios_fs *fs);

void test_names(void);
void test_files(void);
void test_segments(void);
void test_rights(void);
void test_exchange(void);
void test_bounds(void);
void test_attributes(void);
void test_filelocks(void);
void test_filelock_shares(void);
void test_filelocks_random(u64 seed, unsigned long steps);
void test_faults(void);
void test_believed(void);
void test_places(void);
void test_shares(void);
void test_large(void);
void test_large_kills(void);
void test_kills(u64 seed);
void test_grow(u64 seed);
void test_grow_explore(unsigned int preemptions);
void test_fs_garbage(u64 seed, unsigned long rounds);
void test_fs_explore(unsigned int preemptions);

#endif
