// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of names.  A dentry, also one that says that there is no such name,
 * is believed as long as nothing has been changed in the whole image since it was
 * looked up; then the image is asked whether the name is still the same file's.
 * ->d_time is the sequence of the image up to which that is so.  So what a call has
 * changed, on whatever instance, is seen after it has returned.
 */
#include <linux/fs.h>
#include <linux/namei.h>

#include "../../inject/inject.h"
#include "vfs.h"

MIOS_INJECT_SWITCH(stale, "believe names, whatever others have changed");

static int lookup(struct inode *dir, const struct qstr *qstr, u64 *number)
{
	struct mios_fs_name name = name_of(qstr);
	struct mios_mount *m = mount_of(dir);

	return MIOS_LOOK(m, mios_fs_lookup(&m->fs, number_of(dir), &name,
					   number));
}

static u64 sequence_of(const struct dentry *dentry)
{
	const struct mios_mount *m = dentry->d_sb->s_fs_info;

	return mios_fs_sequence(&m->fs);
}

struct dentry *mios_dir_lookup(struct inode *dir, struct dentry *dentry,
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
