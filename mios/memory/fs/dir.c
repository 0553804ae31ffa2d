// SPDX-License-Identifier: GPL-2.0
/*
 * Directories for the VFS: names that are made, go and move, and that are read one
 * after the other.  dentry.c has what is known of them meanwhile.
 */
#include <linux/fs.h>
#include <linux/slab.h>

#include "vfs.h"

/* What a directory has before its names. */
#define DOTS		2

#define OPEN_TRIES	100	/* each a name made and one removed elsewhere */

static int dir_mknod(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_place at = { .name = name_of(&dentry->d_name) };
	struct mios_fs_attr attr;
	struct inode *inode;
	u64 number;
	int err;

	err = MIOS_JUDGED(m, mios_judge_new(dir, mode, dev, &at.dir, &attr),
			  mios_fs_make(&m->fs, &at, &attr, &number),
			  mios_inode_refresh(dir));
	if (err)
		return err;
	inode = mios_inode_made(dir->i_sb, number, &attr);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_instantiate(dentry, inode);
	mios_dentry_made(dentry, inode, at.stamp);
	return 0;
}

static int MIOS_CREATE(dir_create)
{
	return dir_mknod(idmap, dir, dentry, mode, 0);
}

/*
 * Another kernel, whom no lock of the VFS keeps out, may have made the name since
 * this one looked: to who does not ask for a new one that is as good, and he is
 * let in by the permissions of what is there.
 */
static int dir_atomic_open(struct inode *dir, struct dentry *dentry,
			   struct file *file, unsigned int flags, umode_t mode)
{
	struct dentry *found;
	int tries, err;

	/* The directory is locked for who reads it alone, and this is known. */
	if (!(flags & O_CREAT) && !d_in_lookup(dentry))
		return finish_no_open(file, NULL);
	for (tries = 0; tries < OPEN_TRIES; tries++) {
		/* A dentry that the VFS had says that there is no such name. */
		if (tries || d_in_lookup(dentry)) {
			d_drop(dentry);
			found = mios_dir_lookup(dir, dentry, 0);
			if (IS_ERR(found))
				return PTR_ERR(found);
			if (found || d_really_is_positive(dentry) ||
			    !(flags & O_CREAT))
				return finish_no_open(file, found);
		}
		err = dir_mknod(&nop_mnt_idmap, dir, dentry, mode, 0);
		if (!err) {
			file->f_mode |= FMODE_CREATED;
			return finish_open(file, dentry, NULL);
		}
		if (err != -EEXIST || flags & O_EXCL)
			return err;
	}
	return -EBUSY;
}

static mios_mkdir_t dir_mkdir(struct mnt_idmap *idmap, struct inode *dir,
			      struct dentry *dentry, umode_t mode)
{
	return MIOS_MKDIR(dir_mknod(idmap, dir, dentry, mode | S_IFDIR, 0));
}

/*
 * Another instance may have put another file there since: that one has lost a
 * name.  What this instance has open is reaped when that ends.
 */
static void name_gone(struct inode *inode, u64 number)
{
	if (number_of(inode) != number)
		mios_file_reap(mount_of(inode), number);
	else if (S_ISDIR(inode->i_mode))
		mios_forget(inode);
	mios_inode_links(inode);
}

static int take_away(struct inode *dir, struct dentry *dentry, bool directory)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_place at = { .name = name_of(&dentry->d_name) };
	struct inode *inode = d_inode(dentry);
	int err = MIOS_JUDGED(m, mios_judge_name(dir, inode, &at),
			      mios_fs_remove(&m->fs, &at, directory,
					     ktime_get_real_ns()),
			      mios_inode_refresh(dir) ||
			      mios_inode_refresh(inode));

	if (!err)
		name_gone(inode, at.file.inode);
	return err;
}

static int dir_unlink(struct inode *dir, struct dentry *dentry)
{
	return take_away(dir, dentry, false);
}

static int dir_rmdir(struct inode *dir, struct dentry *dentry)
{
	return take_away(dir, dentry, true);
}

static int dir_link(struct dentry *old, struct inode *dir,
		    struct dentry *dentry)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_place at = { .name = name_of(&dentry->d_name) };
	struct inode *inode = d_inode(old);
	bool first = mios_inode_state(inode) & I_LINKABLE;
	int err;

	/* "protected_hardlinks": the VFS alone can ask that again, if it has to. */
	mios_judged(inode, mios_may_anything() ? MIOS_FS_BY_ID : MIOS_FS_BY_ALL,
		    &at.file);
	err = MIOS_JUDGED(m, mios_judge(dir, MIOS_MAY_NAME, &at.dir),
			  mios_fs_link(&m->fs, &at, first, ktime_get_real_ns()),
			  mios_inode_refresh(dir));
	/* Who has it open walks no path to it the second time. */
	if (err == -ESTALE)
		mios_inode_refresh(inode);
	if (err)
		return err;
	ihold(inode);
	d_instantiate(dentry, inode);
	mios_inode_links(inode);
	return 0;
}

/* What a rename is about. */
struct renaming {
	struct inode *dir, *inode;
	struct inode *to_dir, *old;
	bool keep, exchange;
	struct mios_fs_place from, to;
};

/* A directory that gets another one is written to: "..". */
static int renaming_judge(struct renaming *r)
{
	int err = mios_judge_name(r->dir, r->inode, &r->from);

	if (!err && r->dir != r->to_dir && S_ISDIR(r->inode->i_mode))
		err = mios_judge(r->inode, MAY_WRITE, &r->from.file);
	if (!err)
		err = mios_judge_name(r->to_dir, r->old, &r->to);
	if (!err && r->exchange && r->dir != r->to_dir &&
	    S_ISDIR(r->old->i_mode))
		err = mios_judge(r->old, MAY_WRITE, &r->to.file);
	if (r->keep)
		r->to.file.by |= MIOS_FS_BY_NONE;
	return err;
}

static int renaming_look(struct renaming *r)
{
	return mios_inode_refresh(r->dir) || mios_inode_refresh(r->inode) ||
	       mios_inode_refresh(r->to_dir) ||
	       (r->old && mios_inode_refresh(r->old));
}

static int renaming_do(struct mios_fs *fs, struct renaming *r)
{
	u64 now = ktime_get_real_ns();

	return r->exchange ? mios_fs_exchange(fs, &r->from, &r->to, now) :
	       mios_fs_rename(fs, &r->from, &r->to, S_ISDIR(r->inode->i_mode),
			      now);
}

static int dir_rename(struct mnt_idmap *idmap, struct inode *dir,
		      struct dentry *dentry, struct inode *to_dir,
		      struct dentry *to_dentry, unsigned int flags)
{
	struct mios_mount *m = mount_of(dir);
	struct renaming r = {
		.dir = dir, .inode = d_inode(dentry),
		.to_dir = to_dir, .old = d_inode(to_dentry),
		.keep = flags & RENAME_NOREPLACE,
		.exchange = flags & RENAME_EXCHANGE,
		.from = { .name = name_of(&dentry->d_name) },
		.to = { .name = name_of(&to_dentry->d_name) },
	};
	int err;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	err = MIOS_JUDGED(m, renaming_judge(&r), renaming_do(&m->fs, &r),
			  renaming_look(&r));
	/* What is there in its place has a name, too. */
	if (err || r.exchange || !r.to.file.inode)
		return err;
	if (r.old)
		name_gone(r.old, r.to.file.inode);
	else
		mios_file_reap(m, r.to.file.inode);
	return 0;
}

/* What comes into it after this is not shown, until it is read from the start. */
static void read_begin(struct file *file)
{
	const struct inode *dir = file_inode(file);
	const struct mios_mount *m = mount_of(dir);

	*(struct mios_fs_reading *)file->private_data =
		(struct mios_fs_reading){
			.before = mios_fs_sequence(&m->fs, number_of(dir)),
		};
}

static int dir_open(struct inode *dir, struct file *file)
{
	struct mios_fs_reading *r = kmalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return -ENOMEM;
	file->private_data = r;
	read_begin(file);
	return 0;
}

static int dir_release(struct inode *dir, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

/* ->f_pos_lock keeps those out who read. */
static loff_t dir_seek(struct file *file, loff_t offset, int whence)
{
	offset = generic_file_llseek_size(file, offset, whence, OFFSET_MAX, 0);
	if (!offset)
		read_begin(file);
	return offset;
}

static int dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_reading *r = file->private_data, next;
	struct mios_fs_dirent name;
	struct mios_fs_attr attr;
	int found;

	if (!dir_emit_dots(file, ctx))
		return 0;
	/* A place that somebody has gone back to, or out of order. */
	if (r->born != ctx->pos - DOTS) {
		r->born = ctx->pos - DOTS;
		r->place = 0;
		r->passed = 0;
	}
	for (next = *r;; *r = next) {
		ctx->pos = r->born + DOTS;
		found = MIOS_LOOK(m, mios_fs_readdir(&m->fs, number_of(dir),
						     &next, &name));
		if (found != 1)
			return found;
		if (!MIOS_LOOK(m, mios_fs_stat(&m->fs, name.inode, &attr)) &&
		    !dir_emit(ctx, name.name, name.length, attr.id,
			      fs_umode_to_dtype(attr.mode)))
			return 0;
		cond_resched();
	}
}

const struct inode_operations mios_dir_inode_ops = {
	.permission = mios_permission,
	.lookup = mios_dir_lookup,
	.create = dir_create,
	.atomic_open = dir_atomic_open,
	.link = dir_link,
	.unlink = dir_unlink,
	.symlink = mios_dir_symlink,
	.tmpfile = mios_dir_tmpfile,
	.mkdir = dir_mkdir,
	.mknod = dir_mknod,
	.rmdir = dir_rmdir,
	.rename = dir_rename,
	.setattr = mios_setattr,
	.getattr = mios_getattr,
	.listxattr = mios_listxattr,
};

const struct file_operations mios_dir_ops = {
	.open = dir_open,
	.release = dir_release,
	.llseek = dir_seek,
	.read = generic_read_dir,
	.iterate_shared = dir_iterate,
	.fsync = noop_fsync,
	.lock = mios_file_lock,
	.flock = mios_file_flock,
	.setlease = mios_nosetlease,
};
