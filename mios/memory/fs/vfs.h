/* SPDX-License-Identifier: GPL-2.0 */
/*
 * miosfs as the kernel's VFS sees it: what the files of this directory that
 * only the kernel has share.
 */
#ifndef _MIOS_FS_VFS_H
#define _MIOS_FS_VFS_H

#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/memremap.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "filelock.h"
#include "fs.h"
#include "large_map.h"

/*
 * Where files lie in the address space of a task: 2 GiB for each inode number,
 * where no layout of Linux puts anything of its own.
 */
#define MIOS_WINDOW_BASE	0x400000000000UL
#define MIOS_WINDOW_END		0x600000000000UL
#define MIOS_WINDOW_SHIFT	31

/* What three levels of an index reach. */
#define MIOS_FILE_MAX	((loff_t)PAGE_SIZE << 9 * MIOS_FS_LEVELS)

/* How long a pin of a page is waited for before it is left for later. */
#define MIOS_PIN_MS	1000

/*
 * How often, half a millisecond apart at least, something is tried again that
 * another instance keeps: so that its death is noticed and recovered.
 */
#define MIOS_PATIENCE	60000

struct fs_context;
struct mempolicy;

/**
 * struct mios_map - the memory of a section of a pool in this kernel
 * @pages:	its struct pages, and where it lies
 * @memory:	where it is mapped
 */
struct mios_map {
	struct dev_pagemap pages;
	void *memory;
};

/**
 * struct mios_image_waiter - somebody who waits for the lock of an image; see image_lock.c
 * @until:	when it is late, in jiffies
 * @looks:	how often there was no place in the queue
 * @stubborn:	also when he is killed
 */
struct mios_image_waiter {
	unsigned long until;
	unsigned int looks;
	bool stubborn;
};

/**
 * struct mios_mount - a mounted miosfs
 * @fs:		the image; changes under @lock, and then the image's own
 * @parts:	where its parts are
 * @pool:	where it lies
 * @map:	memory of its sections
 * @nr_maps:	how many there are
 * @lock:	one change at a time, and @waiter
 * @waiter:	of who makes it
 * @late_lock:	of @late_locks
 * @late_locks:	of files, that are still to be let go of; filelock_vfs.c
 * @open_lock:	of this instance's bits in ->open, while they are being set
 * @source:	where pages come from, one for each CPU
 * @policy:	of new files
 * @huge:	large pages, of all files
 * @sb:		of the VFS
 * @own_number:	number.c: the unnamed device that this kernel has given it
 * @revoke_entry: revoke.c: in the list of mounts
 * @mend:	mend.c: the worker
 * @sweep:	it is to free segments
 * @stuck:	and to try again to close these files: a page of each is pinned
 * @reaped:	and to finish freeing these, which are this instance's to free
 * @ring:	it is the ring's own pool
 * @entry, @over: survivor.c: who is to be recovered, up to which epoch
 * @unrecovered: and could not be, as somebody has the lock
 * @recovery:	of who does it
 * @segments:	of the files of segments of System V; of mios/memory/ipc/
 */
struct mios_mount {
	struct mios_fs fs;
	struct mios_fs_parts *parts;
	struct mios_pool pool;
	struct mios_map *map;
	unsigned int nr_maps;
	struct mutex lock;		/* see above */
	struct mios_image_waiter waiter;
	spinlock_t late_lock;		/* see above */
	struct list_head late_locks;
	spinlock_t open_lock;		/* see above */
	struct mios_source __percpu *source;
	u64 policy;
	enum mios_huge huge;
	struct super_block *sb;
	dev_t own_number;
	struct list_head revoke_entry;
	struct delayed_work mend;
	bool sweep;
	struct xarray stuck;
	struct xarray reaped;
	bool ring;
	struct list_head entry;
	u32 over[MIOS_FS_INSTANCES];
	bool unrecovered;
	struct mios_image_waiter recovery;
	struct vfsmount *segments;
};

static inline struct mios_mount *mount_of(const struct inode *inode)
{
	return inode->i_sb->s_fs_info;
}

/*
 * What futexes in a file are known by in all instances, or 0: in this one alone.
 * An id never comes back, so nothing that waits is ever taken for another one.
 */
static inline u64 mios_sequence_of(const struct mios_mount *m, u64 id)
{
	u64 image = READ_ONCE(m->fs.super->self) / MIOS_EXTENT_SIZE;

	if (id >> MIOS_FS_SEQUENCE_IMAGE ||
	    image >> (63 - MIOS_FS_SEQUENCE_IMAGE))
		return 0;
	return MIOS_FS_SEQUENCE_SHARED | image << MIOS_FS_SEQUENCE_IMAGE | id;
}

/**
 * struct mios_inode - a file in this kernel
 * @vfs:	of the VFS; its ->i_ino is the id
 * @number:	in the image; 0: it has not been opened
 * @seen:	mios_fs_sequence() of it when the attributes of @vfs were the file's
 * @rights:	of mode and owner of @vfs, which are written with its ->i_lock
 * @flags:	MIOS_WAS_MAPPED; MIOS_WAS_COPIED: so that stores make copies;
 *		MIOS_ASLEEP: nobody here has it in use, and so it is not open; a
 *		dentry knows its name (->i_lock); MIOS_STAYS: when nobody has it
 *		in use it is kept asleep all the same, without a dentry
 * @locking:	a change of its locks (filelock_vfs.c), in the table and in this
 *		kernel's record of it
 */
struct mios_inode {
	struct inode vfs;
	u64 number;
	u64 seen;
	seqcount_spinlock_t rights;
	unsigned long flags;
	struct mutex locking;		/* see above */
};

#define MIOS_WAS_MAPPED		0
#define MIOS_ASLEEP		1
#define MIOS_WAS_COPIED		2
#define MIOS_STAYS		3

static inline struct mios_inode *mios_inode_of(const struct inode *inode)
{
	return container_of(inode, struct mios_inode, vfs);
}

static inline u64 number_of(const struct inode *inode)
{
	return mios_inode_of(inode)->number;
}

static inline struct mios_fs_name name_of(const struct qstr *name)
{
	return (struct mios_fs_name){ name->name, name->len };
}

/* Until it has not changed: mode and owner, which belong together. */
static inline unsigned int mios_rights_begin(const struct inode *inode)
{
	return read_seqcount_begin(&mios_inode_of(inode)->rights);
}

static inline bool mios_rights_changed(const struct inode *inode,
				       unsigned int seq)
{
	return read_seqcount_retry(&mios_inode_of(inode)->rights, seq);
}

static inline bool mios_inode_is_asleep(const struct inode *inode)
{
	return test_bit(MIOS_ASLEEP, &mios_inode_of(inode)->flags);
}

/* Which other instances have the file open, a bit for each? */
static inline u64 open_elsewhere(const struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);

	return READ_ONCE(inode_at(&m->fs, number_of(inode))->open) &
	       ~BIT_ULL(m->pool.self);
}

/* Is there anything that mios_cut() would do?  Of a file's inode in the image. */
static inline bool mios_has_to_cut(const struct mios_fs_inode *image)
{
	return (u32)READ_ONCE(image->cut) || READ_ONCE(image->hole) ||
	       (u32)READ_ONCE(image->left);
}

/* Once more, after a moment? */
static inline bool mios_patient(int *tries)
{
	if (++*tries > MIOS_PATIENCE || fatal_signal_pending(current))
		return false;
	usleep_range(500, 1000);
	return true;
}

/* A change, which waits for its turn; -EINTR: killed. */
#define MIOS_PATIENTLY(m, call) ({					\
	int err_ = mios_image_lock(m);					\
	if (!err_) {							\
		err_ = (call);						\
		mios_image_unlock(m);					\
	}								\
	err_;								\
})

/*
 * A change that somebody may make or not: judged, made, and where that is refused
 * since it is no more as it was judged, looked at (0: it is there) and once more.
 */
#define MIOS_JUDGED(m, judge, call, look) ({				\
	int tries_ = 0, told_;						\
	do {								\
		told_ = (judge);					\
		if (!told_)						\
			told_ = MIOS_PATIENTLY(m, call);		\
	} while (mios_judge_again(&told_, &tries_) && !(look));		\
	told_;								\
})

/* The same, for what must be done also by one who is killed. */
#define MIOS_STUBBORNLY(m, call) ({					\
	int err_;							\
	mios_image_lock_stubborn(m);					\
	err_ = (call);							\
	mios_image_unlock(m);						\
	err_;								\
})

/* How often a look is repeated while changes are under way. */
#define MIOS_LOOKS	4

/*
 * A look that is to find nothing half changed.  Where others change something all
 * the time it is had with the lock: so it has an end, whatever they do.
 */
#define MIOS_LOOK(m, call) ({						\
	int looks_ = MIOS_LOOKS, found_;				\
	do {								\
		found_ = (call);					\
	} while (found_ == -EAGAIN && --looks_);			\
	if (found_ == -EAGAIN)						\
		found_ = MIOS_PATIENTLY(m, mios_fs_still(&(m)->fs) ?:	\
					mios_fs_moves(&(m)->fs, (call))); \
	found_;								\
})

/* map.c */
int mios_maps_make(struct mios_mount *m, struct fs_context *fc,
		   const struct mios_pool_place *place, unsigned int nr);
bool mios_maps_are_pinned(const struct mios_mount *m);
void mios_maps_undo(struct mios_mount *m);
u64 mios_maps_size(const struct mios_mount *m);
bool mios_page_let_go(struct page *page, bool wait);

/**
 * struct mios_inode_kinds - what is done with each kind of file
 * @dir, @dir_open: a directory
 * @symlink:	a symbolic link
 * @file:	any other
 * @file_open:	one with contents
 * @pages:	of any
 */
struct mios_inode_kinds {
	const struct inode_operations *dir, *symlink, *file;
	const struct file_operations *dir_open, *file_open;
	const struct address_space_operations *pages;
};

/* inode.c */
struct inode *mios_inode_alloc(struct super_block *sb);
void mios_inode_free(struct inode *inode);
struct inode *mios_inode_get(struct super_block *sb, u64 number);
struct inode *mios_inode_made(struct super_block *sb, u64 number,
			      const struct mios_fs_attr *attr);
bool mios_inode_is_fresh(const struct inode *inode);
int mios_inode_refresh(struct inode *inode);
int mios_inode_look(struct inode *inode);
void mios_inode_links(struct inode *inode);
bool mios_inode_sleep(struct inode *inode);
int mios_inode_wake(struct inode *inode);
int mios_inode_drop(struct inode *inode);
int mios_permission(struct mnt_idmap *idmap, struct inode *inode, int mask);
int mios_getattr(struct mnt_idmap *idmap, const struct path *path,
		 struct kstat *stat, u32 mask, unsigned int flags);
bool mios_file_reaped(struct mios_mount *m, u64 *number);
void mios_file_reap(struct mios_mount *m, u64 number);
int mios_inodes_init(const struct mios_inode_kinds *of);
void mios_inodes_exit(void);

/* rights.c */
#define MIOS_MAY_NAME	(MAY_WRITE | MAY_EXEC)

bool mios_judge_again(int *err, int *tries);
bool mios_may_anything(void);
bool mios_may_exceed(void);
void mios_judged(const struct inode *inode, u32 by, struct mios_fs_judged *file);
int mios_judge(struct inode *inode, int mask, struct mios_fs_judged *file);
int mios_judge_new(struct inode *dir, umode_t mode, dev_t dev,
		   struct mios_fs_judged *file, struct mios_fs_attr *attr);
int mios_judge_name(struct inode *dir, struct inode *inode,
		    struct mios_fs_place *at);

/* attr.c */
int mios_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
		 struct iattr *attr);

/* close.c */
bool mios_pages_let_go(struct inode *inode);
void mios_inode_evict(struct inode *inode);
void mios_opens_end(struct mios_mount *m);

/* size.c: how long a file is, and what goes when it becomes shorter */
int mios_size_set(struct inode *inode, loff_t size);
int mios_size_grow(struct inode *inode, loff_t size);
int mios_size_append(struct inode *inode, loff_t more, loff_t *at);
int mios_size_punch(struct inode *inode, loff_t from, loff_t to);
int mios_cut(struct inode *inode, bool wait);

/* revoke.c: taking pages away from all instances */
int mios_revoke(struct inode *inode, u64 first, u64 nr, bool copies,
		unsigned long *pinned);
void mios_forget(struct inode *dir);
void mios_revoke_begin(struct mios_mount *m);
void mios_revoke_end(struct mios_mount *m);
int mios_revoke_init(void);
void mios_revoke_exit(void);

/* mend.c: removing pages when nobody waits for it */
void mios_mend_init(struct mios_mount *m);
void mios_mend_exit(struct mios_mount *m);
void mios_mend_soon(struct mios_mount *m);
void mios_mend_file(struct mios_mount *m, u64 number);
void mios_mend_reaped(struct mios_mount *m, u64 number);
void mios_mend_segments(struct mios_mount *m);

/* nameless.c: O_TMPFILE, symbolic links, and what begins as they do */
struct inode *mios_nameless_get(struct super_block *sb, u64 number);
int mios_nameless_write(struct inode *inode, const void *from, size_t length);
int mios_dir_tmpfile(struct mnt_idmap *idmap, struct inode *dir,
		     struct file *file, umode_t mode);
int mios_dir_symlink(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, const char *target);
extern const struct inode_operations mios_symlink_inode_ops;

/* page_hold.c */
int mios_run_find(struct inode *inode, u64 first, bool create, u64 *phys);
int mios_page_find(struct inode *inode, u64 index, bool create, bool large,
		   u64 *phys);
int mios_page_hold(struct inode *inode, u64 index, bool create,
		   struct page **out);
int mios_page_wait(struct inode *inode, u64 index, bool create,
		   struct page **out);

/* allocate.c */
int mios_page_make(struct inode *inode, loff_t pos, loff_t end,
		   struct page **page);
int mios_file_allocate(struct inode *inode, loff_t at, loff_t end, int mode);

/* seek.c: lseek(), SEEK_DATA and SEEK_HOLE too */
loff_t mios_file_seek(struct file *file, loff_t offset, int whence);

/* dentry.c */
struct dentry *mios_dir_lookup(struct inode *dir, struct dentry *dentry,
			       unsigned int flags);
void mios_dentry_made(struct dentry *dentry, const struct inode *inode,
		      u64 stamp);
extern const struct dentry_operations mios_dentry_ops;

/* fs_inject.c: for tests */
#ifdef MIOS_INJECT
void mios_fs_asked(void);
#else
static inline void mios_fs_asked(void) { }
#endif

/* file.c, dir.c */
long mios_file_fallocate(struct file *file, int mode, loff_t offset,
			 loff_t length);
vm_fault_t mios_file_fault(struct vm_fault *vmf);
vm_fault_t mios_file_map_pages(struct vm_fault *vmf, pgoff_t first,
			       pgoff_t last);
int mios_file_set_policy(struct vm_area_struct *vma, struct mempolicy *wish);
int mios_file_map(struct file *file, struct vm_area_struct *vma);
unsigned long mios_file_area(struct file *file, unsigned long addr,
			     unsigned long len, unsigned long pgoff,
			     unsigned long flags);
extern const struct inode_operations mios_dir_inode_ops;
extern const struct file_operations mios_dir_ops;
extern const struct inode_operations mios_file_inode_ops;
extern const struct file_operations mios_file_ops;
extern const struct address_space_operations mios_aops;

/* policy.c: where pages are to be, in words */
int mios_policy_parse(const char *text, u64 *policy);
int mios_policy_fit(const struct mios_mount *m, u64 *policy);
int mios_policy_show(u64 policy, char *text, size_t size);
u64 mios_policy_of_task(void);
int mios_policy_of_map(const struct mios_mount *m, const struct mempolicy *wish,
		       u64 *policy);

/* xattr.c: what only miosfs knows of a file */
extern const struct xattr_handler * const mios_xattr_handlers[];
int mios_xattr_answer(const char *text, int length, void *buffer, size_t size);

/* users.c: who has how much */
extern const struct xattr_handler mios_users_xattr, mios_share_xattr;

/* user_xattr.c: what programs want known of it */
extern const struct xattr_handler mios_user_xattr;
ssize_t mios_listxattr(struct dentry *dentry, char *buffer, size_t size);

/* image_lock.c: waiting for the lock of an image */
void mios_image_lock_init(struct mios_mount *m);
void mios_image_lock_wait(struct mios_image_waiter *waiter, unsigned int ms);
int mios_image_lock(struct mios_mount *m);
void mios_image_lock_stubborn(struct mios_mount *m);
void mios_image_unlock(struct mios_mount *m);
int mios_image_locks_init(void);
void mios_image_locks_exit(void);

/* filelock_vfs.c */
int mios_file_lock(struct file *file, int cmd, struct file_lock *fl);
int mios_file_flock(struct file *file, int cmd, struct file_lock *fl);
void mios_filelocks_turn(void);
bool mios_filelocks_mend(struct mios_mount *m);
void mios_filelocks_begin(struct mios_mount *m);
void mios_filelocks_end(struct mios_mount *m);
int mios_filelocks_init(void);
void mios_filelocks_exit(void);

/* survivor.c */
int mios_death_watch(struct mios_mount *m);
void mios_death_ignore(struct mios_mount *m);
bool mios_deaths_mend(struct mios_mount *m);
int mios_death_init(void);
void mios_death_exit(void);

/* number.c */
void mios_number_set(struct mios_mount *m, u64 base);
void mios_number_end(struct mios_mount *m);
void mios_numbers_exit(void);

/* super.c */

/**
 * struct mios_mount_ops - who uses the files of a mount in other ways
 * @begin:	it is attached, and nothing of it is open yet
 * @end:	nothing of it is open any more.  -EBUSY: it must stay mapped.  Also
 *		called where @begin was not, or has failed
 */
struct mios_mount_ops {
	int (*begin)(struct mios_mount *m);
	int (*end)(struct mios_mount *m);
};

void mios_mount_ops_set(const struct mios_mount_ops *ops);
int mios_super_init(void);
void mios_super_exit(void);

#endif /* _MIOS_FS_VFS_H */
