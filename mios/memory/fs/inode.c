// SPDX-License-Identifier: GPL-2.0
/*
 * VFS inodes: views of those in the image, made when a name is looked up.  Their
 * attributes are believed as long as the file's sequence is the same.  While one is
 * awake, this instance has the file open.  One that only a dentry holds, which nobody
 * uses, is asleep: not open, and perhaps gone.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "vfs.h"

static struct kmem_cache *cache;
static const struct mios_inode_kinds *kinds;

struct inode *mios_inode_alloc(struct super_block *sb)
{
	struct mios_inode *own = alloc_inode_sb(sb, cache, GFP_KERNEL);

	if (!own)
		return NULL;
	own->number = 0;
	own->seen = 0;
	own->flags = 0;
	mutex_init(&own->locking);
	return &own->vfs;
}

/* An RCU grace period later: who walks a path may still look at it. */
void mios_inode_free(struct inode *inode)
{
	kmem_cache_free(cache, mios_inode_of(inode));
}

static void inode_init_one(void *memory)
{
	struct mios_inode *own = memory;

	inode_init_once(&own->vfs);
	seqcount_spinlock_init(&own->rights, &own->vfs.i_lock);
}

/**
 * mios_inodes_init() - before the first mount
 * @of: what is done with each kind of file; stays valid
 */
int mios_inodes_init(const struct mios_inode_kinds *of)
{
	kinds = of;
	cache = kmem_cache_create("mios_inode", sizeof(struct mios_inode), 0,
				  SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT,
				  inode_init_one);
	return cache ? 0 : -ENOMEM;
}

void mios_inodes_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(cache);
}

static bool has_contents(umode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

/* Another kernel may have written anything. */
static bool attr_is_sane(const struct mios_fs_attr *attr)
{
	if (!attr->id)
		return false;
	if (has_contents(attr->mode))
		return attr->size <= MIOS_FILE_MAX;
	return !attr->size && (S_ISFIFO(attr->mode) || S_ISSOCK(attr->mode) ||
			       S_ISCHR(attr->mode) || S_ISBLK(attr->mode));
}

static void inode_fill(struct inode *inode, const struct mios_fs_attr *attr)
{
	inode->i_mode = attr->mode;
	i_uid_write(inode, attr->uid);
	i_gid_write(inode, attr->gid);
	set_nlink(inode, attr->nlink);
	inode_set_atime_to_ts(inode, ns_to_timespec64(attr->atime));
	inode_set_mtime_to_ts(inode, ns_to_timespec64(attr->mtime));
	inode_set_ctime_to_ts(inode, ns_to_timespec64(attr->ctime));
	i_size_write(inode, attr->size);
}

/* With the inode's lock.  Nothing older: somebody has looked later. */
static void inode_renew(struct inode *inode, const struct mios_fs_attr *attr)
{
	struct mios_inode *own = mios_inode_of(inode);
	bool rights = inode->i_mode != attr->mode ||
		      i_uid_read(inode) != attr->uid ||
		      i_gid_read(inode) != attr->gid;

	if (attr->sequence < own->seen)
		return;
	if (rights)
		write_seqcount_begin(&own->rights);
	inode_fill(inode, attr);
	if (rights)
		write_seqcount_end(&own->rights);
	/* FRESH: the attributes, then the sequence at which they were so. */
	smp_store_release(&own->seen, attr->sequence);
}

/**
 * mios_inode_refresh() - see what other instances have made of a file
 * @inode: open here
 */
int mios_inode_refresh(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_fs_attr attr;
	int err = MIOS_LOOK(m, mios_fs_stat(&m->fs, number_of(inode), &attr));

	if (err)
		return err;
	if (attr.id != inode->i_ino)
		return -ESTALE;
	if (!attr_is_sane(&attr) || (attr.mode ^ inode->i_mode) & S_IFMT)
		return -EIO;
	spin_lock(&inode->i_lock);
	inode_renew(inode, &attr);
	spin_unlock(&inode->i_lock);
	return 0;
}

/**
 * mios_inode_is_fresh() - has it the attributes that the file has?
 * @inode: open here
 *
 * Any context.  What a call has changed whose end the caller knows of, here or
 * elsewhere, has made the sequence another one.
 */
bool mios_inode_is_fresh(const struct inode *inode)
{
	u64 seen = smp_load_acquire(&mios_inode_of(inode)->seen); /* FRESH */

	return mios_fs_sequence(&mount_of(inode)->fs,
				number_of(inode)) == seen;
}

/**
 * mios_inode_look() - mios_inode_refresh(), if it has to be
 * @inode: open here; this instance is not just changing its attributes
 */
int mios_inode_look(struct inode *inode)
{
	return mios_inode_is_fresh(inode) ? 0 : mios_inode_refresh(inode);
}

/**
 * mios_inode_links() - how many names it has is another number
 * @inode: open here
 *
 * The VFS looks at that without a question; who asks for attributes is given
 * those of the file.
 */
void mios_inode_links(struct inode *inode)
{
	/* With the lock: else it may undo what somebody has refreshed since. */
	spin_lock(&inode->i_lock);
	set_nlink(inode, mios_fs_links(&mount_of(inode)->fs,
				       number_of(inode)));
	spin_unlock(&inode->i_lock);
}

int mios_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	int err = 0;

	if (!mios_inode_is_fresh(inode))
		err = mask & MAY_NOT_BLOCK ? -ECHILD :
		      mios_inode_refresh(inode);
	return err ? err : generic_permission(idmap, inode, mask);
}

static void inode_begin(struct inode *inode, u64 number,
			const struct mios_fs_attr *attr)
{
	mios_inode_of(inode)->number = number;
	inode_fill(inode, attr);
	mios_inode_of(inode)->seen = attr->sequence;
	inode->i_flags |= S_NOATIME;
	inode->i_mapping->a_ops = kinds->pages;
	if (S_ISDIR(inode->i_mode)) {
		inode->i_op = kinds->dir;
		inode->i_fop = kinds->dir_open;
	} else if (S_ISLNK(inode->i_mode)) {
		inode->i_op = kinds->symlink;
	} else {
		inode->i_op = kinds->file;
	}
	if (S_ISREG(inode->i_mode)) {
		inode->i_fop = kinds->file_open;
		atomic64_set(&inode->i_sequence,
			     mios_sequence_of(mount_of(inode), attr->id));
	}
	/* What a FIFO, a socket or a device is, each kernel has for itself. */
	if (!has_contents(inode->i_mode))
		init_special_inode(inode, inode->i_mode,
				   huge_decode_dev(attr->rdev));
}

/**
 * mios_file_reaped() - end what was begun: the freeing of a file
 * @m: the mount
 * @number: out: where false is returned, which one is still to be freed
 *
 * However long that takes, others go on.
 */
bool mios_file_reaped(struct mios_mount *m, u64 *number)
{
	do {
		mios_fs_reap_pages(&m->fs, *number);
		if (MIOS_PATIENTLY(m, mios_fs_reap_end(&m->fs, number)))
			return false;
	} while (*number);
	return true;
}

/**
 * mios_file_reap() - free a file that nobody has open, and that has no name
 * @m: the mount
 * @number: of its inode in the image
 *
 * Its last name has gone, perhaps, while this instance had it open.
 */
void mios_file_reap(struct mios_mount *m, u64 number)
{
	int err;

	if (!mios_fs_is_left(&m->fs, number))
		return;
	err = MIOS_PATIENTLY(m, mios_fs_reap_begin(&m->fs, number));
	/* Killed, or late: somebody has to. */
	if (err == -EINTR || err == -EBUSY)
		mios_mend_file(m, number);
	if (err)
		return;
	if (!mios_file_reaped(m, &number))
		mios_mend_reaped(m, number);
}

/* The bit may be that of another file here, which had the number since. */
static int open_bit(struct mios_mount *m, u64 number, u64 id)
{
	int err;

	spin_lock(&m->open_lock);
	err = mios_fs_open(&m->fs, number, id);
	spin_unlock(&m->open_lock);
	return err;
}

/**
 * mios_inode_sleep() - close a file, but keep its inode with its only dentry
 * @inode: nobody uses that dentry, whose lock the caller has
 *
 * False: there is something to be done, when it is evicted (close.c).
 */
bool mios_inode_sleep(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_inode *own = mios_inode_of(inode);
	bool kept = false;

	if (mios_inode_is_asleep(inode))
		return true;
	if (test_bit(MIOS_WAS_MAPPED, &own->flags) ||
	    mios_has_to_cut(inode_at(&m->fs, own->number)) ||
	    !spin_trylock(&inode->i_lock))
		return false;
	/*
	 * No other dentry, nobody without one: these count.  Since 7.x they do so
	 * without the lock, so it says first that it sleeps: who counts then is
	 * seen here, or sees that, and waits for the lock in mios_inode_wake().
	 */
	set_bit(MIOS_ASLEEP, &own->flags);
	/* Pairs with the barrier of the increment in igrab() and iget_locked(). */
	smp_mb__after_atomic();
	if (atomic_read(&inode->i_count) == 1) {
		mios_fs_close(&m->fs, own->number);
		/* Who has taken the name has seen it closed, or we see that. */
		kept = mios_fs_is_named(&m->fs, own->number, inode->i_ino);
	} else {
		clear_bit(MIOS_ASLEEP, &own->flags);
	}
	spin_unlock(&inode->i_lock);
	return kept;
}

/**
 * mios_inode_wake() - open a file again
 * @inode: the caller uses it: so it does not fall asleep
 *
 * -ESTALE: it has gone.
 */
int mios_inode_wake(struct inode *inode)
{
	struct mios_mount *m = mount_of(inode);
	struct mios_inode *own = mios_inode_of(inode);
	int err = 0;

	if (!mios_inode_is_asleep(inode))
		return 0;
	spin_lock(&inode->i_lock);
	if (mios_inode_is_asleep(inode))
		err = open_bit(m, own->number, inode->i_ino);
	if (!err)
		clear_bit(MIOS_ASLEEP, &own->flags);
	spin_unlock(&inode->i_lock);
	if (err)
		mios_file_reap(m, own->number);
	return err;
}

/**
 * mios_inode_drop() - is it not to be kept?
 * @inode: nobody has it in use, and no dentry; its lock is held
 */
int mios_inode_drop(struct inode *inode)
{
	return !test_bit(MIOS_STAYS, &mios_inode_of(inode)->flags) ||
	       !mios_inode_is_asleep(inode) ||
	       !mios_fs_is_named(&mount_of(inode)->fs, number_of(inode),
				 inode->i_ino);
}

/**
 * mios_inode_made() - open a file
 * @sb: of this mount
 * @number: of its inode in the image
 * @attr: its attributes, which were so at ->sequence
 *
 * -ESTALE: it is another one by now.
 */
struct inode *mios_inode_made(struct super_block *sb, u64 number,
			      const struct mios_fs_attr *attr)
{
	struct mios_mount *m = sb->s_fs_info;
	struct inode *inode;
	int err;

	if (!attr_is_sane(attr))
		return ERR_PTR(-EIO);
	inode = iget_locked(sb, attr->id);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!(mios_inode_state(inode) & I_NEW)) {
		err = number_of(inode) == number ? mios_inode_wake(inode) :
		      -EIO;
		if (!err)
			return inode;
		iput(inode);
		return ERR_PTR(err);
	}
	err = open_bit(m, number, attr->id);
	if (err) {
		mios_file_reap(m, number);
		iget_failed(inode);
		return ERR_PTR(err);
	}
	inode_begin(inode, number, attr);
	unlock_new_inode(inode);
	return inode;
}

/**
 * mios_inode_get() - see what there is, and open it
 * @sb: of this mount
 * @number: of its inode in the image
 *
 * -ESTALE: it is another one by now, look its name up again.
 */
struct inode *mios_inode_get(struct super_block *sb, u64 number)
{
	struct mios_mount *m = sb->s_fs_info;
	struct mios_fs_attr attr;
	int err = MIOS_LOOK(m, mios_fs_stat(&m->fs, number, &attr));

	if (err)
		return ERR_PTR(err == -ENOENT ? -ESTALE : err);
	return mios_inode_made(sb, number, &attr);
}

int mios_getattr(struct mnt_idmap *idmap, const struct path *path,
		 struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	int err = mios_inode_look(inode);

	if (err)
		return err;
	generic_fillattr(idmap, mask, inode, stat);
	/* Pages come without a change of the image. */
	stat->blocks = mios_fs_pages(&mount_of(inode)->fs,
				     number_of(inode)) << (PAGE_SHIFT - 9);
	return 0;
}
