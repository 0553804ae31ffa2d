// SPDX-License-Identifier: GPL-2.0
/*
 * Directories for the VFS.  A dentry, also one that says that there is no such
 * name, is believed as long as nothing has been changed in the whole image since
 * it was looked up; then the image is asked whether the name is still the same
 * file's.  ->d_time is the sequence of the image up to which that is so.  So
 * what a call has changed, on whatever instance, is seen after it has returned.
 */
#include <linux/fs.h>
#include <linux/namei.h>

#include "../../inject/inject.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(stale, "believe names, whatever others have changed");

#define OPEN_TRIES	100	/* each a name made and one removed elsewhere */

static struct mios_fs_name name_of(const struct qstr *name)
{
	return (struct mios_fs_name){ name->name, name->len };
}

static int lookup(struct inode *dir, const struct qstr *qstr, u64 *number)
{
	struct mios_fs_name name = name_of(qstr);

	return MIOS_LOOK(mios_fs_lookup(&mount_of(dir)->fs, number_of(dir),
					&name, number));
}

static u64 sequence_of(const struct dentry *dentry)
{
	const struct mios_mount *m = dentry->d_sb->s_fs_info;

	return mios_fs_sequence(&m->fs);
}

static struct dentry *dir_lookup(struct inode *dir, struct dentry *dentry,
				 unsigned int flags)
{
	u64 sequence = sequence_of(dentry);
	struct inode *inode = NULL;
	u64 number;
	int err = lookup(dir, &dentry->d_name, &number);

	if (err && err != -ENOENT)
		return ERR_PTR(err);
	if (!err)
		inode = mios_inode_get(dir->i_sb, number);
	/* Names that it has no more, perhaps; it is kept with one alone. */
	if (!IS_ERR_OR_NULL(inode) && !S_ISDIR(inode->i_mode))
		d_prune_aliases(inode);
	dentry->d_time = sequence;
	return d_splice_alias(inode, dentry);
}

/* Has nothing been changed since a dentry was looked at last? */
static bool is_fresh(const struct dentry *dentry, const struct inode *inode)
{
	if (READ_ONCE(dentry->d_time) != sequence_of(dentry) &&
	    !inject_stale)
		return false;
	return !inode || mios_inode_is_fresh(inode);
}

static int look_again(struct dentry *dentry, struct inode *inode)
{
	u64 number, sequence = sequence_of(dentry);
	struct dentry *parent = dget_parent(dentry);
	int err = lookup(d_inode(parent), &dentry->d_name, &number);

	dput(parent);
	if (err && err != -ENOENT)
		return err;
	if (err ? !!inode : !inode || number_of(inode) != number)
		return 0;
	if (inode && (mios_inode_wake(inode) || mios_inode_look(inode)))
		return 0;
	WRITE_ONCE(dentry->d_time, sequence);
	return 1;
}

static int revalidate(struct dentry *dentry, unsigned int flags)
{
	struct inode *inode = d_inode_rcu(dentry);
	bool fresh = is_fresh(dentry, inode);

	if (fresh && (!inode || !mios_inode_is_asleep(inode)))
		return 1;
	/* Who wakes it has to use the dentry: else it would not sleep again. */
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	return fresh ? !mios_inode_wake(inode) : look_again(dentry, inode);
}

static bool is_named(const struct inode *inode)
{
	return mios_fs_is_named(&mount_of(inode)->fs, number_of(inode),
				inode->i_ino);
}

/*
 * Nobody uses it any more; is it not to be kept?  It keeps its directory, and so
 * not in one that has gone.  Who walks a path without references and has found
 * it awake must not get hold of it: for him it is another one by now.
 */
static int forget(const struct dentry *dentry)
{
	struct inode *inode = d_inode(dentry);

	if (!is_named(d_inode(dentry->d_parent)))
		return 1;
	if (!inode)
		return 0;
	if (!mios_inode_sleep(inode))
		return 1;
	write_seqcount_invalidate(&((struct dentry *)dentry)->d_seq);
	return 0;
}

const struct dentry_operations mios_dentry_ops = {
	.d_revalidate = revalidate,
	.d_delete = forget,
};

static int dir_mknod(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_name name = name_of(&dentry->d_name);
	struct mios_fs_attr attr;
	struct inode *inode;
	u64 number;
	int err;

	mios_attr_new(dir, mode, &attr);
	attr.rdev = huge_encode_dev(dev);
	err = MIOS_PATIENTLY(m, mios_fs_make(&m->fs, number_of(dir), &name,
					     &attr, &number));
	if (err)
		return err;
	inode = mios_inode_made(dir->i_sb, number, &attr);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_instantiate(dentry, inode);
	/* Not before: "there is no such name" is not so at that sequence. */
	WRITE_ONCE(dentry->d_time, attr.sequence);
	return 0;
}

static int dir_create(struct mnt_idmap *idmap, struct inode *dir,
		      struct dentry *dentry, umode_t mode, bool excl)
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
			found = dir_lookup(dir, dentry, 0);
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

static int dir_mkdir(struct mnt_idmap *idmap, struct inode *dir,
		     struct dentry *dentry, umode_t mode)
{
	return dir_mknod(idmap, dir, dentry, mode | S_IFDIR, 0);
}

static int take_away(struct inode *dir, struct dentry *dentry, bool directory)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_name name = name_of(&dentry->d_name);
	u64 number;
	int err = MIOS_PATIENTLY(m, mios_fs_remove(&m->fs, number_of(dir),
						   &name, directory,
						   ktime_get_real_ns(),
						   &number));

	if (err)
		return err;
	/* This instance has it open: it is reaped when that ends. */
	if (directory)
		mios_forget(d_inode(dentry));
	mios_inode_links(d_inode(dentry));
	return 0;
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
	struct mios_fs_name name = name_of(&dentry->d_name);
	struct inode *inode = d_inode(old);
	int err = MIOS_PATIENTLY(m, mios_fs_link(&m->fs, number_of(inode),
						 number_of(dir), &name,
						 inode->i_state & I_LINKABLE,
						 ktime_get_real_ns()));

	if (err)
		return err;
	ihold(inode);
	d_instantiate(dentry, inode);
	mios_inode_links(inode);
	return 0;
}

static int dir_rename(struct mnt_idmap *idmap, struct inode *dir,
		      struct dentry *dentry, struct inode *to_dir,
		      struct dentry *to_dentry, unsigned int flags)
{
	struct mios_mount *m = mount_of(dir);
	struct mios_fs_name name = name_of(&dentry->d_name);
	struct mios_fs_name to = name_of(&to_dentry->d_name);
	u64 replaced;
	int err;

	/* The VFS has looked for RENAME_NOREPLACE, other kernels may not. */
	if (flags)
		return -EINVAL;
	err = MIOS_PATIENTLY(m, mios_fs_rename(&m->fs, number_of(dir), &name,
					       number_of(to_dir), &to,
					       ktime_get_real_ns(),
					       &replaced));
	if (err || d_really_is_negative(to_dentry))
		return err;
	if (d_is_dir(to_dentry))
		mios_forget(d_inode(to_dentry));
	mios_inode_links(d_inode(to_dentry));
	return 0;
}

/* What comes into it after this is not shown, until it is read from the start. */
static void read_begin(struct file *file)
{
	const struct mios_mount *m = mount_of(file_inode(file));

	file->private_data = (void *)(unsigned long)mios_fs_sequence(&m->fs);
}

static int dir_open(struct inode *dir, struct file *file)
{
	read_begin(file);
	return 0;
}

/* ->f_pos_lock keeps those out who read. */
static loff_t dir_seek(struct file *file, loff_t offset, int whence)
{
	offset = generic_file_llseek(file, offset, whence);
	if (!offset)
		read_begin(file);
	return offset;
}

static int dir_iterate(struct file *file, struct dir_context *ctx)
{
	struct inode *dir = file_inode(file);
	struct mios_mount *m = mount_of(dir);
	u64 before = (unsigned long)file->private_data;
	struct mios_fs_entry entry;
	struct mios_fs_attr attr;
	u64 cookie;
	int found;

	if (!dir_emit_dots(file, ctx))
		return 0;
	for (;;) {
		cookie = ctx->pos - 2;
		found = MIOS_LOOK(mios_fs_readdir(&m->fs, number_of(dir),
						  before, &cookie,
						  &entry));
		if (found != 1)
			return found;
		if (!MIOS_LOOK(mios_fs_stat(&m->fs, entry.inode, &attr)) &&
		    !dir_emit(ctx, (char *)entry.name, entry.parent >> 32,
			      attr.id, fs_umode_to_dtype(attr.mode)))
			return 0;
		ctx->pos = cookie + 2;
	}
}

const struct inode_operations mios_dir_inode_ops = {
	.permission = mios_permission,
	.lookup = dir_lookup,
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
};

const struct file_operations mios_dir_ops = {
	.open = dir_open,
	.llseek = dir_seek,
	.read = generic_read_dir,
	.iterate_shared = dir_iterate,
	.fsync = noop_fsync,
};
