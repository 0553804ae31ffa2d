/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mios/memory/fs/ offers: files whose names, attributes and pages lie in a
 * pool and are the same for every instance.  Portable, as mios/memory/pool/ is:
 * allocates nothing.  Look-ups and pages take no lock, and never sleep.
 * Changes of names and attributes take one that is the machine's, a queue lock:
 * they wait as the caller has said, and -EBUSY says that it was late; of one
 * instance only one caller at a time may be in a change, and one more in a
 * recovery.
 */
#ifndef _MIOS_FS_H
#define _MIOS_FS_H

#include "../lock/lock.h"
#include "../pool/pool.h"

#include "names.h"
#include "segment.h"

#include <mios/fs.h>

struct mios_fs_parts;

/**
 * struct mios_fs - the file system as this instance sees it
 * @pool:	where image and pages are
 * @super:	the first extent of the image, at @phys
 * @parts:	of the image, as far as this instance has met them; of the caller
 * @key:	of the hash of names, a copy
 * @near:	the sections of the pool, the nearest to this instance first; where
 *		they lie in the pool, unless somebody says otherwise
 * @limit:	no page is taken for a file while all have as many as that; 0: none
 * @files:	no file is made while there are as many as that; 0: none
 * @later:	has a later boot of that instance begun than this one?  NULL: no
 * @exempt:	may who asks have more than a user's share?  NULL: nobody may
 * @stores:	of the change that is being made: what is in the redo record
 * @too_many:	it does not fit in there
 * @wants:	of which kind it has found no free number: that, plus 1
 * @lock:	the lock as changes see it; ->wait and ->ctx are the caller's
 * @recovery:	the same, as mios_fs_recover() does: it waits at a seat of its own
 * @holder:	the one of them that has it
 */
struct mios_fs {
	struct mios_pool *pool;
	struct mios_fs_super *super;
	u64 phys;
	struct mios_fs_parts *parts;
	u64 key[2];
	u8 near[MIOS_POOL_SECTIONS];
	u64 limit;
	u64 files;
	bool (*later)(u32 instance, u32 epoch);
	bool (*exempt)(void);
	u32 stores;
	bool too_many;
	u32 wants;
	struct mios_qlock lock;
	struct mios_qlock recovery;
	struct mios_qlock *holder;
};

#include "image_part.h"

/* A name; not ended by 0. */
struct mios_fs_name {
	const char *text;
	u32 length;
};

/**
 * struct mios_fs_attr - attributes of a file
 * @id:		never the same for two files
 * @mode, @nlink, @uid, @gid, @size, @atime, @mtime, @ctime: as in stat(2)
 * @parent:	of a directory; of a file: who has made it
 * @policy:	of a new file: where its pages are to be
 * @rdev:	of a device file: which device
 * @holder_of:	of a new file: 0, or whose attributes it holds, and whose payer pays
 * @sequence:	mios_fs_sequence() of it when all this was so
 */
struct mios_fs_attr {
	u64 id;
	u32 mode;
	u32 nlink;
	u32 uid;
	u32 gid;
	u64 size;
	u64 atime;
	u64 mtime;
	u64 ctime;
	u64 parent;
	u64 policy;
	u64 rdev;
	u64 holder_of;
	u64 sequence;
};

/* image.c */

/**
 * mios_fs_format() - make an empty file system
 * @image: where the image is mapped: an extent of a pool, all 0
 * @phys: its physical address
 * @attr: mode, uid, gid and times of the root directory
 * @key: random: of the hash of names
 */
int mios_fs_format(void *image, u64 phys, const struct mios_fs_attr *attr,
		   const u64 key[2]);

/*
 * 0; -EBADMSG: no file system, or damaged; -EPROTO: of another version.  Before
 * its first change the caller says how to wait for the lock.  @parts: all 0.
 */
int mios_fs_attach(struct mios_fs *fs, struct mios_pool *pool, void *image,
		   u64 phys, struct mios_fs_parts *parts);

/* tx.c.  Nothing changes from now on, until mios_fs_moves(); -EBUSY: it was late. */
int mios_fs_still(struct mios_fs *fs);

/* Returns @found. */
int mios_fs_moves(struct mios_fs *fs, int found);

/*
 * Who makes a change has judged before whether he may, and other instances have
 * gone on since: so each change carries what it rests on, which is looked at with
 * the lock.  -EAGAIN: it is no more so, look and judge once more; -ESTALE: it is
 * another file; -EPERM: what a name leads to is, by its owner.
 */
enum mios_fs_by {
	MIOS_FS_BY_ID = 1,	/* it is this file */
	MIOS_FS_BY_UID = 2,
	MIOS_FS_BY_GID = 4,
	MIOS_FS_BY_MODE = 8,	/* permissions, and bits as the sticky one */
	MIOS_FS_BY_ALL = 15,
	MIOS_FS_BY_NONE = 16,	/* there is no such name */
};

/**
 * struct mios_fs_judged - a file that has been judged
 * @inode: its number
 * @id, @uid, @gid, @mode: as they were
 * @by: MIOS_FS_BY_*: on which of these it rests; 0: what a name leads to may have
 *	become another file
 */
struct mios_fs_judged {
	u64 inode;
	u64 id;
	u32 uid;
	u32 gid;
	u32 mode;
	u32 by;
};

/**
 * struct mios_fs_place - a name, as its directory has been judged
 * @dir: the directory
 * @name: in it
 * @file: what it leads to; ->inode: out: what it did
 * @stamp: out of mios_fs_make(): of the name, as it has been made
 */
struct mios_fs_place {
	struct mios_fs_judged dir;
	struct mios_fs_name name;
	struct mios_fs_judged file;
	u64 stamp;
};

/*
 * change.c, rename.c.  A name that is made, goes or changes sets the times of its
 * directory and of the file: to @now, or to ->ctime of a new file, or to what is
 * just later than the last change.
 */

/*
 * @attr: out: ->id, ->nlink, and ->sequence when this was so.  Of @at the directory
 * counts; out: ->stamp.
 */
int mios_fs_make(struct mios_fs *fs, struct mios_fs_place *at,
		 struct mios_fs_attr *attr, u64 *inode);

/* It has no name yet, and this instance has it open. */
int mios_fs_make_nameless(struct mios_fs *fs, const struct mios_fs_judged *dir,
			  const struct mios_fs_attr *attr, u64 *inode);

/* Of ->file of @at.  @first: its first one; else one that has none is -ENOENT. */
int mios_fs_link(struct mios_fs *fs, const struct mios_fs_place *at, bool first,
		 u64 now);

/**
 * mios_fs_remove() - take a name away
 * @fs: the file system
 * @at: the name; a directory must be empty; what it led to is to be reaped when
 *	it has no other
 * @directory: is one meant?
 * @now: ns
 */
int mios_fs_remove(struct mios_fs *fs, struct mios_fs_place *at, bool directory,
		   u64 now);

/**
 * mios_fs_rename() - another name
 * @fs: the file system
 * @from: the old one
 * @to: the new one; what had it is to be reaped, unless that is 0
 * @directory: is one meant?
 * @now: ns
 */
int mios_fs_rename(struct mios_fs *fs, struct mios_fs_place *from,
		   struct mios_fs_place *to, bool directory, u64 now);

/*
 * Two names, both there: each leads to what the other one did.  A directory by
 * MIOS_FS_BY_ID; -EINVAL: one is above the other.
 */
int mios_fs_exchange(struct mios_fs *fs, const struct mios_fs_place *one,
		     const struct mios_fs_place *two, u64 now);

/* attr_change.c: which attributes are meant; nothing else is written. */
enum mios_fs_set {
	MIOS_FS_SET_MODE = 1,
	MIOS_FS_SET_UID = 2,
	MIOS_FS_SET_GID = 4,
	MIOS_FS_SET_SIZE = 8,
	MIOS_FS_SET_GROW = 16,	/* @size, unless it is larger already */
	MIOS_FS_SET_ATIME = 32,
	MIOS_FS_SET_MTIME = 64,
	MIOS_FS_SET_WRITTEN = 128, /* to now, which is ->ctime */
	MIOS_FS_SET_ZEROED = 256, /* beyond the end all is zero: see cut.c */
	MIOS_FS_SET_POLICY = 512,
	/* Of a file's mode the bits that give whoever runs it an id go: */
	MIOS_FS_DROP_SETID = 1024, /* setuid, and setgid where the group may run it */
	MIOS_FS_DROP_SETGID = 2048,
};

/*
 * What @which names becomes that of @attr, and ->ctime that, or what is just later
 * than the last change.  Where the file
 * becomes shorter, its pages are to be removed (cut.c), by whomever; until that
 * is done, or while some are left, it becomes no longer: -EINPROGRESS.
 */
int mios_fs_setattr(struct mios_fs *fs, const struct mios_fs_judged *file,
		    const struct mios_fs_attr *attr, u32 which);

/**
 * mios_fs_append() - so many bytes more at the end of a file
 * @fs: the file system
 * @file: open by this instance
 * @attr: as for mios_fs_setattr(), but its size is how many
 * @which: the same
 * @limit: no longer than this: -EFBIG
 * @at: out: where they begin; nobody else is given any of these
 */
int mios_fs_append(struct mios_fs *fs, const struct mios_fs_judged *file,
		   const struct mios_fs_attr *attr, u32 which, u64 limit,
		   u64 *at);

/* place.c */

/* Pages that files have, of all instances; each death may put it out by two. */
u64 mios_fs_used(struct mios_fs *fs);

/* Free a page that was taken out of a file, which is still open here. */
int mios_fs_give(struct mios_fs *fs, u64 inode, const struct mios_page *page);

/* place.c: of a file that this instance has open; pages that it has stay */
u64 mios_fs_policy(const struct mios_fs *fs, u64 inode);
void mios_fs_policy_set(struct mios_fs *fs, u64 inode, u64 policy);

/* page.c */

/**
 * struct mios_source - where pages come from
 * @lock:	of @cursor: held for a few microseconds while a page is looked for,
 *		and not while it is zeroed or put into a file
 * @cursor:	in each section of the pool
 */
struct mios_source {
	spinlock_t lock;		/* see above */
	struct mios_cursor cursor[MIOS_POOL_SECTIONS];
};

/**
 * struct mios_need - a page that somebody needs; he is alone on it
 * @from:	where from; may be another one each time that he asks
 * @policy:	where it is wished, if the file does not say
 * @place:	of the page that it is looked for now, in its file and index
 * @turn:	how many sections have none; 0 at first, with all that follows
 * @look:	how far the next one has been looked through
 */
struct mios_need {
	struct mios_source *from;
	u64 policy;
	u64 place;
	u32 turn;
	struct mios_look look;
};

/**
 * mios_fs_page() - the page at a place in a file
 * @fs: the file system
 * @need: how a new page is made; NULL: none is
 * @inode: open by this instance
 * @index: which page of it
 * @phys: out
 *
 * -ERANGE: beyond the file's end; -ENOENT: there is none; -EBUSY: it is just
 * being removed; -EINPROGRESS: the pool is nearly full, and there is more to be
 * looked at: ask again, with @need as it is now; -ENOMEM.
 */
int mios_fs_page(struct mios_fs *fs, struct mios_need *need, u64 inode,
		 u64 index, u64 *phys);

/**
 * mios_fs_page_is() - is a page that was found still there, and not being removed?
 * @fs: the file system
 * @inode: open by this instance
 * @index: which page of it
 * @phys: where it was found
 *
 * Loads alone.  MAP, PIN: what this says is worth as much as the lock or the
 * reference that the caller has of the page.
 */
bool mios_fs_page_is(struct mios_fs *fs, u64 inode, u64 index, u64 phys);

/* How many it has: all, and after a death perhaps a few more. */
u64 mios_fs_pages(const struct mios_fs *fs, u64 inode);

/**
 * mios_fs_next() - the next page that a file has
 * @fs: the file system
 * @inode: open by this instance
 * @index: 0 at first; where to go on
 * @phys: out; may be gone by now, or nothing that the pool knows
 *
 * 1, or 0 when there is none.
 */
int mios_fs_next(struct mios_fs *fs, u64 inode, u64 *index, u64 *phys);

/**
 * mios_fs_take() - take a page out of a file
 * @fs: the file system
 * @inode: this instance is its cutter
 * @index: which page; nobody maps it any more, nor can
 * @page: out: held, to be freed
 *
 * -ENOENT: it has gone.
 */
int mios_fs_take(struct mios_fs *fs, u64 inode, u64 index,
		 struct mios_page *page);

/*
 * cut.c: removing pages from the middle or the end of a file.  One instance at
 * a time does it, the file's cutter.  It finds out what is to be removed, which
 * no page fault gives to anybody from then on, has everybody unmap that, takes
 * it out with mios_fs_take(), and says so.  Who dies in it leaves the rest.
 */

/* -EBUSY: it has one. */
int mios_fs_cutter(struct mios_fs *fs, u64 inode);
void mios_fs_cutter_end(struct mios_fs *fs, u64 inode);

/* What stands in ->cutter of a file whose cutter is that boot of an instance. */
u64 mios_cutter_word(u32 instance, u32 epoch);

/* As cutter: the pages from @first up to before @end are to be removed. */
void mios_fs_hole(struct mios_fs *fs, u64 inode, u32 first, u32 end);

enum mios_fs_removal {
	MIOS_FS_REMOVE_HOLE,	/* in the middle; what is not free is zeroed */
	MIOS_FS_REMOVE_END,	/* the end; what is not free is left there */
	MIOS_FS_REMOVE_LEFT,	/* what was left there */
};

/**
 * struct mios_fs_cut - pages that are to be removed
 * @what:	which
 * @first, @end: from, up to before
 * @word:	by which mios_fs_cut_end() sees that there is more by now
 */
struct mios_fs_cut {
	enum mios_fs_removal what;
	u64 first;
	u64 end;
	u64 word;
};

/**
 * mios_fs_cut() - what is to be removed?
 * @fs: the file system
 * @inode: this instance is its cutter
 * @left: also what was left beyond the end?
 * @cut: out
 *
 * 1, or 0: nothing.
 */
int mios_fs_cut(struct mios_fs *fs, u64 inode, bool left,
		struct mios_fs_cut *cut);

/* It is, as far as it is not left there. -EBUSY: it was late. */
int mios_fs_cut_end(struct mios_fs *fs, u64 inode,
		    const struct mios_fs_cut *cut);

/* A page stays beyond the end, for the moment. */
void mios_fs_leave(struct mios_fs *fs, u64 inode, u64 index);

/* open.c: of one instance one caller at a time for a file */

/* -ESTALE: it is another one by now, or goes: mios_fs_reap_begin(). */
int mios_fs_open(struct mios_fs *fs, u64 inode, u64 id);

/* Is that to be tried?  Who has just closed it asks. */
bool mios_fs_is_left(const struct mios_fs *fs, u64 inode);

/* How many names it has, as stat(2) counts; of a file that is open here. */
u32 mios_fs_links(const struct mios_fs *fs, u64 inode);

/* Has it a name, unless it is another one by now? */
bool mios_fs_is_named(const struct mios_fs *fs, u64 inode, u64 id);
void mios_fs_close(struct mios_fs *fs, u64 inode);

/*
 * Freeing a file that has no name and that nobody has open, by one instance at a
 * time.  Who has begun takes its pages out, which may take as long as the file is
 * large, and needs no lock; then its number is free.  What the dead had begun is
 * there to be begun again, by mios_fs_recover().
 */

/* -EEXIST: it has a name, is open, or somebody is at it; -EBUSY: it was late. */
int mios_fs_reap_begin(struct mios_fs *fs, u64 inode);
void mios_fs_reap_pages(struct mios_fs *fs, u64 inode);
/*
 * -EBUSY: it was late, and is to be called again.  @inode: out: 0, or one whose
 * freeing has been begun with that: its extended attributes'.
 */
int mios_fs_reap_end(struct mios_fs *fs, u64 *inode);

/* image_recover.c */

/*
 * First of all, of each that is dead: it waits for the lock no more, or has it
 * no more; then whoever waits for it may have it.
 */
void mios_fs_dequeue(struct mios_fs *fs, u32 instance, u32 epoch);

/* What is recovered, one after the other. */
enum mios_fs_recovery_stage {
	MIOS_FS_RECOVER_OPENS,
	MIOS_FS_RECOVER_LOCKS,
	MIOS_FS_RECOVER_PAGES,
	MIOS_FS_RECOVER_SEGMENTS,
	MIOS_FS_RECOVER_FILES,
};

/**
 * struct mios_fs_recovery - how far somebody is recovered
 * @pool:	of whom, and how far his pages are
 * @stage, @slot, @number: how far the rest is; 0 at first
 * @reap:	a file that is being freed, or 0; who gives up leaves that to
 *		mios_fs_reap_pages() and mios_fs_reap_end()
 */
struct mios_fs_recovery {
	struct mios_pool_recovery pool;
	enum mios_fs_recovery_stage stage;
	u32 slot;
	u64 number;
	u64 reap;
};

/**
 * mios_fs_recover() - what the death of an instance leaves, piece by piece
 * @fs: the file system
 * @r: a boot of which instance is over, fenced, and every survivor has
 *     acknowledged it; how far
 *
 * Finishes its change, or forgets it; frees what it held, and files that nobody
 * has any more.  Forgets what it had open, unless a later boot of it has begun:
 * then that is the later one's, which has done this for itself before it opened
 * anything.  1: there is more, and others have had the lock in between; -EBUSY:
 * the lock was not to be had in time.
 */
int mios_fs_recover(struct mios_fs *fs, struct mios_fs_recovery *r);

/*
 * The part of it that gives nothing back but locks of files: of one whose memory
 * is not to be used again.  As mios_fs_recover().
 */
int mios_fs_recover_locks(struct mios_fs *fs, u32 instance, u32 epoch);

#endif /* _MIOS_FS_H */
